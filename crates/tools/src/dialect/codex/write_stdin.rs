//! `write_stdin`: types into a session, or only looks at it.

use std::time::Instant;

use umbo_engine::Condition;

use super::{answer, clamped, name};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

const YIELD_MS: u64 = 250;
/// Bounds after typing.
const TYPED_MS: (u64, u64) = (250, 30_000);
/// Bounds of a poll: one that is asked for again at once is no use to anybody.
const POLLED_MS: (u64, u64) = (5_000, 300_000);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let started = Instant::now();
    let session = arguments.count("session_id").unwrap_or_default();
    let Some(job) = call.named(&name(session)) else {
        let message = format!("write_stdin failed: Unknown process id {session}");
        return Err(ToolError::new("unknown_session", message));
    };
    let chars = arguments.text("chars").unwrap_or_default();
    let given = arguments.number("yield_time_ms");
    let patience = if chars.is_empty() {
        clamped(given, YIELD_MS, POLLED_MS)
    } else {
        if job.summary().is_some_and(|summary| summary.terminal.is_none()) {
            return Err(ToolError::new(
                "stdin_closed",
                "write_stdin failed: stdin is closed for this session; \
                 rerun exec_command with tty=true to keep stdin open",
            ));
        }
        call.input(&job, chars, &[])?;
        clamped(given, YIELD_MS, TYPED_MS)
    };
    call.wait(&job, vec![Condition::Exit], patience)?;
    answer(call, &job, session, started, arguments.count("max_output_tokens"))
}
