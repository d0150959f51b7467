//! `task_output`: what a task wrote so far.

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::Status;
use umbo_ops::Call;

use super::{ListedTask, TaskWithOutput, task, unknown};
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As given by Bash
    task_id: String,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<TaskWithOutput>, ToolError> {
    let id = arguments.task_id;
    let (job, summary) = task(call, &id).ok_or_else(|| unknown(&id))?;
    let mut output = call.text(&job, None, call.budget(None))?;
    if let Status::Ended(outcome) = &summary.status {
        call.told(&job);
        output = with_denials(output, outcome);
    }
    let task = ListedTask::of(&summary);
    let text = format!("status: {}\n{output}", task.status.as_str());
    Ok(Answer::new(TaskWithOutput { task, output }, text).of_job(&job))
}
