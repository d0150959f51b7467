//! The `JobManager` of the document, for a Rust program: the same jobs that the tools see.

use umbo_ops::{Call, Ticket};

use super::{BackgroundJob, JobCompleted, JobId, JobSummary, Meerkat, background_job, completed};
use super::{shell, shell_job_cancel};
use crate::answer::ToolError;
use crate::toolset::Toolset;

/// The background jobs of a toolset in the dialect `meerkat`.
#[derive(Debug, Clone, Copy)]
pub struct JobManager<'a> {
    tools: &'a Toolset,
    dialect: &'a Meerkat,
}

impl<'a> JobManager<'a> {
    /// Those of a toolset; `None` if it speaks another dialect.
    pub fn of(tools: &'a Toolset) -> Option<Self> {
        Some(Self { tools, dialect: tools.dialect_as()? })
    }

    /// Starts a command in the background, in the project unless a directory in it is given, for as
    /// long as the settings say unless seconds are.
    pub fn spawn_job(
        &self,
        command: &str,
        working_dir: Option<&str>,
        timeout_secs: Option<u64>,
    ) -> Result<JobId, ToolError> {
        self.with_call(|call| {
            let seconds = timeout_secs.unwrap_or(self.dialect.state.config.default_timeout_secs);
            shell::spawn(&self.dialect.state, call, command, working_dir, seconds)
        })
    }

    /// A job, with where it is in its life and what it told. `None` if there is none of that id.
    pub fn get_status(&self, id: &JobId) -> Option<BackgroundJob> {
        self.with_call(|call| {
            let (job, summary) = self.dialect.state.job(call, id).ok()?;
            background_job(call, &job, &summary).ok()
        })
    }

    /// Ends a job that runs: SIGTERM, five seconds, SIGKILL.
    pub fn cancel_job(&self, id: &JobId) -> Result<(), ToolError> {
        self.with_call(|call| shell_job_cancel::cancel(&self.dialect.state, call, id))
    }

    /// The jobs there are, oldest first.
    pub fn list_jobs(&self) -> Result<Vec<JobSummary>, ToolError> {
        let jobs = self.with_call(|call| self.dialect.state.jobs(call))?;
        Ok(jobs.iter().map(JobSummary::of).collect())
    }

    /// What ended since the last time somebody asked, in the order in which it ended. Never waits;
    /// what is told here, no result tells.
    pub fn drain_completed(&self) -> Vec<JobCompleted> {
        self.with_call(|call| {
            let ended = self.tools.take_ended();
            ended.iter().filter_map(|summary| completed(call, summary)).collect()
        })
    }

    fn with_call<T>(&self, work: impl FnOnce(&Call<'_>) -> T) -> T {
        let ticket = Ticket::default();
        work(&Call::new(self.tools.caller(), &ticket))
    }
}
