//! `jobs`: what runs, and what ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{Scope, Summary};

use crate::answer::ListedJob;
use crate::call::{Call, Whose};
use crate::error::Error;
use crate::values::Count;

/// Which jobs to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobsRequest {
    /// Whose jobs; the caller's own unless given.
    #[schemars(description = "")]
    pub scope: Option<WhoseJobs>,
    /// Which of those that ended; the recent ones unless given.
    #[schemars(description = "")]
    pub ended: Option<EndedJobs>,
    /// How many of the newest; all unless given.
    #[schemars(description = "Newest [50]", range(min = 1))]
    pub limit: Option<Count>,
}

/// Whose jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum WhoseJobs {
    /// The caller's own.
    #[schemars(description = "")]
    Mine,
    /// All of the state directory.
    #[schemars(description = "")]
    All,
}

/// Which of the jobs that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum EndedJobs {
    /// Those that ended a moment ago.
    #[schemars(description = "")]
    Recent,
    /// All that are on disk.
    #[schemars(description = "")]
    All,
}

/// A list of jobs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct JobsAnswer {
    /// The jobs, oldest first.
    pub jobs: Vec<ListedJob>,
    /// How many older ones are not listed.
    pub omitted: Option<usize>,
    /// What the engine knows of them, for whoever prints them.
    #[serde(skip)]
    #[schemars(skip)]
    pub summaries: Vec<Summary>,
}

impl JobsAnswer {
    /// What a model needs of it: not its own name at each of its jobs.
    #[must_use]
    pub fn brief(mut self, request: &JobsRequest) -> Self {
        if request.scope != Some(WhoseJobs::All) {
            for job in &mut self.jobs {
                job.owner = None;
            }
        }
        self
    }
}

/// Lists jobs.
pub fn jobs(call: &Call<'_>, request: &JobsRequest) -> Result<JobsAnswer, Error> {
    let whose = match request.scope {
        Some(WhoseJobs::All) => Whose::Everybodys,
        Some(WhoseJobs::Mine) | None => Whose::Mine,
    };
    let scope = match request.ended {
        Some(EndedJobs::All) => Scope::All,
        Some(EndedJobs::Recent) | None => Scope::Recent,
    };
    let mut summaries = call.jobs(whose, scope)?;
    let limit = request.limit.map_or(usize::MAX, Count::to_usize);
    let omitted = summaries.len().saturating_sub(limit);
    summaries.drain(..omitted);
    Ok(JobsAnswer {
        jobs: summaries.iter().map(ListedJob::new).collect(),
        omitted: Some(omitted).filter(|omitted| *omitted > 0),
        summaries,
    })
}
