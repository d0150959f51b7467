//! `KillShell`: the end of a background shell.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{Ladder, Status};

use super::{shell, status};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

const LADDER: Ladder = Ladder { interrupt: None, terminate: Some(Duration::from_secs(2)) };

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("shell_id").unwrap_or_default();
    let job = shell(call, id)?;
    let state = job.status()?;
    if matches!(state, Status::Ended(_)) {
        let message =
            format!("Shell {id} is not running, so cannot be killed (status: {})", status(&state));
        return Err(ToolError::new(ErrorCode::NotRunning, message));
    }
    job.stop(LADDER)?;
    call.told(&job);
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    let message = format!("Successfully killed shell: {id} ({command})");
    Ok(Answer::new(json!({"message": message, "shell_id": id}), message))
}
