//! Answers as a model reads them: what a job wrote, and a line of ours after it.

use std::fmt::Write as _;

use umbo_engine::{End, JobId, Outcome, Status};
use umbo_ops::project::{RunnerAnswer, TaskAnswer};
use umbo_ops::{
    InputAnswer, JobAnswer, JobsAnswer, OutputAnswer, RecipesAnswer, RunAnswer, WaitAnswer,
    WaitReason,
};

/// The last characters of an id, which name the job wherever an id does: a model pays for each.
fn short(job: &str) -> &str {
    job.parse::<JobId>().map_or(job, |_| &job[job.len() - 6..])
}

/// Where a job stands, after its output.
pub(super) fn job(answer: &JobAnswer) -> String {
    closed(answer.output.clone().unwrap_or_default(), &job_line(answer, None))
}

/// The same of a task that was run, which its command tells.
pub(super) fn task_run(answer: &RunAnswer) -> String {
    let (runner, task, command) = (&answer.runner, &answer.task, &answer.command);
    let ran = if command.contains(task.as_str()) && command.starts_with(runner.as_str()) {
        command.clone()
    } else {
        format!("{runner}:{task}, {command}")
    };
    let line = format!("{ran}; {}", job_line(&answer.job, answer.ready.map(WaitReason::as_str)));
    closed(answer.job.output.clone().unwrap_or_default(), &line)
}

/// The same after a wait: which condition was met comes first.
pub(super) fn wait(answer: &WaitAnswer) -> String {
    let met = match (answer.met, answer.offset, &answer.text) {
        // That it ended is said anyway.
        (WaitReason::Exit, ..) => None,
        (WaitReason::Match, Some(offset), Some(text)) => {
            Some(format!("match at {offset}, {}", first_line(text)))
        }
        (met, ..) => Some(met.as_str().to_owned()),
    };
    let line = job_line(&answer.job, met.as_deref());
    closed(answer.job.output.clone().unwrap_or_default(), &line)
}

fn job_line(answer: &JobAnswer, met: Option<&str>) -> String {
    let job = short(&answer.job);
    let met = met.map(|met| format!("{met}; ")).unwrap_or_default();
    if let Some(outcome) = &answer.outcome {
        return format!("{job}: {met}{}{}", ending(answer, outcome), left_out(answer));
    }
    if answer.state == Status::Created.name() {
        let (place, why) = in_line(answer.queue_position, answer.reason.as_deref());
        return format!("{job}: {met}queued{place}{why}; wait for it or stop it");
    }
    let mut notes = String::new();
    for note in &answer.notes {
        let _ = write!(notes, " ({note})");
    }
    let next = answer.next_offset.map(|next| format!(" (from {next})")).unwrap_or_default();
    format!("{job}: {met}still running{notes}; wait, output{next}, input or stop it")
}

/// How much is not in the output, where there was no room to say that.
fn left_out(answer: &JobAnswer) -> String {
    let omitted = answer.omitted_bytes.unwrap_or(0);
    if omitted == 0 {
        return String::new();
    }
    let omitted = omitted.to_string();
    let is_said = answer.output.as_ref().is_none_or(|o| o.contains(&omitted));
    if is_said { String::new() } else { format!(", {omitted} bytes not shown") }
}

/// Where in line a job is, and what it waits for.
fn in_line(place: Option<usize>, why: Option<&str>) -> (String, String) {
    let place = place.map(|place| format!(", place {place}")).unwrap_or_default();
    (place, why.map(|why| format!(": {why}")).unwrap_or_default())
}

/// A state in the word that a reader expects.
fn state(state: &'static str) -> &'static str {
    if state == "started" { "running" } else { state }
}

/// A state, and the exit code if there is one.
fn state_and_code(name: &'static str, code: Option<i32>) -> String {
    let code = code.map(|code| format!(", code {code}")).unwrap_or_default();
    format!("{}{code}", state(name))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// What was read, and how to read on.
pub(super) fn output(answer: &OutputAnswer) -> String {
    let state = state_and_code(answer.state, answer.exit_code);
    let mut line = format!("{}: {state}", short(&answer.job));
    if let Some(matches) = answer.matches {
        let _ = write!(line, "; {matches} matches");
    }
    let may_grow = matches!(answer.state, "started" | "queued");
    match answer.next_offset {
        Some(next) if !answer.at_end => {
            let _ = write!(line, "; there is more from {next}");
        }
        Some(next) if may_grow => {
            let _ = write!(line, "; more will come from {next}");
        }
        _ => {}
    }
    if answer.has_cut_lines() {
        line.push_str("; more of a long line with max_output_tokens, all of it in the file ");
        line.push_str(&answer.full_output_path);
    }
    closed(answer.output.clone(), &line)
}

/// What a job said to what was typed.
pub(super) fn input(answer: &InputAnswer) -> String {
    let (job, state) = (short(&answer.job), state_and_code(answer.state, answer.exit_code));
    let eof = if answer.eof { " and its end" } else { "" };
    let mut line = format!("{job}: {} bytes sent{eof}, {state}", answer.bytes);
    if let Some(next) = answer.next_offset.filter(|_| answer.exit_code.is_none()) {
        let _ = write!(line, "; more will come from {next}");
    }
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
        let signal = job.signal.map(|signal| format!(", signal {signal}")).unwrap_or_default();
        let name = job.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let (place, why) = in_line(job.queue_position, job.reason.as_deref());
        let state = format!("{}{code}{signal}{place}{why}", state(job.state));
        lines.push(format!("{}{name} {state}: {}", short(&job.job), first_line(&job.command)));
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

/// How a job ended.
fn ending(answer: &JobAnswer, outcome: &Outcome) -> String {
    let mut line = outcome.end.name().to_owned();
    for (what, how) in
        [(" by", answer.stopped_by), (" at", answer.stage), (", beyond the limit", answer.limit)]
    {
        if let Some(how) = how {
            let _ = write!(line, "{what} {how}");
        }
    }
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
    match &outcome.end {
        End::FailedToStart { why } => {
            let _ = write!(line, ", {why}");
        }
        End::Lost { .. } => {
            let _ = write!(line, ", {}", JobAnswer::ended(outcome).reason.unwrap_or_default());
        }
        _ => {}
    }
    if outcome.effects_unknown() {
        line.push_str(", killed by force: what it was doing may be half done");
    }
    for leaked in &answer.leaked {
        let _ = write!(line, ", outlived by {} {} ({})", leaked.pid, leaked.command, leaked.fate);
    }
    let more = answer.leaked_count.unwrap_or(0).saturating_sub(answer.leaked.len());
    if more > 0 {
        let _ = write!(line, " and {more} more");
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
