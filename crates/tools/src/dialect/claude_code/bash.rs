//! `Bash`: a command in the foreground, for as long as clients wait, or in the background.

use std::time::Duration;

use serde_json::json;
use umbo_engine::{End, Job, OnDisconnect, Outcome, Stdin};
use umbo_view::Stream;

use super::exit_code;
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Ran, fresh_name, millis, text};

const TIMEOUT_MS: f64 = 120_000.0;
const LONGEST_MS: f64 = 600_000.0;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let line = arguments.text("command").unwrap_or_default();
    let mut request = call.request(line, None);
    let id = fresh_name("bash_", 6);
    request.name = Some(id.clone());
    if arguments.flag("run_in_background") {
        request.stdin = Stdin::None;
        call.start(&request)?;
        let text = format!("Command running in background with ID: {id}");
        let value =
            json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": id});
        return Ok(Answer::new(value, text));
    }
    let timeout = millis(arguments.number("timeout").unwrap_or(TIMEOUT_MS).min(LONGEST_MS));
    request.limits.wall = Some(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    let wait = call.tools.longest_wait;
    match call.run(&request, wait)? {
        Ran::Ended(job, outcome) => ended(call, &job, &outcome, timeout),
        Ran::Running(_) if call.ticket.is_cancelled() => {
            Err(ToolError::new(ErrorCode::Cancelled, "Command was aborted"))
        }
        Ran::Running(job) => {
            // What is told here is not new to BashOutput.
            let (stdout, stderr) = call.unread_streams(&job, call.budget(None))?;
            let (stdout, stderr) = (text(&stdout), text(&stderr));
            let heading = format!(
                "Command still running after {}, continues in background with ID: {id}",
                spoken(wait)
            );
            let text = format!("{heading}\n{}", joined(&stdout, &stderr));
            let value = json!({
                "stdout": stdout, "stderr": stderr, "interrupted": false, "backgroundTaskId": id,
            });
            Ok(Answer::new(value, text.trim_end()))
        }
    }
}

fn ended(
    call: &Call<'_>,
    job: &Job,
    outcome: &Outcome,
    timeout: Duration,
) -> Result<Answer, ToolError> {
    let budget = call.budget(None);
    let stdout = call.text(job, Some(Stream::Stdout), budget)?;
    let stderr = call.text(job, Some(Stream::Stderr), budget)?;
    let interrupted = !matches!(outcome.end, End::Exited { .. } | End::Signaled { .. });
    let mut value = json!({"stdout": stdout, "stderr": stderr, "interrupted": interrupted});
    let output = joined(&stdout, &stderr);
    let heading = match &outcome.end {
        End::TimedOut { .. } => format!("Command timed out after {}", spoken(timeout)),
        End::FailedToStart { why } => format!("Command could not be started: {why}"),
        End::Stopped { .. } | End::Lost { .. } => "Command was aborted".to_owned(),
        End::Exited { .. } | End::Signaled { .. } => {
            let code = exit_code(outcome).unwrap_or(-1);
            value["exitCode"] = json!(code);
            if code == 0 {
                return Ok(Answer::new(value, output));
            }
            format!("Exit code {code}")
        }
    };
    let text = format!("{heading}\n{output}");
    Err(ToolError::new(ErrorCode::CommandFailed, text.trim_end()).shaped(value))
}

/// Both streams as one text.
fn joined(stdout: &str, stderr: &str) -> String {
    let streams = [stdout.trim_end(), stderr.trim_end()];
    streams.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A span of time as `2m 0s` or `1.5s`.
fn spoken(span: Duration) -> String {
    match span.as_secs() {
        0..60 => format!("{}s", span.as_secs_f64()),
        seconds => format!("{}m {}s", seconds / 60, seconds % 60),
    }
}
