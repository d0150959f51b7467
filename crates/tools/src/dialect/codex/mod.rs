//! The dialect `codex`: one command at a time, looked at in slices of time.

mod apply_patch;
mod exec_command;
mod write_stdin;

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::{JobHandle, JobId};
use umbo_ops::{Call, text};

use super::{Dialect, Registered};
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;
use crate::time::millis;
use crate::tool::{Annotations, Tool};

pub(super) const REGISTERED: Registered = Registered {
    name: "codex",
    job_id: Codex::job_id,
    settings: &[],
    secrets: &[],
    open: |_| Box::new(Codex),
};

/// How many tokens an answer has unless it is told.
const DEFAULT_TOKENS: u64 = 10_000;

/// The dialect.
#[derive(Debug)]
struct Codex;

impl Dialect for Codex {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn instructions(&self) -> String {
        include_str!("instructions.md").to_owned()
    }

    fn tools(&self) -> Vec<Tool> {
        vec![
            Tool::new("exec_command", include_str!("exec_command.md"), exec_command::run)
                .attending(),
            Tool::new("write_stdin", include_str!("write_stdin.md"), write_stdin::run),
            Tool::new("apply_patch", include_str!("apply_patch.md"), apply_patch::run)
                .hints(Annotations::CHANGES)
                .serial()
                .for_files(),
        ]
    }

    fn prefers_bash(&self) -> bool {
        true
    }

    fn fields(&self) -> &[(&'static str, &'static str)] {
        &[("command", "cmd"), ("cwd", "workdir")]
    }
}

/// What both tools answer with: what is new in a session, and whether it goes on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Slice {
    chunk_id: String,
    wall_time_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<i64>,
    #[schemars(with = "i64")]
    original_token_count: u64,
    output: String,
}

/// The name of a session's job.
fn name(session: i64) -> String {
    format!("codex-{session}")
}

fn answer(
    call: &Call<'_>,
    job: &JobHandle,
    session: i64,
    started: Instant,
    tokens: Option<u64>,
) -> Result<Answer<Slice>, ToolError> {
    // Asked first: what is written after the answer is then still to come.
    let status = job.status()?;
    let view = call.unread(job, call.budget(Some(tokens.unwrap_or(DEFAULT_TOKENS))))?;
    let mut output = text(&view);
    let seconds = started.elapsed().as_secs_f64();
    let end = call.ended(job, &status);
    if let Some(end) = end {
        output = with_denials(output, end);
    }
    let code = end.map(|end| end.exit_code().unwrap_or_else(|| 128 + end.signal().unwrap_or(0)));
    let chunk_id = format!("{:06x}", random() & 0xff_ffff);
    let ending = match code {
        Some(code) => format!("Process exited with code {code}"),
        None => format!("Process running with session ID {session}"),
    };
    let text = format!(
        "Chunk ID: {chunk_id}\nWall time: {seconds:.4} seconds\n{ending}\n\
         Original token count: {}\nOutput:\n{output}",
        view.original_tokens
    );
    let output = Slice {
        chunk_id,
        wall_time_seconds: seconds,
        exit_code: code,
        session_id: code.is_none().then_some(session),
        original_token_count: view.original_tokens,
        output,
    };
    Ok(Answer::new(output, text).of_job(job))
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
    given.map_or(Duration::from_millis(default), millis).clamp(bounds.0, bounds.1)
}
