//! `write_stdin`: typing into a process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Error, ErrorKind, JobHandle, Status};
use umbo_ops::{Call, ErrorCode, Keystrokes};

use super::process;
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Process id returned by `shell.start`.
    process_id: String,
    /// What to type; may be empty to only close stdin.
    #[serde(default)]
    chars: String,
    /// Send end of file afterwards.
    #[serde(default)]
    close_stdin: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    process_id: String,
    status: Delivery,
    sequence: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Delivery {
    Signalled,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Written>, ToolError> {
    let Arguments { process_id: id, chars, close_stdin } = arguments;
    let job = process(call, &id)?;
    let typed = call.admit_input(&job, chars.as_bytes())?;
    if let Status::Ended(_) = job.status()? {
        return Err(ended(&id));
    }
    let sequence = deliver(&job, typed, &chars, close_stdin).map_err(|error| match error {
        error if error.kind() == ErrorKind::JobEnded => ended(&id),
        error => error.into(),
    })?;
    let text = format!("{id}: signalled");
    let written = Written { process_id: id, status: Delivery::Signalled, sequence };
    Ok(Answer::new(written, text).of_job(&job))
}

/// Types, and says under which number that is written down.
fn deliver(job: &JobHandle, typed: Keystrokes<'_>, chars: &str, close: bool) -> Result<u64, Error> {
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
