//! The one error type of the engine. Each variant names the operation and its nouns; what a person
//! types to mend it is for the front end to say. Nothing here can hold an environment value.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Why the engine could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// `umbo_engine::init()` was not called.
    #[error(
        "no supervisor executable: this program did not call umbo_engine::init() at the top of \
         main; add that call, or name an executable that does with Builder::supervisor or \
         Builder::supervisor_on_path"
    )]
    NotInitialised,
    /// No supervisor executable was found by its name.
    #[error(
        "no supervisor executable: {name:?} is not in the search path ({searched}); install it, \
         name a path with Builder::supervisor, or call umbo_engine::init() at the top of main"
    )]
    NoSupervisor {
        /// The name.
        name: String,
        /// Where it was looked for.
        searched: String,
    },
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
    #[error("cannot use the state directory {}: {source}", path.display())]
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
    #[error("no job {0:?}")]
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
    #[error("{running} jobs are running, the most allowed")]
    Full {
        /// How many run.
        running: usize,
    },
    /// Another job has the session, and this one was not to wait, or is inside of that one.
    #[error("session: job {holder} has it")]
    SessionBusy {
        /// The job that has it.
        holder: String,
    },
    /// An idempotency key that was used for another request.
    #[error("idempotency_key: {key:?} was used for another request (job {job}); use a new key")]
    KeyReused {
        /// The key.
        key: String,
        /// The job it started.
        job: String,
    },
    /// Another live job has the name.
    #[error("name: job {job} has the name {name:?} and is live")]
    NameTaken {
        /// The name.
        name: String,
        /// The job that has it.
        job: String,
    },
    /// The job has ended, so it takes no input and cannot be stopped.
    #[error("job {0} has ended")]
    Ended(String),
    /// The job's supervisor refused.
    #[error("{0}")]
    Refused(String),
    /// The job's supervisor did not answer in time.
    #[error("the supervisor of job {job} did not answer within {seconds} s")]
    Unresponsive {
        /// The job.
        job: String,
        /// How long was waited.
        seconds: u64,
    },
    /// A command whose output was wanted did not end with code 0.
    #[error("{command:?} {how}{}", after(stderr))]
    Failed {
        /// The command.
        command: String,
        /// How it ended, in words.
        how: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// What another machine or process, which runs the job, answered.
    #[error("{message}")]
    Remote {
        /// The kind of the error there.
        kind: ErrorKind,
        /// Its text.
        message: String,
        /// The field of the request that is wrong, if one is.
        field: Option<String>,
        /// The job it is about, if it is about one.
        job: Option<String>,
    },
}

fn after(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {}", stderr.trim_end()) }
}

/// What kind of error it is, for programs: the same for an error of this machine and of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// A field of the request is wrong.
    InvalidArgument,
    /// No job has that id, prefix or name.
    UnknownJob,
    /// Several jobs have that prefix.
    AmbiguousJob,
    /// The job has ended.
    JobEnded,
    /// As many jobs run as may.
    TooManyJobs,
    /// Another job has the session.
    SessionBusy,
    /// The idempotency key was used for another request.
    KeyReused,
    /// The shell is not there.
    NoShell,
    /// The job's supervisor refused.
    Refused,
    /// The job's supervisor did not answer in time.
    Unresponsive,
    /// The command did not end with code 0.
    Failed,
    /// Something is wrong with the machine, the state directory or this library.
    Internal,
}

impl ErrorKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::UnknownJob => "unknown_job",
            Self::AmbiguousJob => "ambiguous_job",
            Self::JobEnded => "job_ended",
            Self::TooManyJobs => "too_many_jobs",
            Self::SessionBusy => "session_busy",
            Self::KeyReused => "key_reused",
            Self::NoShell => "no_shell",
            Self::Refused => "refused",
            Self::Unresponsive => "unresponsive",
            Self::Failed => "failed",
            Self::Internal => "internal",
        }
    }
}

/// The engine's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Invalid { .. } | Self::NameTaken { .. } => ErrorKind::InvalidArgument,
            Self::UnknownJob(_) => ErrorKind::UnknownJob,
            Self::Ambiguous { .. } => ErrorKind::AmbiguousJob,
            Self::Ended(_) => ErrorKind::JobEnded,
            Self::Full { .. } => ErrorKind::TooManyJobs,
            Self::SessionBusy { .. } => ErrorKind::SessionBusy,
            Self::KeyReused { .. } => ErrorKind::KeyReused,
            Self::NoShell { .. } => ErrorKind::NoShell,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Unresponsive { .. } => ErrorKind::Unresponsive,
            Self::Failed { .. } => ErrorKind::Failed,
            Self::Remote { kind, .. } => *kind,
            Self::NotInitialised
            | Self::NoSupervisor { .. }
            | Self::Supervisor { .. }
            | Self::SupervisorGone(_)
            | Self::State { .. }
            | Self::File { .. } => ErrorKind::Internal,
        }
    }

    /// The name of its kind.
    pub fn code(&self) -> &'static str {
        self.kind().as_str()
    }

    /// The field of the request that is wrong, if one is.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Remote { field, .. } => field.as_deref(),
            Self::Invalid { field, .. } => Some(field),
            Self::KeyReused { .. } => Some("idempotency_key"),
            Self::NameTaken { .. } => Some("name"),
            Self::NoShell { .. } => Some("shell"),
            _ => None,
        }
    }

    /// The job it is about, if it is about one that there is.
    pub fn job(&self) -> Option<&str> {
        match self {
            Self::Ended(job) | Self::Unresponsive { job, .. } | Self::NameTaken { job, .. } => {
                Some(job)
            }
            Self::Remote { job, .. } => job.as_deref(),
            _ => None,
        }
    }

    /// Its text without the field in front, for a caller that has another name for the field.
    pub fn problem(&self) -> String {
        let text = self.to_string();
        let named = self.field().and_then(|field| text.strip_prefix(field)?.strip_prefix(": "));
        named.map(str::to_owned).unwrap_or(text)
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
