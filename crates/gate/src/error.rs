//! The one error type of the gate. Its texts say what to do next, and none can hold an environment
//! value or a key.

use std::io;
use std::path::PathBuf;

/// Why the gate could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was attempted.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A rule file is wrong.
    #[error("{}:{line}: {problem}", path.display())]
    Rules {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there, and what would be right.
        problem: String,
    },
    /// The signing key cannot be trusted.
    #[error("the key {} {problem}", path.display())]
    Key {
        /// The key file.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A signed file was changed by a process without the key.
    #[error("{} was changed without the key: its signature is wrong", path.display())]
    Tampered {
        /// The file.
        path: PathBuf,
    },
    /// No approval has that id or prefix.
    #[error("no approval {0:?}; `umbo approvals` lists them")]
    UnknownApproval(String),
    /// A prefix that fits several approvals.
    #[error("{prefix:?} fits {} approvals: {}; give more letters", matches.len(), matches.join(", "))]
    AmbiguousApproval {
        /// What was given.
        prefix: String,
        /// The approvals it fits.
        matches: Vec<String>,
    },
    /// An approval that has its answer.
    #[error("approval {0} was answered before; an answer is final")]
    Answered(String),
    /// An approval that was denied.
    #[error(
        "approval {0} was denied before; a person can reverse that with \
         `umbo approve --overturn {0}`"
    )]
    Declined(String),
    /// An approval that has no answer to overturn.
    #[error("approval {0} has no answer yet; answer it with `umbo approve {0}`")]
    NotDeclined(String),
    /// An approval that waited too long.
    #[error("approval {0} has expired; run the command again to ask anew")]
    Expired(String),
    /// A prefix grant for a command that has no safe prefix.
    #[error("approval {0} cannot cover a prefix: {1}")]
    NoPrefix(String, &'static str),
    /// A directory outside the project. The text is a promise of the seeds.
    #[error("Working directory '{0}' is outside project root")]
    OutsideProject(String),
    /// A directory that is not there. The text is a promise of the seeds.
    #[error("Working directory does not exist: {0}")]
    NoDirectory(String),
    /// A file where a directory was expected. The text is a promise of the seeds.
    #[error("Working directory is not a directory: {0}")]
    NotDirectory(String),
}

/// The gate's result type.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { action, path, source }
    }
}
