//! The dialect `meerkat`: a shell that is off until somebody turns it on, and jobs behind it.

mod blocked;
mod shell;
mod shell_job_cancel;
mod shell_job_status;
mod shell_jobs;

use serde_json::{Value, json};
use umbo_engine::{End, Job, LostReason, Status, Summary};
use umbo_view::{Budget, Stream};

use super::{Dialect, as_it_is, no_guidance};
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::call::{Call, text};
use crate::schema::Problem;
use crate::tool::{Definition, Tool};

pub(super) const DIALECT: Dialect = Dialect {
    name: "meerkat",
    instructions: "",
    tools: &[
        Definition {
            name: "shell",
            words: include_str!("shell.md"),
            contract: include_str!("shell.json"),
            run: shell::run,
        },
        Definition {
            name: "shell_job_status",
            words: include_str!("shell_job_status.md"),
            contract: include_str!("shell_job_status.json"),
            run: shell_job_status::run,
        },
        Definition {
            name: "shell_jobs",
            words: include_str!("shell_jobs.md"),
            contract: include_str!("shell_jobs.json"),
            run: shell_jobs::run,
        },
        Definition {
            name: "shell_job_cancel",
            words: include_str!("shell_job_cancel.md"),
            contract: include_str!("shell_job_cancel.json"),
            run: shell_job_cancel::run,
        },
    ],
    prefers_bash: false,
    tells_in_structure: false,
    refusal: |_tool: &Tool, _arguments: &Value, problem: &Problem| {
        ToolError::new(ErrorCode::InvalidArguments, problem.to_string())
    },
    fields: &[],
    shape,
    guidance: no_guidance,
    tailor: as_it_is,
    is_enabled: |settings| settings.enabled,
    event,
    sentence: message,
};

/// The label of a background job, which has its timeout in seconds.
const TIMEOUT: &str = "timeout_secs";

/// An error as every tool of this dialect tells it: a code, a sentence, and what the gate adds.
fn shape(error: &ToolError) -> Value {
    let mut shape = json!({"error": error.code, "message": error.message});
    for (name, value) in error.details() {
        shape[name] = value;
    }
    shape
}

/// The error of a job that could not be run, in the words of this dialect.
fn failed(problem: ToolError) -> ToolError {
    match problem.code {
        // The gate's words are its own.
        ErrorCode::Denied | ErrorCode::ApprovalRequired | ErrorCode::Expired => problem,
        ErrorCode::InvalidArgument => ToolError::new(ErrorCode::InvalidArguments, problem.message),
        _ => io_error(&problem.message),
    }
}

fn io_error(what: &str) -> ToolError {
    ToolError::new(ErrorCode::IoError, format!("IO error: {what}"))
}

/// The background jobs there are: those that run, and those that ended and are still remembered.
fn jobs(call: &Call<'_>) -> Result<Vec<Summary>, ToolError> {
    let settings = &call.tools.shell;
    Ok(call.own(settings.completed_job_ttl_secs, settings.max_completed_jobs, is_background)?)
}

/// The background job that an id means.
fn job(call: &Call<'_>, id: &str) -> Result<(Job, Summary), ToolError> {
    let unknown = || ToolError::new(ErrorCode::JobNotFound, format!("Job not found: {id}"));
    let ulid = id.strip_prefix("job_").ok_or_else(unknown)?;
    let summary = jobs(call)?.into_iter().find(|summary| summary.job.as_str() == ulid);
    let summary = summary.ok_or_else(unknown)?;
    let job = call.tools.engine.job(ulid).map_err(|_| unknown())?;
    Ok((job, summary))
}

fn is_background(summary: &Summary) -> bool {
    summary.labels.contains_key(TIMEOUT)
}

/// The status object, tagged as the contract says.
fn status(call: &Call<'_>, job: &Job, summary: &Summary) -> Result<Value, ToolError> {
    let outcome = match &summary.status {
        Status::Created => return Ok(running(summary.created_at)),
        Status::Started { at, .. } => return Ok(running(*at)),
        Status::Ended(outcome) => outcome,
    };
    let seconds = outcome.duration().as_secs_f64();
    let output = |stream| output(call, job, stream);
    Ok(match &outcome.end {
        End::Exited { .. } | End::Signaled { .. } => json!({
            "status": "completed",
            "exit_code": outcome.exit_code(),
            "stdout": output(Stream::Stdout)?,
            "stderr": output(Stream::Stderr)?,
            "duration_secs": seconds,
        }),
        End::TimedOut { .. } => json!({
            "status": "timed_out",
            "stdout": output(Stream::Stdout)?,
            "stderr": output(Stream::Stderr)?,
            "duration_secs": seconds,
        }),
        End::Stopped { .. } => json!({"status": "cancelled", "duration_secs": seconds}),
        End::FailedToStart { why } => {
            json!({"status": "failed", "error": why, "duration_secs": seconds})
        }
        End::Lost { reason } => {
            json!({"status": "failed", "error": lost(*reason), "duration_secs": seconds})
        }
    })
}

/// What one stream of a job told, and where all of it is if that is too much.
fn output(call: &Call<'_>, job: &Job, stream: Stream) -> Result<String, ToolError> {
    let budget = call.budget(None);
    let view = call.view(job, 0, Some(stream), budget)?;
    let notice = format!("\n[umbo: offsets are those of {}]\n", job.output_path().display());
    let length = notice.len() as u64;
    let has_room = budget.tokens.min(budget.bytes) > 8 * length && budget.lines > 8;
    if !view.truncated || !has_room {
        return Ok(text(&view));
    }
    let (tokens, bytes) = (budget.tokens - length, budget.bytes - length);
    let less = Budget { tokens, bytes, lines: budget.lines - 1, ..budget };
    let shown = text(&call.view(job, 0, Some(stream), less)?);
    Ok(format!("{}{notice}", shown.strip_suffix('\n').unwrap_or(&shown)))
}

/// Why it is not known how a command ended.
fn lost(reason: LostReason) -> &'static str {
    match reason {
        LostReason::SupervisorKilled => "its supervisor was killed",
        LostReason::Reboot => "the machine was restarted",
        LostReason::Damaged => "its files are damaged",
    }
}

fn running(at: u64) -> Value {
    json!({"status": "running", "started_at_unix": at / 1_000_000})
}

/// What a caller is told when a background job has ended, however it did.
fn event(call: &Call<'_>, summary: &Summary) -> Option<Value> {
    if !is_background(summary) {
        return None;
    }
    let job = call.tools.engine.job(summary.job.as_str()).ok()?;
    let data = json!({
        "job_id": format!("job_{}", summary.job),
        "command": summary.command,
        "result": status(call, &job, summary).ok()?,
    });
    Some(json!({"event_type": "shell_job_completed", "data": data}))
}

/// The message that an agent's loop makes of the event.
fn message(_summary: &Summary, event: &Value) -> String {
    json!({"type": "background_job_completed", "data": event["data"]}).to_string()
}
