//! The dialect `lash`: commands that finish, processes that stay, and handles to them.

mod cancel_process;
mod exec_command;
mod list_process_handles;
mod start_command;
mod write_stdin;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use umbo_engine::{Command, End, Job, Login, Outcome, Request, Shell, Status, Summary};

use super::{Dialect, as_it_is, refuse};
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::arguments::Arguments;
use crate::call::{Call, text};
use crate::guidance::Guidance;
use crate::tool::Definition;
use crate::toolset::Toolset;

pub(super) const DIALECT: Dialect = Dialect {
    name: "lash",
    instructions: "",
    tools: &[
        Definition {
            name: "exec_command",
            words: include_str!("exec_command.md"),
            contract: include_str!("exec_command.json"),
            run: exec_command::run,
        },
        Definition {
            name: "start_command",
            words: include_str!("start_command.md"),
            contract: include_str!("start_command.json"),
            run: start_command::run,
        },
        Definition {
            name: "write_stdin",
            words: include_str!("write_stdin.md"),
            contract: include_str!("write_stdin.json"),
            run: write_stdin::run,
        },
        Definition {
            name: "list_process_handles",
            words: include_str!("list_process_handles.md"),
            contract: include_str!("list_process_handles.json"),
            run: list_process_handles::run,
        },
        Definition {
            name: "cancel_process",
            words: include_str!("cancel_process.md"),
            contract: include_str!("cancel_process.json"),
            run: cancel_process::run,
        },
    ],
    prefers_bash: true,
    tells_in_structure: false,
    refusal: refuse,
    fields: &[("command", "cmd"), ("cwd", "workdir")],
    shape: ToolError::to_value,
    guidance,
    tailor: as_it_is,
    is_enabled: |_| true,
    event,
    sentence: |_, event| event.to_string(),
};

/// The label of a process whose nonzero exit code is a result.
const ALLOW_NONZERO: &str = "allow_nonzero_exit";
/// The label that says how many tokens of a process's output are told.
const MOST_TOKENS: &str = "max_output_tokens";
/// Processes that ended are listed for so many seconds, and so many of them.
const SHOWN: (u64, usize) = (300, 100);
/// What a call that nobody waits for any more answers.
const CANCELLED: &str = "tool call cancelled";

/// What goes into the system prompt; a tool is mentioned only if it can be called.
fn guidance(tools: &Toolset) -> Vec<Guidance> {
    let mut execution = include_str!("execution.md").trim().to_owned();
    if tools.tool("write_stdin").is_some() {
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

/// The request that the fields common to both starts make.
fn request(call: &Call<'_>, arguments: &Arguments) -> Result<Request, ToolError> {
    let given = |name: &str| arguments.text(name).filter(|text| !text.is_empty());
    let mut request = call.request(given("cmd").unwrap_or_default(), given("workdir"));
    if let Command::Shell { shell, login, .. } = &mut request.command {
        match (given("shell"), call.variable("SHELL")) {
            (Some(name), _) => *shell = call.shell_named(name)?,
            (None, Some(path)) if std::path::Path::new(&path).is_file() => {
                *shell = Shell::Path(path.into());
            }
            (None, _) => {}
        }
        if arguments.flag("login") {
            *login = Login::Yes;
        }
    }
    Ok(request)
}

/// What a command that ended has to tell, and the sentence it fails with if it may not end so.
fn result(
    call: &Call<'_>,
    job: &Job,
    outcome: &Outcome,
    most_tokens: Option<u64>,
    timeout_ms: u64,
) -> Result<(Value, Option<String>), ToolError> {
    let view = call.view(job, 0, None, call.budget(most_tokens))?;
    let mut value = json!({
        "output": text(&view),
        "status": "completed",
        "done": true,
        "running": false,
        "wall_time_seconds": outcome.duration().as_secs_f64(),
    });
    if view.truncated {
        value["original_token_count"] = json!(view.original_tokens);
        value["full_output_path"] = json!(job.output_path().display().to_string());
    }
    let failure = match &outcome.end {
        End::TimedOut { .. } => {
            value["status"] = json!("timed_out");
            value["timed_out"] = json!(true);
            let failure = format!("Command timed out after {timeout_ms} ms");
            // Said even where it is no failure: the result has no other word for it.
            value["error"] = json!(failure);
            Some(failure)
        }
        End::Stopped { .. } => return Err(ToolError::new(ErrorCode::Cancelled, CANCELLED)),
        End::FailedToStart { why } => return Err(ToolError::new(ErrorCode::FailedToStart, why)),
        End::Lost { .. } => {
            return Err(ToolError::new(ErrorCode::Lost, "what became of it is not known"));
        }
        End::Exited { .. } | End::Signaled { .. } => {
            let signal = outcome.signal().map(|signal| 128 + signal);
            let code = outcome.exit_code().or(signal).unwrap_or(-1);
            value["exit_code"] = json!(code);
            (code != 0).then(|| format!("Command exited with code {code}"))
        }
    };
    Ok((value, failure))
}

/// Whether a process may end with a nonzero code.
fn allows_nonzero(labels: &BTreeMap<String, String>) -> bool {
    labels.contains_key(ALLOW_NONZERO)
}

/// The handle of a process.
fn handle(id: &str, status: &Status, allows_nonzero: bool) -> Value {
    let is_running = !matches!(status, Status::Ended(_));
    let word = match status {
        Status::Created | Status::Started { .. } => "running",
        Status::Ended(outcome) => match &outcome.end {
            End::Stopped { .. } => "cancelled",
            End::Exited { .. } | End::Signaled { .. } if allows_nonzero => "completed",
            _ if outcome.success() => "completed",
            _ => "failed",
        },
    };
    json!({
        "__handle__": "process",
        "id": id,
        "process_id": id,
        "status": word,
        "done": !is_running,
        "running": is_running,
    })
}

/// The process that an id means.
fn process(call: &Call<'_>, arguments: &Arguments) -> Result<(String, Job), ToolError> {
    let id = arguments.text("process_id").unwrap_or_default();
    if let Some(job) = call.named(id) {
        return Ok((id.to_owned(), job));
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
    Ok(call.own(SHOWN.0, SHOWN.1, |summary| summary.name.is_some())?)
}

/// What is told when a process has ended: its handle, with its result or the error it ended with.
fn event(call: &Call<'_>, summary: &Summary) -> Option<Value> {
    let id = summary.name.as_deref()?;
    let Status::Ended(outcome) = &summary.status else { return None };
    let job = call.tools.engine.job(summary.job.as_str()).ok()?;
    let allows_nonzero = allows_nonzero(&summary.labels);
    let tokens = summary.labels.get(MOST_TOKENS).and_then(|digits| digits.parse().ok());
    let mut event = handle(id, &summary.status, allows_nonzero);
    match result(call, &job, outcome, tokens, 0) {
        Ok((mut result, failure)) => {
            if let Some(failure) = failure.filter(|_| !allows_nonzero) {
                result["error"] = json!(failure);
            }
            event["result"] = result;
        }
        Err(error) => event["error"] = json!(error.message),
    }
    Some(event)
}
