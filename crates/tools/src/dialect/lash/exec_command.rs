//! `exec_command`: a command, to its end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use umbo_engine::{Ladder, OnDisconnect, Stdin};

use super::{CANCELLED, request, result};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran};

const TIMEOUT_MS: u64 = 600_000;
/// What a command that ignores its limit may take beyond it, so that the limit is what ends it.
const SLACK: Duration = Duration::from_secs(15);

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let started = Instant::now();
    let timeout_ms = arguments.count("timeout_ms").unwrap_or(TIMEOUT_MS);
    let timeout = Duration::from_millis(timeout_ms);
    let mut request = request(call, arguments)?;
    request.stdin = Stdin::None;
    request.limits.wall = Some(timeout);
    request.ladder = Ladder::KILL;
    request.on_disconnect = OnDisconnect::Stop;
    let Ran::Ended(job, outcome) = call.run(&request, timeout.saturating_add(SLACK))? else {
        return Err(ToolError::new(ErrorCode::Cancelled, CANCELLED));
    };
    let seconds = started.elapsed().as_secs_f64();
    let tokens = arguments.count("max_output_tokens");
    let (mut value, failure) = result(call, &job, &outcome, tokens, timeout_ms)?;
    value["wall_time_seconds"] = json!(seconds);
    let text = text(&value, failure.as_deref());
    match failure {
        Some(failure) if !arguments.flag("allow_nonzero_exit") => {
            value["error"] = json!(failure);
            Err(ToolError::new(ErrorCode::CommandFailed, text).shaped(value))
        }
        _ => Ok(Answer::new(value, text)),
    }
}

/// The result for who reads text alone: how it ended unless well, the output, and where all of it is.
fn text(value: &Value, failure: Option<&str>) -> String {
    let mut text = failure.map(|failure| format!("{failure}\n")).unwrap_or_default();
    text.push_str(value["output"].as_str().unwrap_or_default());
    if let Some(path) = value["full_output_path"].as_str() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.extend(["full_output_path: ", path, "\n"]);
    }
    text
}
