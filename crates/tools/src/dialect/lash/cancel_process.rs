//! `cancel_process`: the end of a process.

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::Ladder;
use umbo_ops::Call;

use super::{Handle, State, allows_nonzero, process};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Process id returned by `shell.start`.
    process_id: String,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Handle<State>>, ToolError> {
    let id = arguments.process_id;
    let job = process(call, &id)?;
    job.stop(Ladder::default())?;
    call.told(&job);
    let labels = job.summary().map(|summary| summary.labels).unwrap_or_default();
    let handle = Handle::of(&id, &job.status()?, allows_nonzero(&labels));
    let text = format!("{id}: {}", handle.status.as_str());
    Ok(Answer::new(handle, text).of_job(&job))
}
