//! `write_stdin`: types into a session, or only looks at it.

use std::time::{Duration, Instant};

use umbo_engine::{Condition, Ladder};

use super::{answer, clamped, name};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

const YIELD_MS: u64 = 250;
/// Bounds after typing.
const TYPED_MS: (u64, u64) = (250, 30_000);
/// Bounds of a poll: one that is asked for again at once is no use to anybody.
const POLLED_MS: (u64, u64) = (5_000, 300_000);

/// Ctrl-c. Where no terminal makes a signal of it, it is one all the same.
const INTERRUPT: &str = "\u{3}";
const LADDER: Ladder =
    Ladder { interrupt: Some(Duration::from_secs(5)), terminate: Some(Duration::from_secs(5)) };

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let started = Instant::now();
    let session = arguments.count("session_id").unwrap_or_default();
    let Some(job) = call.named(&name(session)) else {
        let given = arguments.get("session_id").cloned().unwrap_or_default();
        let message = format!("write_stdin failed: Unknown process id {given}");
        return Err(ToolError::new(ErrorCode::UnknownSession, message));
    };
    let chars = arguments.text("chars").unwrap_or_default();
    let given = arguments.number("yield_time_ms");
    let patience = if chars.is_empty() {
        clamped(given, YIELD_MS, POLLED_MS).min(call.tools.longest_wait)
    } else {
        let has_terminal = job.summary().is_some_and(|summary| summary.terminal.is_some());
        if chars == INTERRUPT && !has_terminal {
            job.stop(LADDER)?;
            return answer(call, &job, session, started, arguments.count("max_output_tokens"));
        }
        if !has_terminal {
            return Err(ToolError::new(
                ErrorCode::StdinClosed,
                "write_stdin failed: stdin is closed for this session; \
                 rerun exec_command with tty=true to keep stdin open",
            ));
        }
        call.input(&job, chars, &[]).map_err(|error| match error.code {
            ErrorCode::JobEnded => ToolError::new(
                error.code,
                format!("write_stdin failed: session {session} has ended"),
            ),
            _ => error.into(),
        })?;
        clamped(given, YIELD_MS, TYPED_MS)
    };
    call.wait(&job, vec![Condition::Exit], patience)?;
    answer(call, &job, session, started, arguments.count("max_output_tokens"))
}
