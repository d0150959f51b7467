//! Errors on their way out: one place that prints them and chooses the exit code. For programs, who
//! asked for JSON, an error is an answer like any other: one object on standard output.

use std::fmt;
use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;
use umbo_ops::{Error, ErrorCode};

use crate::output::Format;

/// Umbo itself failed; the exit code of `env` and `timeout` for the same.
pub(crate) const OWN_FAILURE: u8 = 125;
/// A time limit struck; the exit code of `timeout` for the same.
pub(crate) const TIMED_OUT: u8 = 124;

/// Prints what the parser has to say. Wrong words are umbo's own failure: the parser's own exit code
/// could be the command's.
pub(crate) fn usage(error: &clap::Error, format: Format) -> ExitCode {
    // Help and version are no errors, though the parser calls them so.
    let text = error.render().to_string();
    if !error.use_stderr() {
        let _ = crate::output::text(text);
        return ExitCode::SUCCESS;
    }
    if format == Format::Text {
        let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        if is_help && std::env::args_os().len() == 1 {
            crate::output::talk_lines(crate::help::first_page());
        } else if is_help {
            crate::output::talk_lines(text.trim_end());
        } else {
            crate::output::talk(text.trim_end());
        }
        return ExitCode::from(OWN_FAILURE);
    }
    let field = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(name_of(word)),
        _ => None,
    };
    let message = text.trim().trim_start_matches("error: ").to_owned();
    Failure::coded(ErrorCode::Usage, field, message).report(format)
}

/// The name of an option or a value, as `--json` and `<COMMAND>...` have it.
fn name_of(word: &str) -> String {
    let word = word.split([' ', '=']).next().unwrap_or(word);
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Why a verb could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something to say.
    Problem(Box<Error>),
    /// The same in lines that were laid out with care: no line of it is all of somebody else's.
    LaidOut(Box<Error>),
    /// The reader of our output went away, which is no error.
    BrokenPipe,
}

#[derive(Serialize)]
struct Answer<'a> {
    error: &'a Error,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::coded(ErrorCode::Failed, None, message)
    }

    /// A wrong option or value, named as on the command line.
    pub(crate) fn invalid(field: &str, problem: impl fmt::Display) -> Self {
        let name = Some(name_of(field));
        Self::coded(ErrorCode::InvalidArgument, name, format_args!("{field}: {problem}"))
    }

    /// The same error about a word that has no option's name here but this one in the usage.
    pub(crate) fn about(error: impl Into<Self>, field: &str, word: &str) -> Self {
        let mut failure = error.into();
        if let Self::Problem(problem) | Self::LaidOut(problem) = &mut failure
            && let Some(rest) = problem.message.strip_prefix(&format!("{}: ", option(field)))
        {
            problem.message = format!("{word}: {rest}");
        }
        failure
    }

    /// Something to say in several lines, none of which is all of somebody else's.
    pub(crate) fn laid_out(message: impl fmt::Display) -> Self {
        Self::LaidOut(Box::new(Error::new(ErrorCode::Failed, message.to_string())))
    }

    pub(crate) fn coded(
        code: ErrorCode,
        field: Option<String>,
        message: impl fmt::Display,
    ) -> Self {
        Self::Problem(Box::new(Error { field, ..Error::new(code, message.to_string()) }))
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(self, format: Format) -> ExitCode {
        let (mut problem, is_laid_out) = match self {
            Self::Problem(problem) => (problem, false),
            Self::LaidOut(problem) => (problem, true),
            Self::BrokenPipe => return ExitCode::SUCCESS,
        };
        problem.message = crate::secrets::hidden(&problem.message);
        match format {
            Format::Text if is_laid_out => {
                crate::output::talk_lines(format_args!("umbo: {}", problem.message));
            }
            Format::Text => crate::output::talk(format_args!("umbo: {}", problem.message)),
            Format::Json => {
                let _ = crate::output::json_unmasked(&Answer { error: &problem });
            }
        }
        ExitCode::from(OWN_FAILURE)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(problem) | Self::LaidOut(problem) => f.write_str(&problem.message),
            Self::BrokenPipe => f.write_str("the reader is gone"),
        }
    }
}

impl From<umbo_engine::Error> for Failure {
    fn from(error: umbo_engine::Error) -> Self {
        let has_no_state = matches!(error, umbo_engine::Error::State { .. });
        let mut error = Error::from(error);
        if has_no_state {
            error.message.push_str("; set UMBO_STATE_DIR to a place of your own");
        }
        error.into()
    }
}

impl From<Error> for Failure {
    /// The same error, with what a person at a command line can do about it.
    fn from(mut error: Error) -> Self {
        let named = error.field.as_deref().map(|field| format!("{field}: "));
        if error.code == ErrorCode::InvalidArgument
            && let Some(rest) = named.and_then(|field| error.message.strip_prefix(&field))
        {
            let field = error.field.as_deref().unwrap_or_default();
            error.message = format!("{}: {rest}", option(field));
        }
        match (error.code, &error.job) {
            (ErrorCode::UnknownJob, _) => {
                error.message.push_str("; `umbo jobs --all` lists them");
            }
            (ErrorCode::TooManyJobs, _) => error.message.push_str(
                "; stop one, wait, or allow more (UMBO_MAX_RUNNING, or max_running in the \
                 configuration)",
            ),
            (ErrorCode::InvalidArgument, Some(_)) if error.field.as_deref() == Some("name") => {
                error.message.push_str("; --replace stops it first, or choose another name");
            }
            (ErrorCode::SessionBusy, _) => {
                error.message.push_str("; wait for it, stop it, or use another session");
            }
            (ErrorCode::Unresponsive, Some(job)) => {
                let hint = format!("; `umbo stop --kill {job}` ends it from outside");
                error.message.push_str(&hint);
            }
            (ErrorCode::JobEnded, Some(job)) => {
                let hint = format!("; `umbo output {job}` prints what it wrote");
                error.message.push_str(&hint);
            }
            _ => {}
        }
        Self::Problem(Box::new(error))
    }
}

/// What the command line calls a field of a request.
fn option(field: &str) -> String {
    match field {
        "op" => "TASK".to_owned(),
        "command" => field.to_owned(),
        "text" => "TEXT".to_owned(),
        "keys" => "--key".to_owned(),
        other => format!("--{}", other.replace('_', "-")),
    }
}

impl From<umbo_gate::Error> for Failure {
    fn from(error: umbo_gate::Error) -> Self {
        Self::coded(ErrorCode::GateFailed, None, error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::new(error),
        }
    }
}
