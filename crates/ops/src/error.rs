//! Why an operation did not do its work: one shape for every entry point, and one list of codes.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use umbo_command::Risk;
use umbo_engine::ErrorKind;
use umbo_gate::{Refusal, show_time};

use crate::gatekeeper::NotAdmitted;

macro_rules! error_codes {
    ($($(#[$doc:meta])+ $name:ident = $word:literal,)+) => {
        /// What kind of error it is. Programs decide by it; its word is a promise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])+ $name,)+
        }

        impl ErrorCode {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Its word.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)+
                }
            }
        }
    };
}

error_codes! {
    /// Somebody has to approve the command first.
    ApprovalRequired = "approval_required",
    /// An edit cannot be understood.
    BadEdit = "bad_edit",
    /// A project's shell does not take this command.
    BlockedCommand = "blocked_command",
    /// The caller cancelled the call.
    Cancelled = "cancelled",
    /// A command ended with another code than 0, where a contract calls that an error.
    CommandFailed = "command_failed",
    /// A rule or a person denied the command.
    Denied = "denied",
    /// A file exists already.
    Exists = "exists",
    /// The approval that the caller came back with holds no longer.
    Expired = "expired",
    /// Something else, said in the message.
    Failed = "failed",
    /// The command could not be started.
    FailedToStart = "failed_to_start",
    /// A file was changed since it was read.
    FileChanged = "file_changed",
    /// The gate's rules, key or records cannot be used.
    GateFailed = "gate_failed",
    /// A file or a process of umbo's own could not be used.
    Internal = "internal",
    /// An argument is wrong.
    InvalidArgument = "invalid_argument",
    /// The same, as some contracts call it.
    InvalidArguments = "invalid_arguments",
    /// The same, as others do.
    InvalidParams = "invalid_params",
    /// The operating system refused something.
    IoError = "io_error",
    /// The job has ended, so it takes no input.
    JobEnded = "job_ended",
    /// No job has that id, as some contracts call it.
    JobNotFound = "job_not_found",
    /// The job has ended, as some contracts call it.
    JobNotRunning = "job_not_running",
    /// An idempotency key was used for another request.
    KeyReused = "key_reused",
    /// The job was lost.
    Lost = "lost",
    /// An edit would leave a file as it is.
    NoChange = "no_change",
    /// The text to be replaced, or the context of a patch, is not in the file.
    NoMatch = "no_match",
    /// The program of a task runner is not installed.
    NoRunner = "no_runner",
    /// The wanted shell is not installed.
    NoShell = "no_shell",
    /// There is nothing at a path.
    NotFound = "not_found",
    /// A file exists and was not read before it is overwritten.
    NotRead = "not_read",
    /// The process does not run.
    NotRunning = "not_running",
    /// The command would start outside of the project that it has to stay in.
    OutsideProject = "outside_project",
    /// The job's supervisor refused.
    Refused = "refused",
    /// Another job has the session.
    SessionBusy = "session_busy",
    /// A shell ended before its command did.
    ShellAborted = "shell_aborted",
    /// The tools of the dialect are switched off.
    ShellDisabled = "shell_disabled",
    /// A shell was lost.
    ShellLost = "shell_lost",
    /// The wanted shell is not installed, as some contracts call it.
    ShellNotInstalled = "shell_not_installed",
    /// A shell could not be started.
    ShellSpawnFailed = "shell_spawn_failed",
    /// Standard input of the process is closed.
    StdinClosed = "stdin_closed",
    /// Not all was done within the time there was.
    TimedOut = "timed_out",
    /// A file is larger than what can be handled.
    TooLarge = "too_large",
    /// As many jobs run as may.
    TooManyJobs = "too_many_jobs",
    /// The same, as some contracts call it.
    TooManyProcesses = "too_many_processes",
    /// A tool failed, as some contracts call it.
    ToolError = "tool_error",
    /// No change of that name is kept.
    UnknownChange = "unknown_change",
    /// No job has that id, prefix or name, or several have.
    UnknownJob = "unknown_job",
    /// No process has that id.
    UnknownProcess = "unknown_process",
    /// No session has that id.
    UnknownSession = "unknown_session",
    /// There is no such shell.
    UnknownShell = "unknown_shell",
    /// No task has that id.
    UnknownTask = "unknown_task",
    /// There is no such tool.
    UnknownTool = "unknown_tool",
    /// What is in a file cannot be read as what it seems to be.
    Unreadable = "unreadable",
    /// The job's supervisor did not answer in time.
    Unresponsive = "unresponsive",
    /// Wrong words on the command line.
    Usage = "usage",
    /// A directory is outside of the project.
    WorkingDirEscape = "working_dir_escape",
    /// A directory does not exist.
    WorkingDirNotFound = "working_dir_not_found",
    /// A path leads to another kind of file than is needed.
    WrongKind = "wrong_kind",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for ErrorCode {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

impl From<ErrorKind> for ErrorCode {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidArgument => Self::InvalidArgument,
            ErrorKind::UnknownJob | ErrorKind::AmbiguousJob => Self::UnknownJob,
            ErrorKind::JobEnded => Self::JobEnded,
            ErrorKind::TooManyJobs => Self::TooManyJobs,
            ErrorKind::SessionBusy => Self::SessionBusy,
            ErrorKind::KeyReused => Self::KeyReused,
            ErrorKind::NoShell => Self::NoShell,
            ErrorKind::Refused => Self::Refused,
            ErrorKind::Unresponsive => Self::Unresponsive,
            _ => Self::Internal,
        }
    }
}

/// Why an operation did not do its work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Error {
    /// A word for programs.
    pub code: ErrorCode,
    /// A sentence for whoever called.
    pub message: String,
    /// The argument that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The job it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// What the gate says beside.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Box<RefusalDetails>>,
}

/// What programs are told about a command that the gate did not let through.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct RefusalDetails {
    /// The question to answer, or that was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why somebody has to answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How bad the command may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub risk: Option<Risk>,
    /// Until when it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The prefixes an approval could cover.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefixes: Option<Vec<Vec<String>>>,
    /// Who or which rule denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it was denied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a person types to let it run after all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_with: Option<String>,
}

impl Error {
    /// An error of a kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, job: None, refusal: None }
    }

    /// A wrong argument that no schema can see.
    pub fn argument(field: &str, message: impl fmt::Display) -> Self {
        let message = format!("{field}: {message}");
        Self { field: Some(field.to_owned()), ..Self::new(ErrorCode::InvalidArgument, message) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<umbo_engine::Error> for Error {
    /// The same error. What to do about it says the front end, which knows its reader.
    fn from(error: umbo_engine::Error) -> Self {
        Self {
            field: error.field().map(str::to_owned),
            job: error.job().map(str::to_owned),
            ..Self::new(error.kind().into(), error.to_string())
        }
    }
}

impl From<NotAdmitted> for Error {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Refused(refusal) => refusal.into(),
            NotAdmitted::Gate(error) => error.into(),
        }
    }
}

impl From<umbo_gate::Error> for Error {
    fn from(error: umbo_gate::Error) -> Self {
        Self::new(ErrorCode::GateFailed, error.to_string())
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        let code = match &refusal {
            Refusal::ApprovalRequired { .. } => ErrorCode::ApprovalRequired,
            Refusal::Denied { .. } => ErrorCode::Denied,
            Refusal::Expired { .. } => ErrorCode::Expired,
        };
        let message = refusal.to_string();
        Self { refusal: Some(Box::new(refusal.into())), ..Self::new(code, message) }
    }
}

impl From<Refusal> for RefusalDetails {
    fn from(refusal: Refusal) -> Self {
        let usual = Self {
            expires_at: refusal.expires_at().map(show_time),
            answer_with: refusal.answer_with(),
            ..Self::default()
        };
        match refusal {
            Refusal::ApprovalRequired { id, why, risk, prefixes, .. } => Self {
                id: Some(id),
                why: Some(why),
                risk: Some(risk),
                prefixes: Some(prefixes),
                ..usual
            },
            Refusal::Denied { by, reason, question } => Self {
                id: question.map(|question| question.id),
                by: Some(by),
                reason: Some(reason),
                ..usual
            },
            Refusal::Expired { id } => Self { id: Some(id), ..usual },
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorCode::Internal, format!("cannot read the output: {error}"))
    }
}
