//! The same call by umbo.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use umbo_engine::{Condition, Engine, Met};
use umbo_tools::dialect::lash;
use umbo_tools::{Caller, ErrorCode, Owner, Ticket, ToolResult, Toolset};

use crate::cases::Case;
use crate::{Came, DEADLINE, has_come, without_place};

const PROCESS: &str = "call-1";

pub(crate) fn run(case: &Case, project: &Path, state: &Path) -> Result<Came, Box<dyn Error>> {
    let engine = Engine::builder(state).open()?;
    let owner = Owner::Named(project.display().to_string());
    let caller =
        Caller::builder(engine).directory(project).environment(std::env::vars_os()).owner(owner);
    let tools = Toolset::builder(caller).dialect("lash").build()?;
    if case.tool == "exec_command" {
        exec(case, project, &tools)
    } else {
        start(case, project, &tools)
    }
}

fn exec(case: &Case, project: &Path, tools: &Toolset) -> Result<Came, Box<dyn Error>> {
    let ticket = Ticket::default();
    std::thread::scope(|scope| {
        if case.is_cancelled {
            scope.spawn(|| {
                if comes(&project.join("ready")) {
                    ticket.cancel();
                }
            });
        }
        Ok(came(&tools.call(case.tool, case.arguments.clone(), &ticket), project))
    })
}

fn start(case: &Case, project: &Path, tools: &Toolset) -> Result<Came, Box<dyn Error>> {
    let ticket = Ticket::builder().id(PROCESS).build();
    let mut arguments = case.arguments.clone();
    if !case.typed.is_empty() {
        // The host has since turned off the echo of what is typed; so does the adapter.
        let line = case.arguments["cmd"].as_str().unwrap_or_default();
        arguments["cmd"] = json!(format!("stty -echo\n{line}"));
    }
    let started = tools.call(case.tool, arguments, &ticket);
    let Some(job) = &started.job else { return Ok(came(&started, project)) };
    if (case.is_cancelled || !case.typed.is_empty()) && !comes(&project.join("ready")) {
        return Ok(Came::Refused("it was never ready".to_owned()));
    }
    for typed in &case.typed {
        let mut arguments = typed.clone();
        arguments["process_id"] = json!(PROCESS);
        tools.call("write_stdin", arguments, &Ticket::default());
    }
    if case.is_cancelled {
        tools.call("cancel_process", json!({"process_id": PROCESS}), &Ticket::default());
    }
    if let Met::Deadline = tools.backend.job(job)?.wait(&[Condition::Exit], Some(DEADLINE))? {
        return Ok(Came::Refused("it took too long".to_owned()));
    }
    Ok(match lash::process_result(tools, PROCESS) {
        Ok(Some(result)) => ended(&result, project),
        Ok(None) => Came::Refused("it is not known".to_owned()),
        Err(error) if error.code == ErrorCode::Cancelled => Came::Cancelled,
        Err(error) => Came::Refused(error.message),
    })
}

fn comes(file: &Path) -> bool {
    let started = Instant::now();
    while !has_come(file) && started.elapsed() < DEADLINE {
        std::thread::yield_now();
    }
    has_come(file)
}

fn came(result: &ToolResult, project: &Path) -> Came {
    match result.error {
        Some(ErrorCode::Cancelled) => Came::Cancelled,
        _ if result.structured["status"].is_string() => ended(&result.structured, project),
        _ => Came::Refused(result.text.clone()),
    }
}

fn ended(result: &Value, project: &Path) -> Came {
    Came::Ended {
        status: result["status"].as_str().unwrap_or_default().to_owned(),
        exit_code: result["exit_code"].as_i64(),
        output: without_place(result["output"].as_str().unwrap_or_default(), project),
        has_file: result["full_output_path"].is_string(),
    }
}
