//! `write_stdin`: types into a session, or only looks at it.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::{Condition, Ladder};
use umbo_ops::{Call, ErrorCode};

use super::{Slice, answer, clamped, name};
use crate::answer::{Answer, ToolError};

const DEFAULT_YIELD_MS: u64 = 250;
/// Bounds after typing.
const TYPED_BOUNDS_MS: (u64, u64) = (250, 30_000);
/// Bounds of a poll: one that is asked for again at once is no use to anybody.
const POLL_BOUNDS_MS: (u64, u64) = (5_000, 300_000);

/// Ctrl-c. Where no terminal makes a signal of it, it is one all the same.
const INTERRUPT: &str = "\u{3}";
const LADDER: Ladder =
    Ladder { interrupt: Some(Duration::from_secs(5)), terminate: Some(Duration::from_secs(5)) };

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Identifier of the running session.
    session_id: i64,
    /// Bytes to write to stdin (may be empty to poll).
    chars: Option<String>,
    /// How long to wait for output before yielding. Defaults to 250.
    yield_time_ms: Option<f64>,
    /// Maximum number of tokens to return. Defaults to 10000.
    #[schemars(range(min = 1))]
    max_output_tokens: Option<u64>,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Slice>, ToolError> {
    let started = Instant::now();
    let (session, tokens) = (arguments.session_id, arguments.max_output_tokens);
    let Some(job) = call.named(&name(session)) else {
        let message = format!("write_stdin failed: Unknown process id {session}");
        return Err(ToolError::new(ErrorCode::UnknownSession, message));
    };
    let chars = arguments.chars.unwrap_or_default();
    let wait = if chars.is_empty() {
        let wait = clamped(arguments.yield_time_ms, DEFAULT_YIELD_MS, POLL_BOUNDS_MS);
        wait.min(call.allowed_wait(None))
    } else {
        let has_terminal = job.summary().is_some_and(|summary| summary.terminal.is_some());
        if chars == INTERRUPT && !has_terminal {
            job.stop(LADDER)?;
            return answer(call, &job, session, started, tokens);
        }
        if !has_terminal {
            return Err(ToolError::new(
                ErrorCode::StdinClosed,
                "write_stdin failed: stdin is closed for this session; \
                 rerun exec_command with tty=true to keep stdin open",
            ));
        }
        call.input(&job, &chars, &[]).map_err(|error| match error.code {
            ErrorCode::JobEnded => {
                let message = format!("write_stdin failed: session {session} has ended");
                ToolError::new(ErrorCode::JobEnded, message)
            }
            _ => error.into(),
        })?;
        clamped(arguments.yield_time_ms, DEFAULT_YIELD_MS, TYPED_BOUNDS_MS)
    };
    call.wait(&job, vec![Condition::Exit], wait)?;
    answer(call, &job, session, started, tokens)
}
