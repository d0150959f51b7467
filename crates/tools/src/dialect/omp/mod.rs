//! The dialect `omp`: `bash` with jobs that it moves to the background by itself, `job`, and `recipe`.

mod bash;
mod cd;
mod job;
pub(super) mod recipe;
mod urls;

use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{End, Job, Outcome, Status, Summary};
use umbo_view::{Budget, Reader, Shape, View, ViewOptions};

use super::{Dialect, no_guidance};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::call::{Call, now, text};
use crate::schema::Problem;
use crate::settings::OmpSettings;
use crate::tool::{Definition, Tool};
use umbo_ops::JobLog;
use umbo_ops::outlasted;

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
    refusal,
    fields: &[],
    shape: |error: &ToolError| thrown(&error.message),
    guidance: no_guidance,
    tailor,
    is_enabled: |_| true,
    event,
    sentence,
};

/// The mark of this dialect's jobs.
const MARK: &str = "bg_";
/// The label of a job that has its timeout, in seconds.
const TIMEOUT: &str = "timeout";
/// How much text a result has at most. Lines and tokens are not counted in this contract.
const BYTES: u64 = 50 * 1024;
/// How much of it a job that ended unseen is told with; `job` has the rest.
const TOLD: usize = 2000;
/// Jobs that ended are known for so many seconds.
const RETENTION: u64 = 300;

/// Leaves out what the settings turn off, and says of the rest how it is set.
fn tailor(tools: &mut Vec<Tool>, settings: &OmpSettings) {
    let has_jobs = settings.async_enabled || settings.auto_background;
    tools.retain(|tool| match tool.name {
        "job" => has_jobs,
        recipe::NAME => settings.recipe,
        _ => true,
    });
    let spoken = |words: &str, span: Duration| {
        words.trim().replace("{seconds}", &span.as_secs_f64().to_string())
    };
    for tool in tools {
        match tool.name {
            "job" => tool.description = spoken(&tool.description, settings.poll_wait),
            "bash" => {
                let window = settings.auto_background_threshold;
                for (is_on, words) in [
                    (settings.async_enabled, include_str!("bash_async.md")),
                    (settings.auto_background, include_str!("bash_auto_background.md")),
                    (has_jobs, include_str!("bash_job.md")),
                ] {
                    if is_on {
                        tool.description.push(' ');
                        tool.description.push_str(&spoken(words, window));
                    }
                }
                let fields = tool.input_schema["properties"].as_object_mut();
                if let Some(fields) = fields.filter(|_| !settings.async_enabled) {
                    fields.remove("async");
                }
            }
            _ => {}
        }
    }
}

fn refusal(tool: &Tool, _arguments: &Value, problem: &Problem) -> ToolError {
    if tool.name == "bash"
        && problem.field == "async"
        && tool.input_schema["properties"]["async"].is_null()
    {
        return error("Async bash execution is disabled. Set async.enabled to use it.");
    }
    error(problem.to_string())
}

/// One block of text, and details.
fn result(text: &str, details: &Value) -> Value {
    json!({"content": [{"type": "text", "text": text}], "details": details})
}

fn answer(text: String, details: &Value) -> Answer {
    Answer::new(result(&text, details), text)
}

/// An error, which is thrown there and has no details.
fn error(text: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::ToolError, text)
}

fn thrown(text: &str) -> Value {
    let mut shape = result(text, &json!({}));
    shape["isError"] = json!(true);
    shape
}

/// The jobs there are, oldest first: what goes on without its call, or did not long ago.
fn jobs(call: &Call<'_>) -> Result<Vec<Summary>, ToolError> {
    Ok(call.own(RETENTION, usize::MAX, outlasted)?)
}

/// The end of what a job wrote, or of the first lines of it, in so many bytes at most.
fn view(call: &Call<'_>, job: &Job, head: Option<u64>, bytes: u64) -> Result<View, ToolError> {
    let bytes = bytes.min(call.budget(None).bytes);
    let budget = Budget { bytes, tokens: u64::MAX, lines: u64::MAX, ..call.budget(None) };
    let mut reader = Reader::new(JobLog::open(job)?).mask(&call.tools.masker);
    if let Some(lines) = head {
        let next = lines.saturating_add(1);
        let end = reader.lines(next..=next, &budget)?.offset.start;
        reader = reader.offsets(0..end);
    }
    let (shape, minimize) = (Shape::Tail, call.tools.minimize);
    Ok(reader.view(&ViewOptions { budget, shape, minimize, ..ViewOptions::default() })?)
}

/// What a command that ended has to say: its text, or the text it fails with.
fn ending(call: &Call<'_>, job: &Job, outcome: &Outcome, output: &str) -> Result<String, String> {
    let output = output.trim_end();
    let output = if output.is_empty() { "(no output)" } else { output };
    let failure = match &outcome.end {
        End::Exited { code: 0 } => return Ok(output.to_owned()),
        End::Exited { code } => format!("Command exited with code {code}"),
        End::Signaled { signal, .. } => format!("Command exited with code {}", 128 + signal),
        End::TimedOut { after_ms, .. } => {
            let summary = job.summary();
            let given = summary.as_ref().and_then(|summary| summary.labels.get(TIMEOUT));
            let seconds = given.cloned().unwrap_or_else(|| (after_ms / 1000).to_string());
            format!("Command timed out after {seconds} seconds")
        }
        End::Stopped { .. } if call.ticket.is_cancelled() => "Command aborted".to_owned(),
        End::Stopped { .. } => "Command cancelled".to_owned(),
        End::FailedToStart { why } => format!("Command failed: {why}"),
        End::Lost { .. } => "Command failed: missing exit status".to_owned(),
    };
    Err(format!("{output}\n\n{failure}"))
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

/// A job at one moment, with so many bytes of its text at most.
fn snapshot(call: &Call<'_>, job: &Job, summary: &Summary, bytes: u64) -> Result<Value, ToolError> {
    let started = summary.started_at().unwrap_or(summary.created_at);
    let end = match &summary.status {
        Status::Ended(outcome) => outcome.ended_at,
        Status::Created | Status::Started { .. } => now(),
    };
    let mut value = json!({
        "id": summary.name,
        "type": "bash",
        "status": status(&summary.status),
        "label": label(&summary.command),
        "durationMs": end.saturating_sub(started) / 1000,
    });
    if let Status::Ended(outcome) = &summary.status {
        match ending(call, job, outcome, &text(&view(call, job, None, bytes)?)) {
            Ok(text) => value["resultText"] = json!(text),
            Err(text) => value["errorText"] = json!(text),
        }
    }
    Ok(value)
}

/// What is told when a job has ended that nobody polled: the update that its call would have had.
fn event(call: &Call<'_>, summary: &Summary) -> Option<Value> {
    let job = call.tools.engine.job(summary.job.as_str()).ok()?;
    let snapshot = snapshot(call, &job, summary, BYTES).ok()?;
    let said = snapshot["resultText"].as_str().or(snapshot["errorText"].as_str());
    let state = if snapshot["status"] == "completed" { "completed" } else { "failed" };
    let details = json!({"async": {"state": state, "jobId": summary.name, "type": "bash"}});
    Some(result(said.unwrap_or_default(), &details))
}

/// The same in words: how it ended, and the end of what it said.
fn sentence(summary: &Summary, event: &Value) -> String {
    let id = summary.name.as_deref().unwrap_or_default();
    let (status, label) = (status(&summary.status), label(&summary.command));
    let said = event["content"][0]["text"].as_str().unwrap_or_default();
    let start = said.ceil_char_boundary(said.len().saturating_sub(TOLD));
    let rest = match said[start..].split_once('\n') {
        Some((_, rest)) if start > 0 => format!("…\n{rest}"),
        _ => said[start..].to_owned(),
    };
    format!("background job {id} {status}: {label}\n{rest}")
}

/// What a job is called in lists: its command, on one line.
fn label(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(120);
    if cut < command.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}
