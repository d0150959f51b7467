//! The dialect `meerkat`: a shell that is off until somebody turns it on, and jobs behind it.
//!
//! What its document has for Rust programs is here too: [`JobManager`] with its types, over the same
//! jobs that the tools see.

mod blocked;
mod manager;
mod settings;
mod shell;
mod shell_job_cancel;
mod shell_job_status;
mod shell_jobs;
mod types;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use umbo_engine::{End, JobHandle, Status, Summary};
use umbo_ops::{Call, ErrorCode};
use umbo_view::Stream;

use super::{Dialect, Registered};
use crate::answer::ToolError;
use crate::completed::Completed;
use crate::cut::with_rest;
use crate::denied::with_denials;
use crate::schema::Problem;
use crate::tool::{Annotations, Tool};

pub use manager::JobManager;
pub use settings::ShellConfig;
pub use types::{BackgroundJob, JobCompleted, JobId, JobStatus, JobSummary};

use types::{lost, seconds};

pub(super) const REGISTERED: Registered = Registered {
    name: "meerkat",
    job_id: Meerkat::job_id,
    settings: settings::SETTINGS,
    secrets: &[],
    open: |host| {
        let project = host.project.map(std::path::Path::to_owned);
        Box::new(Meerkat::new(ShellConfig::new(host.settings), project))
    },
};

/// What is said while nobody has turned it on.
const DISABLED: &str = "the tools of meerkat are disabled; set `enabled = true` in [tools.shell], \
                        or UMBO_TOOLS_SHELL_ENABLED=true";
/// The label of a background job, which has its timeout in seconds.
const TIMEOUT: &str = "timeout_secs";

/// The dialect.
#[derive(Debug)]
pub struct Meerkat {
    state: Arc<State>,
}

/// What its tools share.
#[derive(Debug)]
struct State {
    config: ShellConfig,
    /// The project, if it is not the caller's directory.
    project: Option<PathBuf>,
    /// How many commands are waited for.
    busy: Mutex<usize>,
}

impl Meerkat {
    /// The dialect with these settings, for a project that is the caller's directory unless given.
    pub fn new(config: ShellConfig, project: Option<PathBuf>) -> Self {
        Self { state: Arc::new(State { config, project, busy: Mutex::default() }) }
    }
}

impl Dialect for Meerkat {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    /// None while it is switched off: a tool that always refuses is no use to a model.
    fn job_id(written: &str) -> Option<&str> {
        types::engine_id(written)
    }

    fn tools(&self) -> Vec<Tool> {
        let state = &self.state;
        if !state.config.enabled {
            return Vec::new();
        }
        vec![
            Tool::with_state(state, "shell", include_str!("shell.md"), shell::run).attending(),
            Tool::with_state(
                state,
                "shell_job_status",
                include_str!("shell_job_status.md"),
                shell_job_status::run,
            )
            .hints(Annotations::READS),
            Tool::with_state(state, "shell_jobs", include_str!("shell_jobs.md"), shell_jobs::run)
                .hints(Annotations::READS)
                // A list: clients know only objects here.
                .without_output_schema(),
            Tool::with_state(
                state,
                "shell_job_cancel",
                include_str!("shell_job_cancel.md"),
                shell_job_cancel::run,
            )
            .hints(Annotations::STOPS),
        ]
    }

    fn instructions(&self) -> String {
        if self.state.config.enabled { String::new() } else { DISABLED.to_owned() }
    }

    fn unknown_tool(&self, name: &str, tools: &[Tool]) -> ToolError {
        if !self.state.config.enabled {
            return ToolError::new(ErrorCode::ShellDisabled, DISABLED);
        }
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let message = format!("Unknown tool: {name}; there are: {}", names.join(" "));
        ToolError::new(ErrorCode::UnknownTool, message)
    }

    fn refuse(&self, _tool: &Tool, problem: &Problem) -> ToolError {
        ToolError::new(ErrorCode::InvalidArguments, problem.to_string())
    }

    /// An error as every tool of this dialect tells it: a code, a sentence, and what the gate adds.
    fn shape(&self, error: &ToolError) -> Value {
        let mut shape = json!({"error": error.code, "message": error.message});
        for (name, value) in error.details() {
            shape[name] = value;
        }
        shape
    }

    /// The event that its router would send, and the message that an agent's loop makes of it.
    fn completed(&self, call: &Call<'_>, summary: &Summary) -> Option<Completed> {
        let data = completed(call, summary)?;
        let message = json!({"type": "background_job_completed", "data": data}).to_string();
        let event = json!({"event_type": "shell_job_completed", "data": data});
        Some(Completed::new(summary, &event, message).as_message())
    }
}

/// What is told of a background job that has ended, however it did.
fn completed(call: &Call<'_>, summary: &Summary) -> Option<JobCompleted> {
    if !is_background(summary) {
        return None;
    }
    let job = call.caller.backend.job(summary.job.as_str()).ok()?;
    Some(JobCompleted {
        job_id: JobId::of(&summary.job),
        command: summary.command.clone(),
        result: status(call, &job, summary).ok()?,
    })
}

/// The error of a job that could not be run, in the words of this dialect.
fn failed(problem: umbo_ops::Error) -> ToolError {
    match problem.code {
        // The gate's words are its own.
        ErrorCode::Denied | ErrorCode::ApprovalRequired | ErrorCode::Expired => problem.into(),
        ErrorCode::InvalidArgument => ToolError::new(ErrorCode::InvalidArguments, problem.message),
        _ => io_error(&problem.message),
    }
}

fn io_error(what: &str) -> ToolError {
    ToolError::new(ErrorCode::IoError, format!("IO error: {what}"))
}

impl State {
    /// The background jobs there are: those that run, and those that ended and are still remembered.
    fn jobs(&self, call: &Call<'_>) -> Result<Vec<Summary>, ToolError> {
        let config = &self.config;
        Ok(call.own(config.completed_job_ttl_secs, config.max_completed_jobs, is_background)?)
    }

    /// The background job that an id means.
    fn job(&self, call: &Call<'_>, id: &JobId) -> Result<(JobHandle, Summary), ToolError> {
        let unknown = || ToolError::new(ErrorCode::JobNotFound, format!("Job not found: {id}"));
        let ulid = id.engine_id().ok_or_else(unknown)?;
        let summary = self.jobs(call)?.into_iter().find(|summary| summary.job.as_str() == ulid);
        let summary = summary.ok_or_else(unknown)?;
        let job = call.caller.backend.job(ulid).map_err(|_| unknown())?;
        Ok((job, summary))
    }
}

fn is_background(summary: &Summary) -> bool {
    summary.labels.contains_key(TIMEOUT)
}

/// A background job, whole.
fn background_job(
    call: &Call<'_>,
    job: &JobHandle,
    summary: &Summary,
) -> Result<BackgroundJob, ToolError> {
    let timeout = summary.labels.get(TIMEOUT).and_then(|digits| digits.parse().ok());
    Ok(BackgroundJob {
        id: JobId::of(&summary.job),
        command: summary.command.clone(),
        working_dir: Some(summary.cwd.clone()),
        timeout_secs: timeout.unwrap_or_default(),
        status: status(call, job, summary)?,
    })
}

/// Where a job is in its life.
fn status(call: &Call<'_>, job: &JobHandle, summary: &Summary) -> Result<JobStatus, ToolError> {
    let outcome = match &summary.status {
        Status::Created => {
            return Ok(JobStatus::Running { started_at_unix: seconds(summary.created_at) });
        }
        Status::Started { at, .. } => {
            return Ok(JobStatus::Running { started_at_unix: seconds(*at) });
        }
        Status::Ended(outcome) => outcome,
    };
    let duration_secs = outcome.duration().as_secs_f64();
    let output = |stream| output(call, job, stream);
    Ok(match &outcome.end {
        End::Exited { .. } | End::Signaled { .. } => JobStatus::Completed {
            exit_code: outcome.exit_code(),
            stdout: output(Stream::Stdout)?,
            stderr: with_denials(output(Stream::Stderr)?, outcome),
            duration_secs,
        },
        End::TimedOut { .. } => JobStatus::TimedOut {
            stdout: output(Stream::Stdout)?,
            stderr: with_denials(output(Stream::Stderr)?, outcome),
            duration_secs,
        },
        End::Stopped { .. } => JobStatus::Cancelled { duration_secs },
        End::FailedToStart { why } => JobStatus::Failed { error: why.clone(), duration_secs },
        End::Lost { reason } => {
            JobStatus::Failed { error: lost(*reason).to_owned(), duration_secs }
        }
    })
}

/// What one stream of a job told, and where all of it is if that is too much.
fn output(call: &Call<'_>, job: &JobHandle, stream: Stream) -> Result<String, ToolError> {
    let file = format!("offsets are those of {}", call.output_file(job).display());
    with_rest(call, job, Some(stream), &file)
}
