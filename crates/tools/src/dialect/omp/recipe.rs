//! `recipe`: a task of the project, by `bash`. It is offered only where there are tasks, and its
//! description names them.

use std::fmt::Write as _;

use serde_json::json;
use umbo_recipes::prompt::{self, Prompt, PromptTask};
use umbo_recipes::select::omp as select;

use super::{bash, error};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::toolset::Toolset;

pub(super) const NAME: &str = "recipe";

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    // Looked at again: what the project has now counts, not what it had when the caller came.
    let folder =
        call.tools.tasks_of(&call.tools.directory).map_err(|problem| error(problem.to_string()))?;
    let op = arguments.text("op").unwrap_or_default();
    let selection =
        select::resolve(&folder.project, op).map_err(|problem| error(problem.to_string()))?;
    let mut command = json!({"command": selection.command});
    if selection.directory != "." {
        command["cwd"] = json!(selection.directory);
    }
    let arguments = Arguments::new(command, &call.tools.masker);
    let scripts = folder.scripts_of(&selection);
    bash::run(&call.for_recipe(op, selection.task.as_ref(), &scripts), &arguments)
}

/// Takes the tool away where there is no task, and tells what there is elsewhere.
pub(in crate::dialect) fn arrange(toolset: &mut Toolset) {
    if toolset.tool(NAME).is_none() {
        return;
    }
    let folder = toolset.tasks_of(&toolset.directory);
    let prompt =
        folder.map_or(Prompt { runners: Vec::new() }, |folder| prompt::model(&folder.project));
    if prompt.runners.is_empty() {
        toolset.tools_mut().retain(|tool| tool.name != NAME);
    }
    for tool in toolset.tools_mut().iter_mut().filter(|tool| tool.name == NAME) {
        tool.description.push_str(&described(&prompt));
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
