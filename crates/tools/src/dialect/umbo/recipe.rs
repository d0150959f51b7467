//! `recipe`: the tasks of the project, listed or run.

use std::fmt::Write as _;
use std::path::PathBuf;

use regex::bytes::Regex;
use serde_json::{Value, json};
use umbo_engine::{Condition, OnDisconnect, Request, Stdin};
use umbo_recipes::select::{Selection, umbo as select};
use umbo_recipes::{Error, Program, Runner, Task, Visibility, quote};

use super::exec::{self, YIELD};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError, compact};
use crate::arguments::Arguments;
use crate::call::{Call, Ran};
use umbo_ops::project::{Described, Folder, Listing, Runs};

/// As many tasks as a reader can take.
const LISTED: usize = 50;

/// What only a run needs.
const OF_A_RUN: [&str; 6] = ["args", "timeout", "yield", "limits", "background", "ready"];

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let given = |field: &&&str| arguments.get(field).is_some();
    let Some(op) = arguments.text("op") else {
        if let Some(field) = OF_A_RUN.iter().find(given) {
            let message =
                "it was given without `op`; accepted: an `op` that names the task beside it";
            return Err(ToolError::argument(field, message));
        }
        return list(call, &folder(call, arguments)?, arguments.text("filter"));
    };
    if given(&&"filter") {
        let message = "it was given beside `op`; accepted: `filter` to list, or `op` to run";
        return Err(ToolError::argument("filter", message));
    }
    let folder = folder(call, arguments)?;
    let selection = selected(&folder, op, arguments)?;
    execute(call, arguments, &folder, &selection)
}

/// Where to look: in the project of the caller, and nowhere else.
fn folder(call: &Call<'_>, arguments: &Arguments) -> Result<Folder, ToolError> {
    let wrong = |error: &dyn std::fmt::Display| ToolError::argument("cwd", error);
    let here = std::path::absolute(&call.tools.directory).map_err(|error| wrong(&error))?;
    let project = umbo_gate::project_of(&here);
    let place: PathBuf = here.join(call.directory(arguments.text("cwd")));
    let place = umbo_gate::restrict_to_project(&place, &project).map_err(|error| wrong(&error))?;
    call.tools.tasks_near(&place, &project).map_err(|error| wrong(&error))
}

fn selected(folder: &Folder, op: &str, arguments: &Arguments) -> Result<Selection, ToolError> {
    let wrong = |error: Error| ToolError::argument("op", error);
    let words = quote::split(op).ok_or_else(|| {
        ToolError::argument("op", format!("a quote is left open in {op:?}; close it"))
    })?;
    let mut words = words.into_iter();
    let selector = words.next().unwrap_or_default();
    let words: Vec<String> = words.chain(arguments.texts("args").unwrap_or_default()).collect();
    let selection = select::resolve_words(&folder.project, &selector, &words).map_err(wrong)?;
    match folder.missing(&selection) {
        Some(message) => Err(ToolError::new(ErrorCode::NoRunner, message)),
        None => Ok(selection),
    }
}

fn execute(
    call: &Call<'_>,
    arguments: &Arguments,
    folder: &Folder,
    selection: &Selection,
) -> Result<Answer, ToolError> {
    let ready = match arguments.text("ready") {
        Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
            ToolError::argument("ready", format!("{pattern:?} is no pattern: {error}"))
        })?),
        None => None,
    };
    let background = arguments.flag("background") || ready.is_some();
    let request = request(call, arguments, folder, selection, background)?;
    let name = selection.task.as_ref().map_or("", |task| task.name.as_str());
    let scripts = folder.scripts_of(selection);
    let gated = call.for_recipe(name, selection.task.as_ref(), &scripts);
    let patience = arguments.seconds("yield").unwrap_or(YIELD);
    let mut reason = None;
    let ran = if background {
        let job = gated.start(&request)?;
        if let Some(pattern) = ready {
            let conditions = vec![Condition::Match { pattern, from: 0 }, Condition::Exit];
            reason = Some(super::reason(&call.wait(&job, conditions, patience)?));
        }
        Ran::Running(job)
    } else {
        gated.run(&request, patience)?
    };
    let mut answer = exec::answer(call, arguments, &ran)?;
    answer.structured["runner"] = json!(selection.runner);
    answer.structured["task"] = json!(name);
    answer.structured["command"] = json!(selection.command);
    if let Some(reason) = reason {
        answer.structured["reason"] = json!(reason);
    }
    Ok(answer)
}

fn request(
    call: &Call<'_>,
    arguments: &Arguments,
    folder: &Folder,
    selection: &Selection,
    background: bool,
) -> Result<Request, ToolError> {
    let mut request = folder.request(selection);
    let usual = call.request("", None);
    request.env = usual.env;
    request.owner = usual.owner;
    request.limits.wall = arguments.seconds("timeout").or(call.tools.timeout);
    exec::limits(&mut request, arguments.get("limits"))?;
    (request.stdin, request.on_disconnect) = if background {
        (Stdin::Open, OnDisconnect::Detach)
    } else {
        (Stdin::None, OnDisconnect::Stop)
    };
    Ok(request)
}

fn list(call: &Call<'_>, folder: &Folder, filter: Option<&str>) -> Result<Answer, ToolError> {
    let wanted = filter.map(str::to_lowercase);
    let is_wanted = |task: &Task| match &wanted {
        None => task.visibility == Visibility::Listed,
        Some(wanted) => {
            let doc = task.doc.as_deref().unwrap_or_default();
            let text = format!("{}:{} {doc}", task.runner, task.name).to_lowercase();
            text.contains(wanted.as_str())
        }
    };
    let listing = Listing::new(folder, &Runs::of(&call.tools.engine)?, is_wanted);
    let omitted = listing.tasks.len().saturating_sub(LISTED);
    let shown = || listing.tasks.iter().take(LISTED);
    let told = |task| short(&listing, task);
    let mut value = json!({
        "root": listing.root,
        "runners": listing.runners.iter().map(runner).collect::<Vec<_>>(),
        "tasks": shown().map(told).collect::<Vec<_>>(),
    });
    let mut text: String = shown().map(line).collect();
    if text.is_empty() {
        text.push_str(match filter {
            Some(_) => "no task has that in its name or doc",
            None => "no tasks: no package.json, Cargo.toml, Makefile, justfile, …",
        });
    }
    if omitted > 0 {
        value["omitted"] = json!(omitted);
        let _ = write!(text, "{omitted} more are not listed; give a `filter`");
    }
    for trouble in listing.runners.iter().flat_map(troubles) {
        let _ = write!(text, "\n[umbo: {trouble}]");
    }
    Ok(Answer::new(compact(value), text))
}

/// A task without what a reader can do without: a model pays for each field.
fn short(listing: &Listing<'_>, task: &Described<'_>) -> Value {
    let mut value = serde_json::to_value(task).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        if task.directory == listing.root {
            map.remove("directory");
        }
        if !task.long_lived {
            map.remove("long_lived");
        }
    }
    compact(value)
}

fn line(task: &Described<'_>) -> String {
    let mut line = format!("{}:{}", task.runner, task.name);
    for parameter in &task.parameters {
        let _ = write!(line, " {parameter}");
    }
    let _ = write!(line, " [{}", task.risk);
    if task.long_lived {
        line.push_str(", long-lived");
    }
    if let (Some(state), Some(millis)) = (task.last_state, task.last_duration_ms) {
        let code = task.last_exit_code.map(|code| format!(" {code}")).unwrap_or_default();
        let _ = write!(line, ", last {state}{code} after {millis} ms");
    }
    let _ = writeln!(line, "] {}", task.doc.unwrap_or(&task.command));
    line
}

fn runner(runner: &Runner) -> Value {
    let missing = match &runner.program {
        Program::Found(_) => None,
        Program::Missing { name, get } => Some(format!("{name}: {get}")),
    };
    let problems: Vec<String> = runner.problems.iter().map(ToString::to_string).collect();
    json!({
        "id": runner.id,
        "tasks": runner.listed().count(),
        "missing": missing,
        "problems": problems,
    })
}

/// What stands in the way of a runner.
fn troubles(runner: &Runner) -> Vec<String> {
    let missing = match &runner.program {
        Program::Found(_) => None,
        Program::Missing { name, get } => {
            Some(format!("{} needs {name}, which is not installed; {get}", runner.label))
        }
    };
    missing.into_iter().chain(runner.problems.iter().map(ToString::to_string)).collect()
}
