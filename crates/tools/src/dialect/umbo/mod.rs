//! The dialect `umbo`: our own contract. Field names are those of the command line's `--json`.

mod exec;
mod input;
mod jobs;
mod output;
mod recipe;
mod stop;
mod wait;

use std::fmt::Write as _;

use serde_json::{Value, json};
use umbo_engine::{Job, Met, Outcome, Status};
use umbo_view::{Budget, View};

use super::{Dialect, Registered};
use crate::answer::{Answer, ToolError, compact};
use crate::call::{Call, text};
use crate::completed::Completed;
use crate::definition::Definition;
use crate::tool::Tool;
use umbo_ops::report::Ended;

pub(super) const REGISTERED: Registered =
    Registered { name: "umbo", settings: &[], open: |_| Box::new(Umbo) };

/// The dialect.
#[derive(Debug)]
struct Umbo;

impl Dialect for Umbo {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn instructions(&self) -> &str {
        include_str!("instructions.md")
    }

    fn tools(&self) -> Vec<Tool> {
        TOOLS.iter().map(Definition::load).collect()
    }

    fn attach(&self, structured: &mut Value, completed: &[Completed]) {
        structured["completed"] = completed.iter().map(|told| told.event.clone()).collect();
    }
}

const TOOLS: [Definition; 7] = [
    Definition {
        name: "exec",
        words: include_str!("exec.md"),
        contract: include_str!("exec.json"),
        run: exec::run,
    },
    Definition {
        name: "output",
        words: include_str!("output.md"),
        contract: include_str!("output.json"),
        run: output::run,
    },
    Definition {
        name: "input",
        words: include_str!("input.md"),
        contract: include_str!("input.json"),
        run: input::run,
    },
    Definition {
        name: "wait",
        words: include_str!("wait.md"),
        contract: include_str!("wait.json"),
        run: wait::run,
    },
    Definition {
        name: "stop",
        words: include_str!("stop.md"),
        contract: include_str!("stop.json"),
        run: stop::run,
    },
    Definition {
        name: "jobs",
        words: include_str!("jobs.md"),
        contract: include_str!("jobs.json"),
        run: jobs::run,
    },
    Definition {
        name: "recipe",
        words: include_str!("recipe.md"),
        contract: include_str!("recipe.json"),
        run: recipe::run,
    },
];

/// The word for what a wait came to.
fn reason(met: &Met) -> &'static str {
    match met {
        Met::Exit => "exit",
        Met::Match { .. } => "match",
        Met::Port(_) => "port",
        Met::File(_) => "file",
        Met::Quiet => "quiet",
        Met::Deadline => "timeout",
        Met::Ended => "ended",
    }
}

/// How a job ended, with its output.
fn ended(call: &Call<'_>, job: &Job, outcome: &Outcome, view: &View) -> Answer {
    call.told(job);
    let mut told = Ended::new(outcome);
    told.lost_bytes = view.counts.lost_bytes;
    told.omitted_bytes = view.counts.omitted_bytes + view.counts.lost_bytes;
    let mut value = serde_json::to_value(told).unwrap_or_default();
    // What a model seldom needs and always pays for; `umbo jobs --json` has it.
    for name in ["usage", "started_at", "ended_at", "drained"] {
        if let Value::Object(map) = &mut value {
            map.remove(name);
        }
    }
    if value["lost_bytes"] == 0 && value["omitted_bytes"] == 0 {
        value["lost_bytes"] = Value::Null;
        value["omitted_bytes"] = Value::Null;
    }
    let output = with_output(&mut value, job, view);
    Answer::new(compact(value), closed(output, &ending(outcome)))
}

/// A job that runs on, with its output so far.
fn running(job: &Job, status: &Status, view: &View) -> Answer {
    let mut value = json!({"job": job.id().as_str(), "state": status.name()});
    if let Status::Started { pid, .. } = status {
        value["pid"] = json!(pid);
    }
    let end = view.parts.last().map(|part| part.offset().end);
    let end = end.or_else(|| job.log().ok()?.length().ok()).unwrap_or(0);
    value["total_bytes"] = json!(end);
    value["next_offset"] = json!(end);
    let output = with_output(&mut value, job, view);
    let line = format!("{}: still running; wait, output, input or stop it", job.id());
    Answer::new(compact(value), closed(output, &line))
}

fn with_output(value: &mut Value, job: &Job, view: &View) -> String {
    let output = text(view);
    value["output"] = json!(output);
    value["truncated"] = json!(view.truncated);
    if view.truncated {
        value["artifact"] = json!(format!("artifact://{}", job.id()));
        value["full_output_path"] = json!(job.output_path().display().to_string());
        value["original_token_count"] = json!(view.original_tokens);
    }
    output
}

/// Where a job stands, without its output.
fn standing(call: &Call<'_>, job: &Job) -> Result<Answer, ToolError> {
    let budget = Budget { tokens: 0, bytes: 0, lines: 0, line_bytes: 0 };
    let view = call.view(job, u64::MAX, None, budget)?;
    Ok(match job.status()? {
        Status::Ended(outcome) => ended(call, job, &outcome, &view),
        status => running(job, &status, &view),
    })
}

/// One line on how a job ended.
fn ending(outcome: &Outcome) -> String {
    let mut line = format!("{}: {}", outcome.job, outcome.end.name());
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
    if let umbo_engine::End::FailedToStart { why } = &outcome.end {
        let _ = write!(line, ", {why}");
    }
    if outcome.effects_unknown() {
        line.push_str(", killed by force: what it was doing may be half done");
    }
    for leaked in &outcome.leaked {
        let _ = write!(line, ", outlived by {} {}", leaked.pid, leaked.command);
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
