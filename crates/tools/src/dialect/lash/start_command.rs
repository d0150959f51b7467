//! `start_command`: a process that stays.

use umbo_engine::{Size, Stdin};

use super::{handle, request};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, fresh_name};

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let mut request = request(call, arguments)?;
    let id = fresh_name("shell:", 8);
    request.name = Some(id.clone());
    request.terminal = Some(Size::default());
    request.stdin = Stdin::None;
    let job = call.start(&request)?;
    let status = job.status()?;
    if let umbo_engine::Status::Ended(outcome) = &status
        && let umbo_engine::End::FailedToStart { why } = &outcome.end
    {
        return Err(ToolError::new("failed_to_start", why));
    }
    // The handle says how it was started; `processes.list` says how it stands.
    let value = handle(&id, &umbo_engine::Status::Created);
    Ok(Answer::new(value, format!("process {id} is running")))
}
