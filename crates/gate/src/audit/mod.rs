//! The audit: what was asked, decided, answered and done, in a chain that cannot be changed unseen.
//!
//! ```text
//! <state>/audit               one JSON record a line; each has the hash of the one before it, and its own
//! <state>/audit.000000000001  records before those, by the number of the first
//! <state>/audit.head          the last record's number and hash, and which is the first to be there, signed
//! ```
//!
//! A file that is full gets its number as a name, and the chain goes on in a new one. When all of them
//! are more than the budget, the oldest is deleted, and the head says so.
//!
//! A changed byte breaks a hash, a moved record breaks the chain, a cut end falls short of the head.
//! A process that has both the key and the files can still write another history: keep the head that
//! `umbo audit export` prints somewhere else if that matters.

mod append;
mod record;
mod segment;
mod verify;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use append::Appended;
pub use record::{Event, Record};
pub use verify::{Finding, Report};

use crate::key::Key;

/// The audit of a state directory.
#[derive(Clone, Debug)]
pub struct Audit {
    path: PathBuf,
    key: Key,
    budget: u64,
    files: Arc<Mutex<OpenFiles>>,
}

/// The files that a writer holds open from one record to the next. Nobody is kept out by that: they are locked
/// for each record.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    newest: Option<File>,
    head: Option<File>,
    /// The head as this process wrote it last: nobody has written since if the file says the same.
    written: Option<WrittenHead>,
}

#[derive(Debug)]
struct WrittenHead {
    head: append::Head,
    bytes: Vec<u8>,
}

/// How many bytes the records of an audit may take by default.
pub const AUDIT_BUDGET: u64 = 64 << 20;

impl Audit {
    /// The audit in a state directory; nothing is made until something is recorded.
    pub fn new(state: &Path, key: Key) -> Self {
        Self { path: state.join("audit"), key, budget: AUDIT_BUDGET, files: Arc::default() }
    }

    /// How many bytes its records may take: the oldest are deleted beyond that, an eighth at a time.
    #[must_use]
    pub fn with_budget(mut self, bytes: u64) -> Self {
        self.budget = bytes;
        self
    }

    /// With files that other values of this process hold open for the same audit.
    #[must_use]
    pub(crate) fn with_files(mut self, files: &Arc<Mutex<OpenFiles>>) -> Self {
        self.files = Arc::clone(files);
        self
    }

    /// The file of the newest records.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn head_path(&self) -> PathBuf {
        self.path.with_extension("head")
    }
}
