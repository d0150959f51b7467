//! Why a chore failed.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::{ExitCode, ExitStatus};

/// The result of a chore.
pub(crate) type Done<T = ()> = Result<T, Failure>;

/// What went wrong, and the exit code that says so.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: 1 }
    }

    /// Another program failed: its exit code becomes ours.
    pub(crate) fn of(what: &str, status: ExitStatus) -> Self {
        let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
        Self { message: format!("{what}: {status}"), code }
    }

    /// For `map_err`: names what was being done.
    pub(crate) fn at<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |error| Self::new(format!("{what}: {error}"))
    }

    /// For `map_err`: puts what to do about it before the message.
    pub(crate) fn prefixed(hint: &str) -> impl FnOnce(Self) -> Self {
        let hint = hint.to_owned();
        move |failure| Self { message: format!("{hint} ({})", failure.message), ..failure }
    }

    #[expect(clippy::disallowed_methods, reason = "a tool of developers, with texts of its own")]
    pub(crate) fn report(&self) -> ExitCode {
        let _ = writeln!(io::stderr(), "xtask: {}", self.message);
        ExitCode::from(self.code.max(1))
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}
