//! `shell_job_cancel`: the end of a background job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{End, Ladder, Status};
use umbo_ops::{Call, ErrorCode};

use super::{JobId, State, io_error};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The job ID to cancel
    job_id: JobId,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    job_id: JobId,
    status: Cancelled,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Cancelled {
    Cancelled,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output>, ToolError> {
    cancel(state, call, &arguments.job_id)?;
    Ok(Answer::json(Output { job_id: arguments.job_id, status: Cancelled::Cancelled }))
}

/// Ends a job that runs.
pub(super) fn cancel(state: &State, call: &Call<'_>, id: &JobId) -> Result<(), ToolError> {
    let (job, summary) = state.job(call, id)?;
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
    Ok(())
}
