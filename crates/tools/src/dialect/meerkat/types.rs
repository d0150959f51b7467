//! The data types of the document: ids, statuses, jobs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::{End, LostReason, Status, Summary};

/// The id of a background job: `job_` and a ULID of 26 lower-case letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JobId(pub String);

/// How the ids of background jobs begin.
const PREFIX: &str = "job_";

impl JobId {
    /// The id of a job of the engine.
    pub(super) fn of(job: &umbo_engine::JobId) -> Self {
        Self(format!("{PREFIX}{job}"))
    }

    /// What the engine calls it; none if it is no such id.
    pub(super) fn engine_id(&self) -> Option<&str> {
        engine_id(&self.0)
    }
}

/// What the engine calls a job with this id; none if it is no such id.
pub(super) fn engine_id(written: &str) -> Option<&str> {
    written.strip_prefix(PREFIX).filter(|id| id.parse::<umbo_engine::JobId>().is_ok())
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a job is in its life, with what it told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of the document, and say what they are")]
pub enum JobStatus {
    /// It runs.
    Running { started_at_unix: u64 },
    /// It ended by itself; without a code if a signal ended it.
    Completed {
        exit_code: Option<i32>,
        stdout: String,
        stderr: String,
        #[schemars(range(min = 0))]
        duration_secs: f64,
    },
    /// It could not be run, or what became of it is not known.
    Failed {
        error: String,
        #[schemars(range(min = 0))]
        duration_secs: f64,
    },
    /// It took longer than its timeout.
    TimedOut {
        stdout: String,
        stderr: String,
        #[schemars(range(min = 0))]
        duration_secs: f64,
    },
    /// Somebody cancelled it.
    Cancelled {
        #[schemars(range(min = 0))]
        duration_secs: f64,
    },
}

/// A background job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackgroundJob {
    /// Its id.
    pub id: JobId,
    /// What it runs.
    pub command: String,
    /// Where.
    pub working_dir: Option<String>,
    /// For how long at most.
    pub timeout_secs: u64,
    /// Where it is in its life.
    pub status: JobStatus,
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobSummary {
    /// Its id.
    pub id: JobId,
    /// What it runs.
    pub command: String,
    /// `running`, `completed`, `failed`, `timed_out` or `cancelled`.
    pub status: String,
    /// When it started, in seconds since 1970.
    pub started_at_unix: u64,
}

impl JobSummary {
    pub(super) fn of(summary: &Summary) -> Self {
        let status = match &summary.status {
            Status::Created | Status::Started { .. } => "running",
            Status::Ended(outcome) => match &outcome.end {
                End::Exited { .. } | End::Signaled { .. } => "completed",
                End::TimedOut { .. } => "timed_out",
                End::Stopped { .. } => "cancelled",
                End::FailedToStart { .. } | End::Lost { .. } => "failed",
            },
        };
        Self {
            id: JobId::of(&summary.job),
            command: summary.command.clone(),
            status: status.to_owned(),
            started_at_unix: seconds(summary.started_at().unwrap_or(summary.created_at)),
        }
    }
}

/// What is told of a background job that has ended: the data of the event `shell_job_completed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobCompleted {
    /// The job.
    pub job_id: JobId,
    /// What it ran.
    pub command: String,
    /// How it ended.
    pub result: JobStatus,
}

/// Seconds of a time in microseconds.
pub(super) fn seconds(time: u64) -> u64 {
    time / 1_000_000
}

/// Why it is not known how a command ended.
pub(super) fn lost(reason: LostReason) -> &'static str {
    match reason {
        LostReason::SupervisorKilled => "its supervisor was killed",
        LostReason::Reboot => "the machine was restarted",
        LostReason::Damaged => "its files are damaged",
        other => other.name(),
    }
}
