//! The dialect `codex`: one command at a time, looked at in slices of time.

mod exec_command;
mod write_stdin;

use std::time::{Duration, Instant};

use serde_json::json;
use umbo_engine::{Job, JobId, Status};

use super::{Dialect, as_it_is, no_guidance, refuse};
use crate::answer::{Answer, ToolError, compact};
use crate::call::{Call, text};
use crate::tool::Definition;

pub(super) const DIALECT: Dialect = Dialect {
    name: "codex",
    instructions: include_str!("instructions.md"),
    tools: &[
        Definition {
            name: "exec_command",
            words: include_str!("exec_command.md"),
            contract: include_str!("exec_command.json"),
            run: exec_command::run,
        },
        Definition {
            name: "write_stdin",
            words: include_str!("write_stdin.md"),
            contract: include_str!("write_stdin.json"),
            run: write_stdin::run,
        },
    ],
    prefers_bash: true,
    tells_in_structure: false,
    refusal: refuse,
    fields: &[("command", "cmd"), ("cwd", "workdir")],
    shape: ToolError::to_value,
    guidance: no_guidance,
    tailor: as_it_is,
    is_enabled: |_| true,
    event: crate::completed::event,
    sentence: crate::completed::sentence,
};

/// How many tokens an answer has unless it is told.
const TOKENS: u64 = 10_000;

/// The name of a session's job.
fn name(session: u64) -> String {
    format!("codex-{session}")
}

/// What is new in a session, and whether it goes on.
fn answer(
    call: &Call<'_>,
    job: &Job,
    session: u64,
    started: Instant,
    tokens: Option<u64>,
) -> Result<Answer, ToolError> {
    // Asked first: what is written after the answer is then still to come.
    let status = job.status()?;
    let view = call.unread(job, call.budget(Some(tokens.unwrap_or(TOKENS))))?;
    let output = text(&view);
    let seconds = started.elapsed().as_secs_f64();
    let code = match &status {
        Status::Ended(outcome) => {
            call.told(job);
            Some(outcome.exit_code().unwrap_or_else(|| 128 + outcome.signal().unwrap_or(0)))
        }
        Status::Created | Status::Started { .. } => None,
    };
    let chunk = format!("{:06x}", random() & 0xff_ffff);
    let ending = match code {
        Some(code) => format!("Process exited with code {code}"),
        None => format!("Process running with session ID {session}"),
    };
    let text = format!(
        "Chunk ID: {chunk}\nWall time: {seconds:.4} seconds\n{ending}\n\
         Original token count: {}\nOutput:\n{output}",
        view.original_tokens
    );
    let value = json!({
        "chunk_id": chunk,
        "wall_time_seconds": seconds,
        "exit_code": code,
        "session_id": if code.is_none() { Some(session) } else { None },
        "original_token_count": view.original_tokens,
        "output": output,
    });
    Ok(Answer::new(compact(value), text))
}

/// A number that nobody can foresee, from the random end of an id.
fn random() -> u64 {
    let digits = JobId::generate();
    let digits = digits.as_str().bytes().rev().take(8);
    digits.fold(0, |number: u64, byte| number.wrapping_mul(37).wrapping_add(u64::from(byte)))
}

/// A span of time within bounds, in milliseconds.
fn clamped(given: Option<f64>, default: u64, bounds: (u64, u64)) -> Duration {
    let bounds = (Duration::from_millis(bounds.0), Duration::from_millis(bounds.1));
    given.map_or(Duration::from_millis(default), crate::call::millis).clamp(bounds.0, bounds.1)
}
