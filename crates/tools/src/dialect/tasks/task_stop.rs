//! `task_stop`: the end of a task, which is told like any other. Of one that has ended it is none.

use serde_json::json;
use umbo_engine::{Ladder, Status};

use super::{ended, standing, task};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("task_id").unwrap_or_default();
    let (job, summary) = task(call, id)?;
    if matches!(summary.status, Status::Ended(_)) {
        let (status, _) = standing(&summary.status);
        let message = format!("task {id} is already {}", status.as_str());
        let value = json!({"id": id, "status": status.as_str(), "message": message});
        return Ok(Answer::new(value, message));
    }
    let (status, _) = ended(&job.stop(Ladder::default())?);
    let message = format!("task {id} {}", status.as_str());
    let value = json!({"id": id, "status": status.as_str(), "message": message});
    Ok(Answer::new(value, message))
}
