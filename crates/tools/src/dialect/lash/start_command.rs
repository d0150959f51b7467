//! `start_command`: a process that stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{End, Size, Status, Stdin};
use umbo_ops::{Call, ErrorCode, fresh_name};

use super::{ALLOW_NONZERO, Handle, MOST_TOKENS, Start};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Shell command to start.
    cmd: String,
    /// Working directory; the turn's unless given.
    workdir: Option<String>,
    /// Shell to launch; the user's own unless given.
    shell: Option<String>,
    /// Run it as a login shell.
    #[serde(default)]
    login: bool,
    /// A nonzero exit code is a result, not a failure.
    #[serde(default)]
    allow_nonzero_exit: bool,
    /// Most tokens to return; what exceeds them is cut.
    #[schemars(range(min = 1))]
    max_output_tokens: Option<u64>,
}

/// The handle says how it was started; `processes.list` says how it stands.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Started {
    Running,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Handle<Started>>, ToolError> {
    let start = Start {
        cmd: &arguments.cmd,
        workdir: arguments.workdir.as_deref(),
        shell: arguments.shell.as_deref(),
        login: arguments.login,
    };
    let mut request = start.request(call)?;
    let id = match call.ticket.id() {
        Some(id) => {
            // The same call again is the same process.
            let owner = call.caller.owner.as_deref().unwrap_or_default();
            request.idempotency_key = Some(format!("{owner} {id}"));
            id.to_owned()
        }
        None => fresh_name("shell:", 8),
    };
    request.name = Some(id.clone());
    request.terminal = Some(Size::default());
    request.stdin = Stdin::None;
    if arguments.allow_nonzero_exit {
        request.labels.insert(ALLOW_NONZERO.to_owned(), "true".to_owned());
    }
    if let Some(tokens) = arguments.max_output_tokens {
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
    let handle = Handle::new(&id, Started::Running, true);
    Ok(Answer::new(handle, format!("process {id} is running")).of_job(&job))
}
