//! `recipe`: a task of the project, by `bash`. It is offered only where there are tasks, and its
//! description names them.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_ops::{Call, Caller};
use umbo_recipes::prompt::{self, Prompt, PromptTask};
use umbo_recipes::select::omp as select;

use super::result::{BashDetails, Output};
use super::{State, bash, error};
use crate::answer::{Answer, ToolError};
use crate::tool::Tool;

pub(super) const NAME: &str = "recipe";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Task and arguments, as `test`, `build --release`, `pkg-a/test`, `crate/bin/server`, `pkg:test --watch`
    op: String,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<BashDetails>>, ToolError> {
    // Looked at again: what the project has now counts, not what it had when the caller came.
    let folder = call
        .caller
        .tasks_of(&call.caller.directory)
        .map_err(|problem| error(problem.to_string()))?;
    let op = arguments.op.as_str();
    let selection =
        select::resolve(&folder.project, op).map_err(|problem| error(problem.to_string()))?;
    let cwd = (selection.directory != ".").then(|| selection.directory.clone());
    let command = bash::Arguments::of_command(selection.command.clone(), cwd);
    let scripts = folder.scripts_of(&selection);
    bash::run(state, &call.for_recipe(op, selection.task.as_ref(), &scripts), command)
}

/// Takes the tool away where there is no task, and tells what there is elsewhere.
pub(super) fn arrange(tools: &mut Vec<Tool>, caller: &Caller) {
    if !tools.iter().any(|tool| tool.name == NAME) {
        return;
    }
    let folder = caller.tasks_of(&caller.directory);
    let prompt =
        folder.map_or(Prompt { runners: Vec::new() }, |folder| prompt::model(&folder.project));
    if prompt.runners.is_empty() {
        tools.retain(|tool| tool.name != NAME);
    }
    for tool in tools.iter_mut().filter(|tool| tool.name == NAME) {
        tool.description.push_str(&caller.mask(&described(&prompt)));
    }
}

fn described(prompt: &Prompt) -> String {
    let mut text = String::new();
    for runner in &prompt.runners {
        let _ = write!(text, "\n\n{} ({}, `{}`):", runner.id, runner.label, runner.command_prefix);
        for task in &runner.tasks {
            let _ = write!(text, "\n- {}", line(task));
        }
        if runner.more > 0 {
            let _ = write!(text, "\n- … and {} more", runner.more);
        }
    }
    text
}

fn line(task: &PromptTask) -> String {
    let mut line = task.name.clone();
    for parameter in &task.parameters {
        let _ = write!(line, " <{parameter}>");
    }
    let _ = write!(line, ": `{}`", task.command);
    if let Some(cwd) = &task.cwd {
        let _ = write!(line, " in {cwd}");
    }
    if let Some(doc) = &task.doc {
        let _ = write!(line, ", {doc}");
    }
    line
}
