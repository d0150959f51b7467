//! `task_output`: what a task wrote so far.

use serde_json::json;
use umbo_engine::Status;

use super::{task, told};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let (job, summary) = task(call, arguments.text("task_id").unwrap_or_default())?;
    if matches!(summary.status, Status::Ended(_)) {
        call.told(&job);
    }
    let output = call.text(&job, None, call.budget(None))?;
    let mut value = told(&summary);
    let text = format!("status: {}\n{output}", value["status"].as_str().unwrap_or_default());
    value["output"] = json!(output);
    Ok(Answer::new(value, text))
}
