//! What the description of omp's `recipe` tool says about a project, as data: its runners and at
//! most twenty tasks of each, with the command exactly as it will run.

use serde::Serialize;

use crate::{
    project::Project,
    select::omp::{self, TaskView, View},
};

/// The most tasks of one runner that a prompt shows.
pub const TASK_LIMIT: usize = 20;

/// The model of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The runners with tasks, in the order of the contract.
    pub runners: Vec<PromptRunner>,
}

/// A runner in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptRunner {
    /// Its id, for `<runner-id>:<task>`.
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// What stands in front of a task's name.
    pub command_prefix: String,
    /// The first tasks.
    pub tasks: Vec<PromptTask>,
    /// How many tasks are not shown.
    pub more: usize,
}

/// A task in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptTask {
    /// The name that selects it.
    pub name: String,
    /// Names of its declared parameters.
    pub parameters: Vec<String>,
    /// One line on what it does.
    pub doc: Option<String>,
    /// The command as it will run.
    pub command: String,
    /// Where it runs, when that is not the project.
    pub cwd: Option<String>,
}

/// The model of the prompt for a project; without runners the tool is not offered.
pub fn model(project: &Project) -> Prompt {
    Prompt { runners: omp::views(project).iter().map(runner).collect() }
}

fn runner(view: &View<'_>) -> PromptRunner {
    PromptRunner {
        id: view.id.to_owned(),
        label: view.label.clone(),
        command_prefix: view.command_prefix.clone(),
        tasks: view.tasks.iter().take(TASK_LIMIT).map(|one| task(view, one)).collect(),
        more: view.tasks.len().saturating_sub(TASK_LIMIT),
    }
}

fn task(view: &View<'_>, one: &TaskView<'_>) -> PromptTask {
    PromptTask {
        name: one.name.to_owned(),
        parameters: one.task.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        doc: one.task.doc.clone(),
        command: view.command(one),
        cwd: one.cwd.map(str::to_owned),
    }
}
