//! How a process that was started to stay ended, for a program that tells it to its model itself.

use serde_json::Value;
use umbo_engine::Status;
use umbo_ops::{Call, Ticket};

use super::{MOST_TOKENS, finished};
use crate::answer::ToolError;
use crate::toolset::Toolset;

/// What a process that was started to stay ended with, by the id that its start answered with: the
/// fields of a command that was waited for, with any exit code. `None` if there is no such process,
/// or if it runs. An error if it was cancelled, could not be started, or was lost. What is told here,
/// no result tells.
pub fn process_result(tools: &Toolset, process_id: &str) -> Result<Option<Value>, ToolError> {
    let ticket = Ticket::default();
    let call = Call::new(tools.caller(), &ticket);
    let Some(job) = call.named(process_id) else { return Ok(None) };
    let Status::Ended(outcome) = job.status()? else { return Ok(None) };
    let labels = job.summary().map(|summary| summary.labels).unwrap_or_default();
    let tokens = labels.get(MOST_TOKENS).and_then(|digits| digits.parse().ok());
    call.told(&job);
    let (result, _) = finished(&call, &job, &outcome, tokens, 0)?;
    Ok(Some(serde_json::to_value(result).unwrap_or_default()))
}
