//! `start_command`: a process that stays.

use umbo_engine::{End, Size, Status, Stdin};

use super::{ALLOW_NONZERO, MOST_TOKENS, handle, request};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, fresh_name};

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let mut request = request(call, arguments)?;
    let id = match call.ticket.id() {
        Some(id) => {
            // The same call again is the same process.
            let owner = call.tools.owner.as_deref().unwrap_or_default();
            request.idempotency_key = Some(format!("{owner} {id}"));
            id.to_owned()
        }
        None => fresh_name("shell:", 8),
    };
    request.name = Some(id.clone());
    request.terminal = Some(Size::default());
    request.stdin = Stdin::None;
    if arguments.flag("allow_nonzero_exit") {
        request.labels.insert(ALLOW_NONZERO.to_owned(), "true".to_owned());
    }
    if let Some(tokens) = arguments.count("max_output_tokens") {
        request.labels.insert(MOST_TOKENS.to_owned(), tokens.to_string());
    }
    let job = call.start(&request).map_err(|error| match error.code {
        ErrorCode::KeyReused => {
            let message = format!("process `{id}` exists, and was started otherwise; use a new id");
            ToolError::new(ErrorCode::KeyReused, message)
        }
        _ => error.into(),
    })?;
    if let Status::Ended(outcome) = job.status()?
        && let End::FailedToStart { why } = &outcome.end
    {
        return Err(ToolError::new(ErrorCode::FailedToStart, why));
    }
    // The handle says how it was started; `processes.list` says how it stands.
    let value = handle(&id, &Status::Created, false);
    Ok(Answer::new(value, format!("process {id} is running")))
}
