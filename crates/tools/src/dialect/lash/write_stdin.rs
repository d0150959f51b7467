//! `write_stdin`: typing into a process.

use serde_json::json;
use umbo_engine::{Error, Job, Status};

use super::process;
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;
use umbo_ops::Keystrokes;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let (id, job) = process(call, arguments)?;
    let chars = arguments.text("chars").unwrap_or_default();
    let close = arguments.flag("close_stdin");
    let typed = call.admit_input(&job, chars.as_bytes())?;
    if let Status::Ended(_) = job.status()? {
        return Err(ended(&id));
    }
    let sequence = deliver(&job, typed, chars, close).map_err(|error| match error {
        Error::Ended(_) => ended(&id),
        error => error.into(),
    })?;
    let value = json!({"process_id": id, "status": "signalled", "sequence": sequence});
    Ok(Answer::new(value, format!("{id}: signalled")))
}

/// Types, and says under which number that is written down.
fn deliver(job: &Job, typed: Keystrokes<'_>, chars: &str, close: bool) -> Result<u64, Error> {
    // Written down first: what is typed may end the process, and after that nothing happens to it.
    let sequence = job.record_input(chars.len() as u64, close)?;
    if !chars.is_empty() {
        typed.send()?;
    }
    if close {
        // At a terminal, the first end of input after half a line only sends the line.
        if !chars.is_empty() && !chars.ends_with('\n') {
            job.end_input()?;
        }
        job.end_input()?;
    }
    Ok(sequence)
}

/// The caller knows the process, not the job behind it.
fn ended(id: &str) -> ToolError {
    ToolError::new(ErrorCode::JobEnded, format!("process `{id}` has ended"))
}
