//! The todo list of a session: phases with tasks. The model keeps it, the user sees it.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of the entries that say what the list is.
pub(crate) const TODOS: &str = "todos";

/// Tasks that belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The name by which a host tells it apart, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What they are about.
    pub name: String,
    /// The tasks.
    #[serde(default)]
    pub tasks: Vec<Task>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The name by which a host tells it apart, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What.
    pub content: String,
    /// How it stands.
    #[serde(default)]
    pub status: TaskStatus,
}

/// How a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// It will not be done.
    Abandoned,
}

/// The list that an entry keeps.
pub(crate) fn read(data: Option<&Value>) -> Vec<Phase> {
    data.and_then(|data| serde_json::from_value(data.clone()).ok()).unwrap_or_default()
}

/// A list in lines, with how much of it is done.
pub fn show_todos(phases: &[Phase]) -> String {
    let tasks = || phases.iter().flat_map(|phase| &phase.tasks);
    if tasks().next().is_none() {
        return "The todo list is empty.".to_owned();
    }
    let is_over =
        |task: &&Task| matches!(task.status, TaskStatus::Completed | TaskStatus::Abandoned);
    let mut text = format!("Todo: {} of {} done", tasks().filter(is_over).count(), tasks().count());
    for phase in phases {
        // A list without phases is one phase without a name.
        if !phase.name.is_empty() {
            let _ = write!(text, "\n{}", phase.name);
        }
        for task in &phase.tasks {
            let mark = match task.status {
                TaskStatus::Pending => "[ ]",
                TaskStatus::InProgress => "[>]",
                TaskStatus::Completed => "[x]",
                TaskStatus::Abandoned => "[-]",
            };
            let _ = write!(text, "\n  {mark} {}", task.content.replace('\n', " "));
        }
    }
    text
}
