//! `exec_command`: a command that is waited for to its end.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::{Ladder, OnDisconnect, Stdin};
use umbo_ops::{Call, ErrorCode, Ran};

use super::{CANCELLED, Finished, Start, finished};
use crate::answer::{Answer, ToolError};

/// What a command that ignores its limit may take beyond it, so that the limit is what ends it.
const KILL_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Shell command to execute.
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
    /// Hard timeout in milliseconds; the command is killed then and the tool fails, unless `allow_nonzero_exit` is true.
    #[serde(default = "default_timeout_ms")]
    #[schemars(range(min = 1))]
    timeout_ms: u64,
}

fn default_timeout_ms() -> u64 {
    600_000
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Finished>, ToolError> {
    let started = Instant::now();
    let timeout = Duration::from_millis(arguments.timeout_ms);
    let start = Start {
        cmd: &arguments.cmd,
        workdir: arguments.workdir.as_deref(),
        shell: arguments.shell.as_deref(),
        login: arguments.login,
    };
    let mut request = start.request(call)?;
    request.stdin = Stdin::None;
    request.limits.wall = Some(timeout);
    request.ladder = Ladder::KILL;
    request.on_disconnect = OnDisconnect::Stop;
    let Ran::Ended(job, outcome) = call.run(&request, timeout.saturating_add(KILL_TIMEOUT))? else {
        return Err(ToolError::new(ErrorCode::Cancelled, CANCELLED));
    };
    let seconds = started.elapsed().as_secs_f64();
    let tokens = arguments.max_output_tokens;
    let (mut finished, failure) = finished(call, &job, &outcome, tokens, arguments.timeout_ms)?;
    finished.wall_time_seconds = seconds;
    let text = text(&finished, failure.as_deref());
    match failure {
        Some(failure) if !arguments.allow_nonzero_exit => {
            finished.error = Some(failure);
            Err(ToolError::new(ErrorCode::CommandFailed, text).shaped(&finished))
        }
        _ => Ok(Answer::new(finished, text).of_job(&job)),
    }
}

/// The result for who reads text alone: how it ended unless well, the output, and where all of it is.
fn text(finished: &Finished, failure: Option<&str>) -> String {
    let mut text = failure.map(|failure| format!("{failure}\n")).unwrap_or_default();
    text.push_str(&finished.output);
    if let Some(path) = &finished.full_output_path {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.extend(["full_output_path: ", path, "\n"]);
    }
    text
}
