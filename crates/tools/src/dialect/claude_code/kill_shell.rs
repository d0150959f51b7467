//! `KillShell`: the end of a background shell.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Ladder, Status};
use umbo_ops::{Call, ErrorCode};

use super::{State, shell};
use crate::answer::{Answer, ToolError};

const LADDER: Ladder = Ladder { interrupt: None, terminate: Some(Duration::from_secs(2)) };

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The ID of the background shell to kill
    shell_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    message: String,
    shell_id: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let id = arguments.shell_id;
    let job = shell(call, &id)?;
    let status = job.status()?;
    if matches!(status, Status::Ended(_)) {
        let state = State::of(&status).as_str();
        let message = format!("Shell {id} is not running, so cannot be killed (status: {state})");
        return Err(ToolError::new(ErrorCode::NotRunning, message));
    }
    job.stop(LADDER)?;
    call.told(&job);
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    let message = format!("Successfully killed shell: {id} ({command})");
    let output = Output { message: message.clone(), shell_id: id };
    Ok(Answer::new(output, message).of_job(&job))
}
