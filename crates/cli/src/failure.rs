//! Errors on their way out: one place that prints them and chooses the exit code. For programs, who
//! asked for JSON, an error is an answer like any other: one object on standard output.

use std::fmt;
use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use serde::Serialize;

use crate::output::Format;

/// Umbo itself failed; the exit code of `env` and `timeout` for the same.
pub(crate) const OWN_FAILURE: u8 = 125;
/// A time limit struck; the exit code of `timeout` for the same.
pub(crate) const TIMED_OUT: u8 = 124;

/// Prints what the parser has to say. Wrong words are umbo's own failure: the parser's own exit code
/// could be the command's.
pub(crate) fn usage(error: &clap::Error, format: Format) -> ExitCode {
    // Help and version are no errors, though the parser calls them so.
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if format == Format::Text {
        let _ = error.print();
        return ExitCode::from(OWN_FAILURE);
    }
    let text = error.render().to_string();
    let field = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => Some(name_of(word)),
        _ => None,
    };
    let message = text.trim().trim_start_matches("error: ").to_owned();
    Failure::Problem(Box::new(Problem { code: "usage", message, field })).report(format)
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
    Problem(Box<Problem>),
    /// The reader of our output went away, which is no error.
    BrokenPipe,
}

/// What went wrong.
#[derive(Debug, Serialize)]
pub(crate) struct Problem {
    /// A word for programs.
    code: &'static str,
    /// A sentence for whoever called.
    message: String,
    /// The option or value that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    error: &'a Problem,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::coded("failed", None, message)
    }

    /// A wrong option or value, named as on the command line.
    pub(crate) fn invalid(field: &str, problem: impl fmt::Display) -> Self {
        let name = Some(name_of(field));
        Self::coded("invalid_argument", name, format_args!("{field}: {problem}"))
    }

    fn coded(code: &'static str, field: Option<String>, message: impl fmt::Display) -> Self {
        Self::Problem(Box::new(Problem { code, message: message.to_string(), field }))
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(self, format: Format) -> ExitCode {
        let Self::Problem(mut problem) = self else { return ExitCode::SUCCESS };
        problem.message = crate::secrets::hidden(&problem.message);
        match format {
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
            Self::Problem(problem) => f.write_str(&problem.message),
            Self::BrokenPipe => f.write_str("the reader is gone"),
        }
    }
}

impl From<umbo_engine::Error> for Failure {
    fn from(error: umbo_engine::Error) -> Self {
        let message = format!("{error}{}", advice(&error));
        Self::coded(error.code(), error.field().map(str::to_owned), message)
    }
}

/// What a person at the command line can do about an error of the engine.
fn advice(error: &umbo_engine::Error) -> String {
    use umbo_engine::Error;
    match error {
        Error::State { .. } => "; set UMBO_STATE_DIR to a place of your own".into(),
        Error::UnknownJob(_) => "; `umbo jobs --all` lists them".into(),
        Error::Full { .. } => "; stop one, wait, or allow more (UMBO_MAX_RUNNING, or max_running \
                               in the configuration)"
            .into(),
        Error::Unresponsive { job, .. } => {
            format!("; `umbo stop --kill {job}` ends it from outside")
        }
        _ => String::new(),
    }
}

impl From<umbo_gate::Error> for Failure {
    fn from(error: umbo_gate::Error) -> Self {
        Self::coded("gate_failed", None, error)
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
