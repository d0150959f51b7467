//! `Bash`: a command in the foreground, for as long as clients wait, or in the background.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{End, JobHandle, OnDisconnect, Outcome, Stdin};
use umbo_ops::{Call, ErrorCode, Ran, fresh_name, text};
use umbo_view::Stream;

use super::exit_code;
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;
use crate::time::{limit, millis};

const DEFAULT_TIMEOUT_MS: f64 = 120_000.0;
const LONGEST_TIMEOUT_MS: f64 = 600_000.0;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The command to execute
    #[schemars(length(min = 1))]
    command: String,
    /// Optional timeout in milliseconds (max 600000)
    #[schemars(range(min = 0))]
    timeout: Option<f64>,
    /// What this command does, in 5-10 words
    #[serde(rename = "description")]
    _description: Option<String>,
    #[schemars(description = "Run this command in the background; read it later with BashOutput")]
    run_in_background: Option<bool>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    stdout: String,
    stderr: String,
    interrupted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background_task_id: Option<String>,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let mut request = call.request(&arguments.command, None);
    let id = fresh_name("bash_", 6);
    request.name = Some(id.clone());
    if arguments.run_in_background == Some(true) {
        request.stdin = Stdin::None;
        let job = call.start(&request)?;
        let text = format!("Command running in background with ID: {id}");
        let output = Output { background_task_id: Some(id), ..Output::default() };
        return Ok(Answer::new(output, text).of_job(&job));
    }
    let timeout = arguments.timeout.unwrap_or(DEFAULT_TIMEOUT_MS).min(LONGEST_TIMEOUT_MS);
    let timeout = millis(timeout);
    request.limits.wall = limit(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    let wait = call.allowed_wait(None);
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
            let background_task_id = Some(id);
            let output = Output { stdout, stderr, background_task_id, ..Output::default() };
            Ok(Answer::new(output, text.trim_end()).of_job(&job))
        }
    }
}

fn ended(
    call: &Call<'_>,
    job: &JobHandle,
    outcome: &Outcome,
    timeout: Duration,
) -> Result<Answer<Output>, ToolError> {
    let budget = call.budget(None);
    let stdout = call.text(job, Some(Stream::Stdout), budget)?;
    let stderr = with_denials(call.text(job, Some(Stream::Stderr), budget)?, outcome);
    let said = joined(&stdout, &stderr);
    let interrupted = !matches!(outcome.end, End::Exited { .. } | End::Signaled { .. });
    let mut output = Output { stdout, stderr, interrupted, ..Output::default() };
    let heading = match &outcome.end {
        End::TimedOut { .. } => format!("Command timed out after {}", spoken(timeout)),
        End::FailedToStart { why } => format!("Command could not be started: {why}"),
        End::Stopped { .. } | End::Lost { .. } => "Command was aborted".to_owned(),
        End::Exited { .. } | End::Signaled { .. } => {
            let code = exit_code(outcome).unwrap_or(-1);
            output.exit_code = Some(code);
            if code == 0 {
                return Ok(Answer::new(output, said).of_job(job));
            }
            format!("Exit code {code}")
        }
    };
    let text = format!("{heading}\n{said}");
    Err(ToolError::new(ErrorCode::CommandFailed, text.trim_end()).shaped(&output))
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
