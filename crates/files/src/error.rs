//! What can go wrong. Every error names the path or field, what is wrong with it and what would do.

use std::io;

use crate::call::StopReason;

/// The error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of a request has a value that cannot be used.
    #[error("{field}: {problem} (got {value:?})")]
    BadRequest {
        /// The field.
        field: &'static str,
        /// What it was, shortened.
        value: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// There is nothing at this path.
    #[error("path not found: {path}{}", umbo_text::did_you_mean(.nearest))]
    NotFound {
        /// The path as it was given.
        path: String,
        /// Paths that may have been meant.
        nearest: Vec<String>,
    },
    /// The guard or the policy refuses.
    #[error("{path}: access denied: {reason}")]
    Denied {
        /// The resolved path.
        path: String,
        /// Why.
        reason: String,
    },
    /// It is not the kind of file that is needed.
    #[error("{path} is a {is}, not a {wanted}")]
    WrongKind {
        /// The path.
        path: String,
        /// What it is.
        is: &'static str,
        /// What would do.
        wanted: &'static str,
    },
    /// It is larger than what can be handled.
    #[error("{path}: {what} exceeds the limit of {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// What is too large, with its size.
        what: String,
        /// The limit.
        limit: String,
    },
    /// Its content cannot be read as what its name or the request says.
    #[error("cannot read {path}: {problem}")]
    Unreadable {
        /// The path.
        path: String,
        /// Why not.
        problem: String,
    },
    /// The system refuses.
    #[error("cannot {operation} {path}: {source}")]
    Io {
        /// What was tried.
        operation: &'static str,
        /// The path.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// An edit's text cannot be understood.
    #[error("line {line}: {problem}")]
    BadEdit {
        /// The line of the edit, from 1; 0 is all of it.
        line: usize,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Anchors do not fit the file as it is.
    #[error(
        "{path} changed since its lines were read; use these anchors or read it again:\n{context}"
    )]
    StaleAnchors {
        /// The path.
        path: String,
        /// Fresh lines around each anchor; those that do not fit are marked with `*`.
        context: String,
    },
    /// The text to be replaced, or the context of a patch, is not in the file.
    #[error("{path}: {problem}")]
    NoMatch {
        /// The path.
        path: String,
        /// What was looked for, and what would do.
        problem: String,
    },
    /// The edit would leave the file as it is.
    #[error("edits to {path} resulted in no changes being made")]
    NoChange {
        /// The path.
        path: String,
    },
    /// The file exists and the request says that it must not.
    #[error("{path} already exists; ask for overwriting to replace it")]
    Exists {
        /// The path.
        path: String,
    },
    /// The file exists and was not read before.
    #[error("{path} exists and was not read yet; read it before it is overwritten")]
    NotRead {
        /// The path.
        path: String,
    },
    /// Somebody changed the file since it was read.
    #[error("{path} changed since it was read; what changed:\n{diff}")]
    ChangedSinceRead {
        /// The path.
        path: String,
        /// The difference between what was read and what is there.
        diff: String,
    },
    /// There is no such change to undo.
    #[error("no change {id:?} is kept; see the list of changes")]
    NoSuchChange {
        /// What was asked for.
        id: String,
    },
    /// The caller cancelled, or the deadline passed.
    #[error("{}", stop_text(*.reason))]
    Stopped {
        /// Which.
        reason: StopReason,
    },
}

fn stop_text(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Cancelled => "cancelled by the caller",
        StopReason::Deadline => "the deadline passed before the work was done",
    }
}

impl Error {
    pub(crate) fn io(
        operation: &'static str,
        path: impl Into<String>,
    ) -> Box<dyn FnOnce(io::Error) -> Self> {
        let path = path.into();
        Box::new(move |source| Self::Io { operation, path, source })
    }

    pub(crate) fn bad(field: &'static str, value: &str, problem: impl Into<String>) -> Self {
        let mut short: String = value.chars().take(80).collect();
        if short.len() < value.len() {
            short.push('…');
        }
        Self::BadRequest { field, value: short, problem: problem.into() }
    }

    pub(crate) fn bad_edit(line: usize, problem: impl Into<String>) -> Self {
        Self::BadEdit { line, problem: problem.into() }
    }
}
