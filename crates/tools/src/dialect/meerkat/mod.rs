//! The dialect `meerkat`: a shell that is off until somebody turns it on, and jobs behind it.

mod shell;
mod shell_job_cancel;
mod shell_job_status;
mod shell_jobs;

use serde_json::{Value, json};
use umbo_engine::{End, Job, LostReason, Status, Summary};
use umbo_view::Stream;

use super::{Dialect, no_guidance};
use crate::answer::ToolError;
use crate::call::Call;
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
    refusal,
    guidance: no_guidance,
    is_enabled: |settings| settings.enabled,
    event,
};

/// The mark of this dialect's background jobs, in front of their timeout.
const MARK: &str = "shell-job-";

/// An error as every tool of this dialect tells it.
fn error(code: &'static str, message: impl Into<String>) -> ToolError {
    let message = message.into();
    let shape = json!({"error": code, "message": message});
    ToolError::new(code, message).shaped(shape)
}

fn refusal(_tool: &Tool, _arguments: &Value, problem: &Problem) -> ToolError {
    error("invalid_arguments", problem.to_string())
}

/// The error of the engine in this dialect's shape.
fn failed(cause: &umbo_engine::Error) -> ToolError {
    match cause {
        umbo_engine::Error::NoShell { name, .. } => error(
            "shell_not_installed",
            format!("Shell not installed: {name}. Install from https://nushell.sh"),
        ),
        other => error("io_error", format!("IO error: {other}")),
    }
}

/// The background job that an id means.
fn job(call: &Call<'_>, id: &str) -> Result<(Job, Summary), ToolError> {
    let unknown = || error("job_not_found", format!("Job not found: {id}"));
    let ulid = id.strip_prefix("job_").filter(|ulid| ulid.len() == 26).ok_or_else(unknown)?;
    let job = call.tools.engine.job(ulid).map_err(|_| unknown())?;
    let summary = job.summary().filter(is_background).ok_or_else(unknown)?;
    Ok((job, summary))
}

fn is_background(summary: &Summary) -> bool {
    summary.name.as_deref().is_some_and(|name| name.starts_with(MARK))
}

/// The status object, tagged as the contract says.
fn status(call: &Call<'_>, job: &Job, summary: &Summary) -> Result<Value, ToolError> {
    let outcome = match &summary.status {
        Status::Created => return Ok(running(summary.created_at)),
        Status::Started { at, .. } => return Ok(running(*at)),
        Status::Ended(outcome) => outcome,
    };
    let seconds = outcome.duration().as_secs_f64();
    let output = |stream| call.text(job, Some(stream), call.budget(None));
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
            let why = match reason {
                LostReason::SupervisorKilled => "its supervisor was killed",
                LostReason::Reboot => "the machine was restarted",
                LostReason::Damaged => "its files are damaged",
            };
            json!({"status": "failed", "error": why, "duration_secs": seconds})
        }
    })
}

fn running(at: u64) -> Value {
    json!({"status": "running", "started_at_unix": at / 1_000_000})
}

/// What a caller is told when a background job has ended.
fn event(call: &Call<'_>, summary: &Summary) -> Option<Value> {
    let (job, _) = job(call, &format!("job_{}", summary.job)).ok()?;
    Some(json!({
        "event_type": "shell_job_completed",
        "data": {
            "job_id": format!("job_{}", summary.job),
            "command": summary.command,
            "result": status(call, &job, summary).ok()?,
        },
    }))
}
