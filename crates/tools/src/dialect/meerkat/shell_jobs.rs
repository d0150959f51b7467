//! `shell_jobs`: the background jobs.

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_ops::Call;

use super::{JobSummary, State};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {}

pub(super) fn run(
    state: &State,
    call: &Call<'_>,
    _: Arguments,
) -> Result<Answer<Vec<JobSummary>>, ToolError> {
    Ok(Answer::json(state.jobs(call)?.iter().map(JobSummary::of).collect()))
}
