//! `project.recipe`: an operation for whichever runner the project has.

use std::time::Duration;

use serde_json::json;
use umbo_recipes::select::project_recipe as select;

use super::{TIMEOUT, execute, invalid};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let op = arguments.text("op").unwrap_or_default();
    if op.trim().is_empty() {
        return Err(invalid("op", "op must be a non-empty string"));
    }
    let directory = select::directory(&call.tools.directory, arguments.text("cwd"))
        .map_err(|error| invalid("cwd", error.to_string()))?;
    let folder =
        call.tools.tasks_of(&directory).map_err(|error| invalid("cwd", error.to_string()))?;
    let selection =
        select::resolve(&folder.project, op).map_err(|error| invalid("", error.to_string()))?;
    // A runner that was only chosen as a fallback gets the operation as it stands.
    let word = op.split_whitespace().next().unwrap_or_default();
    let suggested = selection.task.as_ref().and_then(|task| task.timeout.seconds());
    let suggested = suggested.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds).max(TIMEOUT));
    let timeout = call.tools.timeout.unwrap_or(suggested);
    let scripts = folder.scripts_of(&selection);
    let recipe = call.for_recipe(word, selection.task.as_ref(), &scripts);
    let ended = execute(&recipe, &selection.command, &directory, timeout)?;
    let value = json!({
        "runner": selection.runner,
        "command": selection.command,
        "stdout": ended.stdout,
        "stderr": "",
        "exit_code": ended.exit_code,
        "timed_out": ended.timed_out,
        "available_tasks": select::available_tasks(&folder.project),
    });
    let text = format!("$ {}\n{}", selection.command, ended.text());
    Ok(Answer::new(value, text))
}
