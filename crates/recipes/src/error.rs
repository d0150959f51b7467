//! What can go wrong for a caller: the folder, or the operation it asked for.

use std::path::PathBuf;

/// The error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder cannot be opened.
    #[error("cannot look into {}: {source}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// No operation was given.
    #[error("{message}")]
    Empty {
        /// What to tell the caller.
        message: String,
    },
    /// The folder has no runners.
    #[error("No project runners detected in this directory.")]
    NoRunners,
    /// No task of that name.
    #[error("{message}")]
    Unknown {
        /// What to tell the caller, with the tasks there are.
        message: String,
        /// The nearest names, best first.
        nearest: Vec<String>,
    },
    /// More than one runner has it.
    #[error("{message}")]
    Ambiguous {
        /// What to tell the caller.
        message: String,
        /// The selectors to choose from.
        choices: Vec<String>,
    },
    /// The arguments cannot be read as words.
    #[error("{message}")]
    Arguments {
        /// What to tell the caller.
        message: String,
    },
    /// The directory lies outside the project.
    #[error("cwd {cwd:?} escapes the project root")]
    Escape {
        /// What was asked for.
        cwd: String,
    },
}

impl Error {
    /// The code the `project.recipe` contract gives this error.
    pub fn code(&self) -> &'static str {
        "invalid_params"
    }
}
