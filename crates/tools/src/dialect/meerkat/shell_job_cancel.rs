//! `shell_job_cancel`: the end of a background job.

use serde_json::json;
use umbo_engine::{End, Ladder, Status};

use super::{io_error, job};
use umbo_ops::ErrorCode;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("job_id").unwrap_or_default();
    let (job, summary) = job(call, id)?;
    let not_running = || ToolError::new(ErrorCode::JobNotRunning, "Job is not running");
    if matches!(summary.status, Status::Ended(_)) {
        return Err(not_running());
    }
    // Its end is an event all the same.
    let outcome = job.stop(Ladder::default()).map_err(|cause| io_error(&cause.to_string()))?;
    // It may have ended by itself at the last moment; then that is how it ended.
    if !matches!(outcome.end, End::Stopped { .. }) {
        return Err(not_running());
    }
    let value = json!({"job_id": id, "status": "cancelled"});
    let text = value.to_string();
    Ok(Answer::new(value, text))
}
