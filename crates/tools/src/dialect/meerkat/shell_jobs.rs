//! `shell_jobs`: the background jobs.

use serde_json::{Value, json};
use umbo_engine::{End, Status};

use super::jobs;
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let jobs = jobs(call)?;
    let listed = jobs.iter().map(|summary| {
        let status = match &summary.status {
            Status::Created | Status::Started { .. } => "running",
            Status::Ended(outcome) => match &outcome.end {
                End::Exited { .. } | End::Signaled { .. } => "completed",
                End::TimedOut { .. } => "timed_out",
                End::Stopped { .. } => "cancelled",
                End::FailedToStart { .. } | End::Lost { .. } => "failed",
            },
        };
        json!({
            "id": format!("job_{}", summary.job),
            "command": summary.command,
            "status": status,
            "started_at_unix": summary.started_at().unwrap_or(summary.created_at) / 1_000_000,
        })
    });
    let value = Value::Array(listed.collect());
    let text = value.to_string();
    Ok(Answer::new(value, text))
}
