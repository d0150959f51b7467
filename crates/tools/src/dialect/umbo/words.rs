//! Answers as a model reads them: what a job wrote, and a line of ours after it.

use std::fmt::Write as _;

use umbo_engine::{End, JobId, Outcome, Status};
use umbo_ops::project::{RunnerAnswer, TaskAnswer};
use umbo_ops::{InputAnswer, JobAnswer, JobsAnswer, OutputAnswer, RecipesAnswer};

/// The last characters of an id, which name the job wherever an id does: a model pays for each.
fn short(job: &str) -> &str {
    job.parse::<JobId>().map_or(job, |_| &job[job.len() - 6..])
}

/// Where a job stands, after its output.
pub(super) fn job(answer: &JobAnswer) -> String {
    let line = match &answer.outcome {
        Some(outcome) => ending(outcome),
        None if answer.state == Status::Created.name() => {
            let place = answer.queue_position.map(|place| format!(", place {place}"));
            let why = answer.reason.as_deref().map(|why| format!(": {why}"));
            let (place, why) = (place.unwrap_or_default(), why.unwrap_or_default());
            format!("{}: queued{place}{why}; wait for it or stop it", short(&answer.job))
        }
        None => {
            let mut notes = String::new();
            for note in &answer.notes {
                let _ = write!(notes, " ({note})");
            }
            format!("{}: still running{notes}; wait, output, input or stop it", short(&answer.job))
        }
    };
    closed(answer.output.clone().unwrap_or_default(), &line)
}

/// What was read, and how to read on.
pub(super) fn output(answer: &OutputAnswer) -> String {
    let mut line = match answer.next_offset {
        Some(next) if !answer.at_end => {
            format!("{}: {}; there is more from {next}", short(&answer.job), answer.state)
        }
        _ => format!("{}: {}", short(&answer.job), answer.state),
    };
    if answer.has_cut_lines() {
        line.push_str("; more of a long line with max_output_tokens, all of it in the file");
    }
    closed(answer.output.clone(), &line)
}

/// What a job said to what was typed.
pub(super) fn input(answer: &InputAnswer) -> String {
    let job = short(&answer.job);
    let line = format!("{job}: {} bytes sent, {}", answer.bytes, answer.state);
    closed(answer.output.clone().unwrap_or_default(), &line)
}

/// One line for each job.
pub(super) fn jobs(answer: &JobsAnswer) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(omitted) = answer.omitted {
        lines.push(format!("{omitted} older ones are not listed"));
    }
    for job in &answer.jobs {
        let code = job.exit_code.map(|code| format!(" {code}")).unwrap_or_default();
        let name = job.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let command = job.command.lines().next().unwrap_or_default();
        lines.push(format!("{}{name} {}{code}: {command}", short(&job.job), job.state));
    }
    if lines.is_empty() {
        lines.push("no jobs".to_owned());
    }
    lines.join("\n")
}

/// One line for each task, and what stands in the way of their runners.
pub(super) fn tasks(answer: &RecipesAnswer, is_filtered: bool) -> String {
    let mut text: String = answer.tasks.iter().map(task).collect();
    if text.is_empty() {
        text.push_str(if is_filtered {
            "no task has that in its name or doc"
        } else {
            "no tasks: no package.json, Cargo.toml, Makefile, justfile, …"
        });
    }
    if let Some(omitted) = answer.omitted {
        let _ = write!(text, "{omitted} more are not listed; give a `filter`");
    }
    for trouble in answer.runners.iter().flat_map(RunnerAnswer::troubles) {
        let _ = write!(text, "\n[umbo: {trouble}]");
    }
    text
}

fn task(task: &TaskAnswer) -> String {
    let mut line = format!("{}:{}", task.runner, task.name);
    for parameter in &task.parameters {
        let _ = write!(line, " {parameter}");
    }
    let _ = write!(line, " [{}", task.risk);
    if task.long_lived == Some(true) {
        line.push_str(", long-lived");
    }
    if let (Some(state), Some(millis)) = (task.last_state, task.last_duration_ms) {
        let code = task.last_exit_code.map(|code| format!(" {code}")).unwrap_or_default();
        let _ = write!(line, ", last {state}{code} after {millis} ms");
    }
    let _ = writeln!(line, "] {}", task.doc.as_ref().unwrap_or(&task.command));
    line
}

/// One line on how a job ended.
fn ending(outcome: &Outcome) -> String {
    let mut line = format!("{}: {}", outcome.job.short(), outcome.end.name());
    match (outcome.exit_code(), outcome.signal()) {
        (Some(code), _) => {
            let _ = write!(line, ", code {code}");
        }
        (None, Some(signal)) => {
            let _ = write!(line, ", signal {signal}");
        }
        (None, None) => {}
    }
    let _ = write!(line, ", {} ms", outcome.duration().as_millis());
    if let End::FailedToStart { why } = &outcome.end {
        let _ = write!(line, ", {why}");
    }
    if outcome.effects_unknown() {
        line.push_str(", killed by force: what it was doing may be half done");
    }
    for leaked in &outcome.leaked {
        let _ = write!(line, ", outlived by {} {}", leaked.pid, leaked.command);
    }
    if let Some(denied) = umbo_ops::denials(outcome) {
        let _ = write!(line, ", {denied}");
    }
    for note in &outcome.notes {
        let _ = write!(line, ", {note}");
    }
    line
}

/// Output, and a line of ours after it.
fn closed(mut output: String, line: &str) -> String {
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    let _ = write!(output, "[umbo: {line}]");
    output
}
