//! `task_stop`: the end of a task, which is told like any other. Of one that has ended, or that nobody
//! knows, it is none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Ladder, Status};
use umbo_ops::Call;

use super::{TaskStatus, ended, standing, task};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// As given by Bash
    task_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<TaskStatus>,
    message: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let id = arguments.task_id;
    let Some((job, summary)) = task(call, &id) else {
        let message = format!("task {id} not found; there is nothing to stop");
        return Ok(Answer::new(Output { id, status: None, message: message.clone() }, message));
    };
    let (status, message) = if matches!(summary.status, Status::Ended(_)) {
        let (status, _) = standing(&summary.status);
        (status, format!("task {id} is already {}", status.as_str()))
    } else {
        let (status, _) = ended(&job.stop(Ladder::default())?);
        (status, format!("task {id} {}", status.as_str()))
    };
    let output = Output { id, status: Some(status), message: message.clone() };
    Ok(Answer::new(output, message).of_job(&job))
}
