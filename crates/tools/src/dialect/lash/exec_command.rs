//! `exec_command`: a command, to its end.

use std::time::{Duration, Instant};

use serde_json::json;
use umbo_engine::{End, OnDisconnect, Stdin};

use super::request;
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran, text};

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
    request.ladder.terminate = None;
    request.on_disconnect = OnDisconnect::Stop;
    let Ran::Ended(job, outcome) = call.run(&request, timeout.saturating_add(SLACK))? else {
        return Err(ToolError::new("cancelled", "tool call cancelled"));
    };
    call.told(&job);
    let view = call.view(&job, 0, None, call.budget(arguments.count("max_output_tokens")))?;
    let mut value = json!({
        "output": text(&view),
        "status": "completed",
        "done": true,
        "running": false,
        "wall_time_seconds": started.elapsed().as_secs_f64(),
    });
    if view.truncated {
        value["original_token_count"] = json!(view.original_tokens);
        value["full_output_path"] = json!(job.output_path().display().to_string());
    }
    let failure = match &outcome.end {
        End::TimedOut { .. } => {
            value["status"] = json!("timed_out");
            value["timed_out"] = json!(true);
            let error = format!("Command timed out after {timeout_ms} ms");
            // Said even where it is no failure: the result has no other word for it.
            value["error"] = json!(error);
            Some(error)
        }
        End::Stopped { .. } => return Err(ToolError::new("cancelled", "tool call cancelled")),
        End::FailedToStart { why } => return Err(ToolError::new("failed_to_start", why)),
        End::Lost { .. } => return Err(ToolError::new("lost", "what became of it is not known")),
        End::Exited { .. } | End::Signaled { .. } => {
            let signal = outcome.signal().map(|signal| 128 + signal);
            let code = outcome.exit_code().or(signal).unwrap_or(-1);
            value["exit_code"] = json!(code);
            (code != 0).then(|| format!("Command exited with code {code}"))
        }
    };
    let shown = text(&view);
    match failure {
        Some(error) if !arguments.flag("allow_nonzero_exit") => {
            value["error"] = json!(error);
            Err(ToolError::new("command_failed", format!("{error}\n{shown}")).shaped(value))
        }
        _ => Ok(Answer::new(value, shown)),
    }
}
