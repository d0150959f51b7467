//! `shell_job_status`: how a background job stands.

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_ops::Call;

use super::{BackgroundJob, JobId, State, background_job};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// The job ID to check
    job_id: JobId,
}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<BackgroundJob>, ToolError> {
    let (job, summary) = state.job(call, &arguments.job_id)?;
    Ok(Answer::json(background_job(call, &job, &summary)?).of_job(&job))
}
