//! The dialect `lash`: commands that finish, processes that stay, and handles to them.

mod cancel_process;
mod exec_command;
mod list_process_handles;
mod start_command;
mod write_stdin;

use serde_json::{Value, json};
use umbo_engine::{Command, Job, Login, Request, Shell, Status};

use super::{Dialect, refuse};
use crate::answer::ToolError;
use crate::arguments::Arguments;
use crate::call::Call;
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
    guidance,
    is_enabled: |_| true,
    event: crate::news::event,
};

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
            (Some(name), _) => *shell = Shell::parse(name)?,
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

/// The handle of a process.
fn handle(id: &str, status: &Status) -> Value {
    let is_running = !matches!(status, Status::Ended(_));
    let word = match status {
        Status::Created | Status::Started { .. } => "running",
        Status::Ended(outcome) => match &outcome.end {
            umbo_engine::End::Stopped { .. } => "cancelled",
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
    match call.named(id) {
        Some(job) => Ok((id.to_owned(), job)),
        None => Err(ToolError::new("unknown_process", format!("unknown process `{id}`"))),
    }
}
