//! Finding files by their names: globs, newest first.
//!
//! The whole tree is walked, and the newest are kept while walking: an answer of N files has the N
//! newest, not any N.

use std::collections::BinaryHeap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ignore::{DirEntry, WalkState};
use serde::{Deserialize, Serialize};

use crate::call::{Stop, StopReason};
use crate::guard::AccessKind;
use crate::scope::{Scope, Scopes};
use crate::walk::Walk;
use crate::{Call, Error, Session};

/// Asks for files by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FindRequest {
    /// Globs, files and directories. `*.rs` holds at any depth, `src/*.rs` in `src` alone.
    pub paths: Vec<String>,
    /// With names that begin with a dot.
    pub hidden: bool,
    /// Without what `.gitignore` excludes.
    pub gitignore: bool,
    /// Names of directories that are not entered.
    pub prune: Vec<String>,
    /// What is found.
    pub kind: FindKind,
    /// At most so many.
    pub limit: usize,
    /// At most so long, in milliseconds; what was found until then is the answer.
    pub timeout_ms: u64,
}

impl Default for FindRequest {
    fn default() -> Self {
        Self {
            paths: vec![".".to_owned()],
            hidden: true,
            gitignore: true,
            prune: Vec::new(),
            kind: FindKind::Files,
            limit: 1000,
            timeout_ms: 5000,
        }
    }
}

/// What is looked for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindKind {
    /// Everything but directories.
    #[default]
    Files,
    /// Directories.
    Directories,
    /// Both.
    Any,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FoundFile {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed, in seconds since 1970.
    pub modified: i64,
}

/// The files that were found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FindAnswer {
    /// Newest first.
    pub files: Vec<FoundFile>,
    /// How many match in all, as far as was looked.
    pub total: u64,
    /// Paths that do not exist and were left out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<String>,
    /// Why not everything was looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stopped: Option<StopReason>,
}

/// Finds files.
pub fn find(session: &Session, request: &FindRequest, call: &Call) -> Result<FindAnswer, Error> {
    if request.limit == 0 {
        return Err(Error::bad("limit", "0", "Limit must be a positive number"));
    }
    let stop = call.stop.at_most(Duration::from_millis(request.timeout_ms));
    let scopes = Scopes::new(session, &request.paths, AccessKind::List)?;
    let hits = Hits::new(request.limit);
    let mut stopped = None;
    for scope in &scopes.found {
        stopped = stopped.or(walk(session, request, scope, &scopes, &stop, &hits));
    }
    if stopped == Some(StopReason::Cancelled) {
        call.stop.check()?;
    }
    let total = hits.total.load(Ordering::Relaxed);
    let files = hits.newest().into_iter().map(|hit| FoundFile {
        path: session.workspace.shown(&hit.path),
        size: hit.size,
        modified: hit.modified.0,
    });
    Ok(FindAnswer { files: files.collect(), total, missing: scopes.missing, stopped })
}

/// Looks through one scope; gives why it ended early.
fn walk(
    session: &Session,
    request: &FindRequest,
    scope: &Scope,
    scopes: &Scopes,
    stop: &Stop,
    hits: &Hits,
) -> Option<StopReason> {
    let base = scope.base();
    if !scope.is_directory() {
        if scopes.is_first(scope, base) {
            hits.add(base, base.symlink_metadata().ok().as_ref());
        }
        return None;
    }
    let mut walk = Walk::new(base);
    walk.hidden = request.hidden;
    walk.gitignore = request.gitignore;
    walk.prune.clone_from(&request.prune);
    let stopped = Mutex::new(None);
    walk.builder().threads(crate::walk::threads()).build_parallel().run(|| {
        Box::new(|entry| {
            if let Some(reason) = stop.reason() {
                *stopped.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
                return WalkState::Quit;
            }
            if let Ok(entry) = entry
                && entry.depth() > 0
                && is_wanted(&entry, request.kind)
                && scope.matches(entry.path())
                && scopes.is_first(scope, entry.path())
                && session.may_see(entry.path())
            {
                hits.add(entry.path(), entry.metadata().ok().as_ref());
            }
            WalkState::Continue
        })
    });
    stopped.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn is_wanted(entry: &DirEntry, kind: FindKind) -> bool {
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    match kind {
        FindKind::Files => !is_directory,
        FindKind::Directories => is_directory,
        FindKind::Any => true,
    }
}

/// The newest files so far.
struct Hits {
    limit: usize,
    total: AtomicU64,
    kept: Mutex<BinaryHeap<Hit>>,
}

/// Ordered so that the greatest is the first to be dropped: oldest, then last by path.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    age: std::cmp::Reverse<(i64, i64)>,
    path: PathBuf,
    modified: (i64, i64),
    size: u64,
}

impl Hits {
    fn new(limit: usize) -> Self {
        Self { limit, total: AtomicU64::new(0), kept: Mutex::new(BinaryHeap::new()) }
    }

    fn add(&self, path: &Path, metadata: Option<&std::fs::Metadata>) {
        // What vanished in the meantime was not found.
        let Some(metadata) = metadata else { return };
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        let age = std::cmp::Reverse(modified);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < self.limit
            || kept.peek().is_none_or(|worst| (age, path) < (worst.age, &worst.path))
        {
            kept.push(Hit { age, path: path.to_path_buf(), modified, size: metadata.size() });
            if kept.len() > self.limit {
                kept.pop();
            }
        }
        self.total.fetch_add(1, Ordering::Relaxed);
    }

    fn newest(self) -> Vec<Hit> {
        self.kept.into_inner().unwrap_or_else(PoisonError::into_inner).into_sorted_vec()
    }
}
