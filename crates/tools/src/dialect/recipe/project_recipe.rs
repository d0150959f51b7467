//! `project.recipe`: an operation for whichever runner the project has.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::Call;
use umbo_recipes::select::project_recipe as select;

use super::{DEFAULT_TIMEOUT, State, execute, invalid};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The operation to run, as "test" or "build --release"
    op: String,
    /// Working directory, relative to the project root; the root unless given
    cwd: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    runner: String,
    command: String,
    stdout: String,
    stderr: &'static str,
    exit_code: i32,
    timed_out: bool,
    available_tasks: BTreeMap<String, Vec<String>>,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output>, ToolError> {
    let op = arguments.op.as_str();
    if op.trim().is_empty() {
        return Err(invalid("op", "op must be a non-empty string"));
    }
    let directory = state.directory(call, arguments.cwd.as_deref())?;
    let folder =
        call.caller.tasks_of(&directory).map_err(|error| invalid("cwd", error.to_string()))?;
    let selection =
        select::resolve(&folder.project, op).map_err(|error| invalid("", error.to_string()))?;
    // A runner that was only chosen as a fallback gets the operation as it stands.
    let word = op.split_whitespace().next().unwrap_or_default();
    let suggested = selection.task.as_ref().and_then(|task| task.timeout.seconds());
    let timeout =
        suggested.map_or(DEFAULT_TIMEOUT, |secs| Duration::from_secs(secs).max(DEFAULT_TIMEOUT));
    let scripts = folder.scripts_of(&selection);
    let recipe = call.for_recipe(word, selection.task.as_ref(), &scripts);
    let ended = execute(&recipe, &selection.command, &directory, timeout)?;
    let text = format!("$ {}\n{}", selection.command, ended.text());
    let output = Output {
        runner: selection.runner.clone(),
        command: selection.command,
        stdout: ended.stdout,
        stderr: ended.stderr,
        exit_code: ended.exit_code,
        timed_out: ended.timed_out,
        available_tasks: select::available_tasks(&folder.project).into_iter().collect(),
    };
    Ok(Answer::new(output, text))
}
