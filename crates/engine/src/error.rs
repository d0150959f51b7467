//! The one error type of the engine. Each variant names the operation and its nouns, and its text
//! tells the reader what to do next. Nothing here can hold an environment value.

use std::io;
use std::path::PathBuf;

/// Why the engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `umbo_engine::init()` was not called.
    #[error(
        "this program did not call umbo_engine::init() at the top of main, so it cannot start \
         supervisors; add that call, or name an umbo binary with Builder::supervisor"
    )]
    NotInitialised,
    /// A supervisor could not be started.
    #[error("cannot start a supervisor from {}: {source}", program.display())]
    Supervisor {
        /// The executable that was to become the supervisor.
        program: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A supervisor ended or answered nonsense before it took the job.
    #[error("the supervisor ended before it took the job: {0}")]
    SupervisorGone(String),
    /// The state directory cannot be used.
    #[error("cannot use the state directory {}: {source}; set UMBO_STATE_DIR to a writable place", path.display())]
    State {
        /// The directory or the file in it.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A file of a job cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A field of a request is wrong.
    #[error("{field}: {problem}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// The wanted shell is not on this machine.
    #[error("shell: {name} is not installed; {hint}")]
    NoShell {
        /// The shell asked for.
        name: String,
        /// How to get it.
        hint: &'static str,
    },
    /// No job has that id, prefix or name.
    #[error("no job {0:?}; `umbo jobs --all` lists them")]
    UnknownJob(String),
    /// A prefix that fits several jobs.
    #[error("{prefix:?} fits {} jobs: {}; give more letters", matches.len(), matches.join(", "))]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// The jobs it fits.
        matches: Vec<String>,
    },
    /// As many jobs run as may.
    #[error(
        "{running} jobs are running, the most allowed; stop one, wait, or allow more \
         (UMBO_MAX_RUNNING, or max_running in the configuration)"
    )]
    Full {
        /// How many run.
        running: usize,
    },
    /// An idempotency key that was used for another request.
    #[error("idempotency_key: {key:?} was used for another request (job {job}); use a new key")]
    KeyReused {
        /// The key.
        key: String,
        /// The job it started.
        job: String,
    },
    /// The job has ended, so it takes no input and cannot be stopped.
    #[error("job {0} has ended")]
    Ended(String),
    /// The job's supervisor refused.
    #[error("{0}")]
    Refused(String),
    /// The job's supervisor did not answer in time.
    #[error(
        "the supervisor of job {job} did not answer within {seconds} s; `umbo stop --kill {job}` ends it from outside"
    )]
    Unresponsive {
        /// The job.
        job: String,
        /// How long was waited.
        seconds: u64,
    },
}

/// The engine's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid_argument",
            Self::UnknownJob(_) | Self::Ambiguous { .. } => "unknown_job",
            Self::Ended(_) => "job_ended",
            Self::Full { .. } => "too_many_jobs",
            Self::KeyReused { .. } => "key_reused",
            Self::NoShell { .. } => "no_shell",
            Self::Refused(_) => "refused",
            Self::Unresponsive { .. } => "unresponsive",
            Self::NotInitialised
            | Self::Supervisor { .. }
            | Self::SupervisorGone(_)
            | Self::State { .. }
            | Self::File { .. } => "internal",
        }
    }

    /// The field of the request that is wrong, if one is.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Invalid { field, .. } => Some(field),
            Self::KeyReused { .. } => Some("idempotency_key"),
            Self::NoShell { .. } => Some("shell"),
            _ => None,
        }
    }

    /// Its text without the field in front, for a caller that has another name for the field.
    pub fn problem(&self) -> String {
        match self {
            Self::Invalid { problem, .. } => problem.clone(),
            other => other.to_string(),
        }
    }

    pub(crate) fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }

    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }

    pub(crate) fn state(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::State { path, source }
    }
}
