//! The dialect `omp`: `bash` with jobs that it moves to the background by itself, `job`, and `recipe`.

mod bash;
mod cd;
mod job;
pub(super) mod recipe;

use serde_json::{Value, json};
use umbo_engine::{End, Job, Outcome, Status, Summary};

use super::{Dialect, no_guidance};
use crate::answer::{Answer, ToolError};
use crate::call::Call;
use crate::schema::Problem;
use crate::tool::{Definition, Tool};

pub(super) const DIALECT: Dialect = Dialect {
    name: "omp",
    instructions: "",
    tools: &[
        Definition {
            name: "bash",
            words: include_str!("bash.md"),
            contract: include_str!("bash.json"),
            run: bash::run,
        },
        Definition {
            name: "job",
            words: include_str!("job.md"),
            contract: include_str!("job.json"),
            run: job::run,
        },
        Definition {
            name: "recipe",
            words: include_str!("recipe.md"),
            contract: include_str!("recipe.json"),
            run: recipe::run,
        },
    ],
    prefers_bash: true,
    tells_in_structure: false,
    refusal: |_tool: &Tool, _arguments: &Value, problem: &Problem| error(problem.to_string()),
    guidance: no_guidance,
    is_enabled: |_| true,
    event: crate::news::event,
};

/// The mark of this dialect's jobs.
const MARK: &str = "bg_";

/// One block of text, and details.
fn result(text: &str, details: &Value) -> Value {
    json!({"content": [{"type": "text", "text": text}], "details": details})
}

fn answer(text: String, details: &Value) -> Answer {
    Answer::new(result(&text, details), text)
}

/// An error, which is thrown there and has no details.
fn error(text: impl Into<String>) -> ToolError {
    let text = text.into();
    let mut shape = result(&text, &json!({}));
    shape["isError"] = json!(true);
    ToolError::new("tool_error", text).shaped(shape)
}

fn is_job(summary: &Summary) -> bool {
    summary.name.as_deref().is_some_and(|name| name.starts_with(MARK))
}

/// What a command that ended has to say: its text, or the text it fails with.
fn ending(
    call: &Call<'_>,
    job: &Job,
    outcome: &Outcome,
) -> Result<Result<String, String>, ToolError> {
    let mut output = call.text(job, None, call.budget(None))?;
    if output.is_empty() {
        output.push_str("(no output)");
    }
    let output = output.trim_end();
    let failure = match &outcome.end {
        End::Exited { code: 0 } => return Ok(Ok(output.to_owned())),
        End::Exited { code } => format!("Command exited with code {code}"),
        End::Signaled { signal, .. } => format!("Command exited with code {}", 128 + signal),
        End::TimedOut { after_ms, .. } => {
            format!("Command timed out after {} seconds", after_ms / 1000)
        }
        End::Stopped { .. } => "Command cancelled".to_owned(),
        End::FailedToStart { why } => format!("Command failed: {why}"),
        End::Lost { .. } => "Command failed: missing exit status".to_owned(),
    };
    Ok(Err(format!("{output}\n\n{failure}")))
}

/// The word for where a job is in its life.
fn status(status: &Status) -> &'static str {
    match status {
        Status::Created | Status::Started { .. } => "running",
        Status::Ended(outcome) => match &outcome.end {
            End::Stopped { .. } => "cancelled",
            _ if outcome.success() => "completed",
            _ => "failed",
        },
    }
}

/// What a job is called in lists: its command, on one line.
fn label(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(120);
    if cut < command.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}
