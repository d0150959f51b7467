//! `task_list`: every background task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::{Call, outlasted};

use super::{LISTED, ListedTask};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    tasks: Vec<ListedTask>,
}

pub(super) fn run(call: &Call<'_>, _: Arguments) -> Result<Answer<Output>, ToolError> {
    let tasks = call.own(LISTED.0, LISTED.1, outlasted)?;
    let tasks: Vec<ListedTask> = tasks.iter().map(ListedTask::of).collect();
    let line =
        |task: &ListedTask| format!("{} {}: {}", task.id, task.status.as_str(), task.command);
    let mut lines: Vec<String> = tasks.iter().map(line).collect();
    if lines.is_empty() {
        lines.push("no background tasks".to_owned());
    }
    Ok(Answer::new(Output { tasks }, lines.join("\n")))
}
