//! `cancel_process`: the end of a process.

use umbo_engine::Ladder;

use super::{allows_nonzero, handle, process};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let (id, job) = process(call, arguments)?;
    job.stop(Ladder::default())?;
    call.told(&job);
    let labels = job.summary().map(|summary| summary.labels).unwrap_or_default();
    let value = handle(&id, &job.status()?, allows_nonzero(&labels));
    let text = format!("{id}: {}", value["status"].as_str().unwrap_or_default());
    Ok(Answer::new(value, text))
}
