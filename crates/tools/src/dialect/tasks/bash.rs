//! `Bash`: a command in a fresh shell, or a task that goes on without its caller.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{End, JobHandle, OnDisconnect, Outcome, Stdin, Streams};
use umbo_ops::{Call, ErrorCode, Ran, label_wait};

use super::{DESCRIPTION, State, TaskSnapshot, asks};
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;
use crate::dialect::Running;
use crate::time::{limit, millis};

const DEFAULT_TIMEOUT_MS: f64 = 120_000.0;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The line to run
    #[schemars(length(min = 1))]
    command: String,
    /// What it does, in a few words
    description: Option<String>,
    /// Milliseconds, 120000 unless given; not for background tasks
    #[schemars(range(min = 0))]
    timeout: Option<f64>,
    /// Answer at once with a task id
    run_in_background: Option<bool>,
}

/// What a command told, or the task that it is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Output {
    Finished(Finished),
    Started(Started),
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Finished {
    output: String,
    exit_code: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Started {
    task_id: String,
    status: Running,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output>, ToolError> {
    let asks = asks::reason(&arguments.command, call.caller.gate.mode());
    let call = &call.asking(asks.as_deref());
    let description = arguments.description.unwrap_or_default();
    let mut task = TaskSnapshot::new(&arguments.command, &description);
    task.agent_id = call.caller.owner.clone().unwrap_or_default();
    let task_id = task.id.clone();
    let mut request = call.request(&arguments.command, None);
    request.stdin = Stdin::None;
    request.streams = Streams::Together;
    request.name = Some(task_id.clone());
    if !description.is_empty() {
        request.labels.insert(DESCRIPTION.to_owned(), description);
    }
    let status = Running::Running;
    if arguments.run_in_background == Some(true) {
        label_wait(&mut request, Duration::ZERO);
        request.on_disconnect = state.lifetime.on_disconnect();
        let job = call.start(&request)?;
        state.mirror.add(call, task, &job);
        let message = format!("Command running in background with task id: {task_id}");
        let started = Started { task_id, status, message: message.clone(), output: None };
        return Ok(Answer::new(Output::Started(started), message).of_job(&job));
    }
    let timeout = millis(arguments.timeout.unwrap_or(DEFAULT_TIMEOUT_MS));
    let wait = call.allowed_wait(None);
    label_wait(&mut request, wait);
    request.limits.wall = limit(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    match call.run(&request, wait)? {
        Ran::Ended(job, outcome) => foreground(call, &job, &outcome, timeout),
        Ran::Running(_) if call.ticket.is_cancelled() => {
            Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled"))
        }
        Ran::Running(job) => {
            state.mirror.add(call, task, &job);
            let output = call.text(&job, None, call.budget(None))?;
            let message = format!(
                "Command still running after {} s, goes on in background with task id: {task_id}",
                wait.as_secs()
            );
            let text = format!("{output}{message}");
            let started = Started { task_id, status, message, output: Some(output) };
            Ok(Answer::new(Output::Started(started), text).of_job(&job))
        }
    }
}

fn foreground(
    call: &Call<'_>,
    job: &JobHandle,
    outcome: &Outcome,
    timeout: Duration,
) -> Result<Answer<Output>, ToolError> {
    let output = with_denials(call.text(job, None, call.budget(None))?, outcome);
    let exit_code = outcome.exit_code().unwrap_or(-1);
    let failure = match &outcome.end {
        End::Exited { code: 0 } => {
            let finished = Finished { output: output.clone(), exit_code, message: None };
            return Ok(Answer::new(Output::Finished(finished), output).of_job(job));
        }
        End::TimedOut { .. } => format!("command timed out after {} ms", timeout.as_millis()),
        End::FailedToStart { why } => why.clone(),
        _ => format!("exit code {exit_code}"),
    };
    let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    let text = format!("{output}{gap}{failure}");
    let finished = Finished { output, exit_code, message: Some(failure) };
    Err(ToolError::new(ErrorCode::CommandFailed, text).shaped(&finished))
}
