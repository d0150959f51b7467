//! `shell_jobs`: the background jobs.

use serde_json::{Value, json};
use umbo_engine::{End, Scope, Status};

use super::is_background;
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Whose};

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let jobs = call.jobs(Whose::Mine, Scope::Recent)?;
    let listed = jobs.iter().filter(|summary| is_background(summary)).map(|summary| {
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
