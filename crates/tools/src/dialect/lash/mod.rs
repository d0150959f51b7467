//! The dialect `lash`: commands that finish, processes that stay, and handles to them.

mod cancel_process;
mod exec_command;
mod list_process_handles;
mod process_events;
mod process_result;
mod start_command;
mod write_stdin;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::{
    Command, End, JobHandle, Login, Outcome, Request, Shell, Status, Streams, Summary,
};
use umbo_ops::{Call, ErrorCode, JobLog, text};
use umbo_view::{Reader, ViewOptions};

use super::kept_text::KeptText;
use super::{Dialect, Registered};
use crate::answer::ToolError;
use crate::completed::Completed;
use crate::denied::with_denials;
use crate::guidance::Guidance;
use crate::tool::{Annotations, Tool};

pub use process_events::{ProcessEvent, ProcessEvents, process_events};
pub use process_result::process_result;

pub(super) const REGISTERED: Registered = Registered {
    name: "lash",
    job_id: Lash::job_id,
    settings: &[],
    secrets: &[],
    open: |_| Box::new(Lash),
};

/// The label of a process whose nonzero exit code is a result.
const ALLOW_NONZERO: &str = "allow_nonzero_exit";
/// The label that says how many tokens of a process's output are told.
const MOST_TOKENS: &str = "max_output_tokens";
/// Processes that ended are listed for so many seconds, and so many of them.
const LISTED: (u64, usize) = (300, 100);
/// What a call that nobody waits for any more answers.
const CANCELLED: &str = "tool call cancelled";

/// The dialect.
#[derive(Debug)]
struct Lash;

impl Dialect for Lash {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn tools(&self) -> Vec<Tool> {
        vec![
            Tool::new("exec_command", include_str!("exec_command.md"), exec_command::run)
                .attending()
                .id("tool:exec_command")
                .binding(["shell"], "exec", ["shell", "bash"])
                .examples([
                    r#"await shell.exec({ cmd: "cargo test -p lash-protocol-rlm", timeout_ms: 600000 })?"#,
                    r#"await shell.exec({ cmd: "test -f Cargo.lock", allow_nonzero_exit: true })?"#,
                ])
                .serial(),
            Tool::new("start_command", include_str!("start_command.md"), start_command::run)
                .id("tool:start_command")
                .binding(["shell"], "start", ["long_running_command", "pty"])
                .examples([r#"await shell.start({ cmd: "python -m http.server 8000" })?"#])
                .serial(),
            Tool::new("write_stdin", include_str!("write_stdin.md"), write_stdin::run)
                .id("tool:write_stdin")
                .binding(["shell"], "write", ["send_stdin", "poll_command"])
                .examples([
                    r#"await shell.write({ process_id: "call-shell-1", chars: "status\n" })?"#,
                    r#"await shell.write({ process_id: "call-shell-1", chars: "", close_stdin: true })?"#,
                ])
                .serial(),
            Tool::new(
                "list_process_handles",
                include_str!("list_process_handles.md"),
                list_process_handles::run,
            )
            .binding(["processes"], "list", [])
            .hints(Annotations::READS),
            Tool::new("cancel_process", include_str!("cancel_process.md"), cancel_process::run)
                .binding(["processes"], "cancel", [])
                .hints(Annotations::STOPS),
        ]
    }

    /// What goes into the system prompt; a tool is mentioned only if it can be called.
    fn guidance(&self, tools: &[Tool]) -> Vec<Guidance> {
        let mut execution = include_str!("execution.md").trim().to_owned();
        if tools.iter().any(|tool| tool.name == "write_stdin") {
            execution.push(' ');
            execution.push_str(include_str!("execution_write.md").trim());
        }
        execution.push(' ');
        execution.push_str(include_str!("execution_wait.md").trim());
        vec![
            Guidance::new("Command Execution", execution),
            Guidance::new("Git Safety", include_str!("git.md").trim()),
        ]
    }

    fn prefers_bash(&self) -> bool {
        true
    }

    fn fields(&self) -> &[(&'static str, &'static str)] {
        &[("command", "cmd"), ("cwd", "workdir")]
    }

    fn unknown_tool(&self, name: &str, _tools: &[Tool]) -> ToolError {
        ToolError::new(ErrorCode::UnknownTool, format!("Unknown tool: {name}"))
    }

    /// Its handle, with its result or the error it ended with.
    fn completed(&self, call: &Call<'_>, summary: &Summary) -> Option<Completed> {
        let event = ended_process(call, summary)?;
        let sentence = serde_json::to_string(&event).unwrap_or_default();
        Some(Completed::new(summary, &event, sentence))
    }
}

/// A handle to a process that stays.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Handle<S> {
    __handle__: HandleKind,
    id: String,
    process_id: String,
    status: S,
    done: bool,
    running: bool,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HandleKind {
    Process,
}

/// Where a process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl State {
    fn of(status: &Status, allows_nonzero: bool) -> Self {
        match status {
            Status::Created | Status::Started { .. } => Self::Running,
            Status::Ended(outcome) => match &outcome.end {
                End::Stopped { .. } => Self::Cancelled,
                End::Exited { .. } | End::Signaled { .. } if allows_nonzero => Self::Completed,
                _ if outcome.success() => Self::Completed,
                _ => Self::Failed,
            },
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Handle<State> {
    fn of(id: &str, status: &Status, allows_nonzero: bool) -> Self {
        let state = State::of(status, allows_nonzero);
        Self::new(id, state, state == State::Running)
    }
}

impl<S> Handle<S> {
    fn new(id: &str, status: S, running: bool) -> Self {
        Self {
            __handle__: HandleKind::Process,
            id: id.to_owned(),
            process_id: id.to_owned(),
            status,
            done: !running,
            running,
        }
    }
}

/// What a command that ended has to tell.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Finished {
    output: String,
    status: FinishedState,
    done: bool,
    running: bool,
    #[schemars(range(min = 0))]
    wall_time_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timed_out: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_token_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_output_path: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FinishedState {
    Completed,
    TimedOut,
}

/// What a process that ended is told with.
#[derive(Debug, Serialize)]
struct EndedProcess {
    #[serde(flatten)]
    handle: Handle<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Finished>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What both starts are given.
struct Start<'a> {
    cmd: &'a str,
    workdir: Option<&'a str>,
    shell: Option<&'a str>,
    login: bool,
}

impl Start<'_> {
    fn request(&self, call: &Call<'_>) -> Result<Request, ToolError> {
        let mut request = call.request(self.cmd, given(self.workdir));
        request.streams = Streams::Together;
        if let Command::Shell { shell, login, .. } = &mut request.command {
            match (given(self.shell), call.variable("SHELL")) {
                (Some(name), _) => *shell = call.shell_named(name)?,
                (None, Some(path)) if std::path::Path::new(&path).is_file() => {
                    *shell = Shell::Path(path.into());
                }
                (None, _) => {}
            }
            if self.login {
                *login = Login::Yes;
            }
        }
        Ok(request)
    }
}

/// A text that says something.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// What a command that ended has to tell, and the sentence it fails with if it may not end so.
fn finished(
    call: &Call<'_>,
    job: &JobHandle,
    outcome: &Outcome,
    most_tokens: Option<u64>,
    timeout_ms: u64,
) -> Result<(Finished, Option<String>), ToolError> {
    let options = ViewOptions {
        budget: call.budget(most_tokens),
        minimize: call.caller.minimize,
        ..ViewOptions::default()
    };
    let log = KeptText(JobLog::open(job)?);
    let view = Reader::new(log).mask(&call.caller.masker).view(&options)?;
    let output = text(&view);
    // What was taken out of it, be it noise or too much, is still in the file.
    let is_raw = output.len() as u64 == outcome.total_bytes;
    let full_output_path = (!is_raw).then(|| call.output_file(job).display().to_string());
    let mut finished = Finished {
        output: with_denials(output, outcome),
        status: FinishedState::Completed,
        done: true,
        running: false,
        wall_time_seconds: outcome.duration().as_secs_f64(),
        exit_code: None,
        timed_out: None,
        error: None,
        original_token_count: view.truncated.then_some(view.original_tokens),
        full_output_path,
    };
    let failure = match &outcome.end {
        End::TimedOut { .. } => {
            let failure = format!("Command timed out after {timeout_ms} ms");
            finished.status = FinishedState::TimedOut;
            finished.timed_out = Some(true);
            // Said even where it is no failure: the result has no other word for it.
            finished.error = Some(failure.clone());
            Some(failure)
        }
        End::Stopped { .. } => return Err(ToolError::new(ErrorCode::Cancelled, CANCELLED)),
        End::FailedToStart { why } => {
            return Err(ToolError::new(ErrorCode::FailedToStart, why));
        }
        End::Lost { .. } => {
            return Err(ToolError::new(ErrorCode::Lost, "what became of it is not known"));
        }
        End::Exited { .. } | End::Signaled { .. } => {
            let signal = outcome.signal().map(|signal| 128 + signal);
            let code = outcome.exit_code().or(signal).unwrap_or(-1);
            finished.exit_code = Some(code);
            (code != 0).then(|| format!("Command exited with code {code}"))
        }
    };
    Ok((finished, failure))
}

/// Whether a process may end with a nonzero code.
fn allows_nonzero(labels: &BTreeMap<String, String>) -> bool {
    labels.contains_key(ALLOW_NONZERO)
}

/// The process that an id means.
fn process(call: &Call<'_>, id: &str) -> Result<JobHandle, ToolError> {
    if let Some(job) = call.named(id) {
        return Ok(job);
    }
    let known: Vec<String> = processes(call)?.into_iter().filter_map(|known| known.name).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(" ") };
    let message = format!("unknown process `{id}`; there are: {known}");
    let field = Some("process_id".to_owned());
    Err(ToolError { field, ..ToolError::new(ErrorCode::UnknownProcess, message) })
}

/// What was started and stays, and what of it ended a short while ago, oldest first.
fn processes(call: &Call<'_>) -> Result<Vec<Summary>, ToolError> {
    // What `exec_command` runs has no name.
    Ok(call.own(LISTED.0, LISTED.1, |summary| summary.name.is_some())?)
}

fn ended_process(call: &Call<'_>, summary: &Summary) -> Option<EndedProcess> {
    let id = summary.name.as_deref()?;
    let Status::Ended(outcome) = &summary.status else { return None };
    let job = call.caller.backend.job(summary.job.as_str()).ok()?;
    let allows_nonzero = allows_nonzero(&summary.labels);
    let tokens = summary.labels.get(MOST_TOKENS).and_then(|digits| digits.parse().ok());
    let handle = Handle::of(id, &summary.status, allows_nonzero);
    Some(match finished(call, &job, outcome, tokens, 0) {
        Ok((mut result, failure)) => {
            if let Some(failure) = failure.filter(|_| !allows_nonzero) {
                result.error = Some(failure);
            }
            EndedProcess { handle, result: Some(result), error: None }
        }
        Err(error) => EndedProcess { handle, result: None, error: Some(error.message) },
    })
}
