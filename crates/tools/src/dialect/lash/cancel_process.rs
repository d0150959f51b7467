//! `cancel_process`: the end of a process.

use umbo_engine::Ladder;

use super::{handle, process};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let (id, job) = process(call, arguments)?;
    job.stop(Ladder::default())?;
    call.told(&job);
    let value = handle(&id, &job.status()?);
    let text = format!("{id}: {}", value["status"]);
    Ok(Answer::new(value, text))
}
