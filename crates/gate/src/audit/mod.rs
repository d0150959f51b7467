//! The audit: what was asked, decided, answered and done, in a chain that cannot be changed unseen.
//!
//! ```text
//! <state>/audit        one JSON record a line; each has the hash of the one before it, and its own
//! <state>/audit.head   the last record's number and hash, signed
//! ```
//!
//! A changed byte breaks a hash, a moved record breaks the chain, a cut end falls short of the head.
//! Whoever has both the key and the files can still write another history: keep the head that
//! `umbo audit export` prints somewhere else if that matters.

mod append;
mod record;
mod verify;

use std::path::{Path, PathBuf};

pub use append::Appended;
pub use record::{Event, Record};
pub use verify::{Finding, Report};

use crate::key::Key;

/// The audit of a state directory.
#[derive(Clone, Debug)]
pub struct Audit {
    path: PathBuf,
    key: Key,
}

impl Audit {
    /// The audit in a state directory; nothing is made until something is recorded.
    pub fn new(state: &Path, key: Key) -> Self {
        Self { path: state.join("audit"), key }
    }

    /// The file of records.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn head_path(&self) -> PathBuf {
        self.path.with_extension("head")
    }
}
