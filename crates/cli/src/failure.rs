//! Errors on their way out: one place that prints them and chooses the exit code.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// Umbo itself failed; the exit code of `env` and `timeout` for the same.
pub(crate) const OWN_FAILURE: u8 = 125;
/// A time limit struck; the exit code of `timeout` for the same.
pub(crate) const TIMED_OUT: u8 = 124;

/// Prints what the parser has to say. Wrong words are umbo's own failure: the parser's own exit code
/// could be the command's.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(OWN_FAILURE) } else { ExitCode::SUCCESS }
}

/// Why a verb could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something to say.
    Message(String),
    /// The reader of our output went away, which is no error.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self::Message(message.to_string())
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        match self {
            Self::BrokenPipe => ExitCode::SUCCESS,
            Self::Message(message) => {
                // A message may quote a command; what cannot be masked is said all the same.
                let masked = crate::secrets::masker().map(|masker| masker.mask_text(message));
                let message = masked.as_ref().unwrap_or(message);
                crate::output::talk(format_args!("umbo: {message}"));
                ExitCode::from(OWN_FAILURE)
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => f.write_str(message),
            Self::BrokenPipe => f.write_str("the reader is gone"),
        }
    }
}

impl From<umbo_engine::Error> for Failure {
    fn from(error: umbo_engine::Error) -> Self {
        Self::new(error)
    }
}

impl From<umbo_gate::Error> for Failure {
    fn from(error: umbo_gate::Error) -> Self {
        Self::new(error)
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
