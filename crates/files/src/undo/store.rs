//! Where changes are kept: contents by their hash, and a small record for every change.
//!
//! `objects/ab/cdef…` has the bytes of a file as they were; `changes/ID.json` says which files a call
//! changed, from what to what. Everything appears by rename. When the objects outgrow the budget, the
//! oldest changes are forgotten.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;

/// Where changes are kept, and how much.
#[derive(Debug)]
pub struct UndoStore {
    directory: PathBuf,
    budget: u64,
    /// One at a time makes room.
    room: Mutex<()>,
}

/// One file of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangedFile {
    /// Where it is, absolute; what is no text is escaped.
    pub path: String,
    /// Its content before; `None` if there was no file.
    pub before: Option<Kept>,
    /// The hash of its content after; `None` if it was deleted.
    pub after: Option<String>,
}

/// A content that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Kept {
    /// The SHA-256 of its bytes.
    pub hash: String,
    /// Its permissions.
    pub mode: u32,
    /// Its size in bytes.
    pub size: u64,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A file was written.
    Write,
    /// Files were edited.
    Edit,
    /// A change was undone.
    Undo,
}

/// A change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Change {
    /// Its name; names sort by time.
    pub id: String,
    /// The call that made it.
    pub call: String,
    /// The job the call belonged to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<String>,
    /// Whose call it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub owner: Option<String>,
    /// When, in seconds since 1970.
    pub time: u64,
    /// What was done.
    pub kind: ChangeKind,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// The change that this one undid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undoes: Option<String>,
}

/// The hash by which content is kept.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// A name that sorts by time, and that no other process makes at the same time.
fn new_id(nanoseconds: u128) -> String {
    let random = ulid::Ulid::generate().to_string().to_lowercase();
    format!("{nanoseconds:016x}-{}", &random[random.len() - 6..])
}

fn make(directory: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}.tmp", ulid::Ulid::generate()));
    let mut file: File =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    fs::rename(&temporary, path)
}

impl UndoStore {
    /// A store in this directory, which is made if it is missing, for so many bytes of content.
    pub fn open(directory: &Path, budget: u64) -> Result<Self, Error> {
        let store = Self { directory: directory.to_path_buf(), budget, room: Mutex::new(()) };
        for part in ["objects", "changes"] {
            make(&store.directory.join(part)).map_err(|e| store.failed("make")(e))?;
        }
        Ok(store)
    }

    fn failed(&self, operation: &'static str) -> Box<dyn FnOnce(io::Error) -> Error> {
        Error::io(operation, self.directory.display().to_string())
    }

    /// Whether content of this size is kept.
    pub(crate) fn keeps(&self, size: usize) -> bool {
        size as u64 <= self.budget / 2
    }

    fn object(&self, hash: &str) -> PathBuf {
        let (first, rest) = hash.split_at(2);
        self.directory.join("objects").join(first).join(rest)
    }

    /// Keeps content; gives its hash.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<String, Error> {
        let hash = hash(bytes);
        let path = self.object(&hash);
        if !path.exists() {
            let directory = path.parent().unwrap_or(&self.directory);
            make(directory).map_err(self.failed("make"))?;
            put(&path, bytes).map_err(self.failed("write to"))?;
        }
        Ok(hash)
    }

    /// Content that was kept. Damaged content is an error, never written back.
    pub(crate) fn content(&self, kept: &str) -> Result<Vec<u8>, Error> {
        let is_hash = kept.len() == 64 && kept.bytes().all(|byte| byte.is_ascii_hexdigit());
        let damaged = |problem: &str| Error::Unreadable {
            path: self.directory.display().to_string(),
            problem: format!("the kept content {kept} {problem}"),
        };
        if !is_hash {
            return Err(damaged("has no proper name"));
        }
        let bytes = fs::read(self.object(kept)).map_err(|_| damaged("is gone"))?;
        if hash(&bytes) == kept { Ok(bytes) } else { Err(damaged("is damaged")) }
    }

    /// Writes the record of a change that is about to be made.
    pub(crate) fn record(
        &self,
        kind: ChangeKind,
        call: &crate::Call,
        files: Vec<ChangedFile>,
        undoes: Option<String>,
    ) -> Result<Change, Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let time = now.as_secs();
        let id = new_id(now.as_nanos());
        let (owner, job, call) = (call.owner.clone(), call.job.clone(), call.id.clone());
        let change = Change { id, call, job, owner, time, kind, files, undoes };
        let bytes = serde_json::to_vec(&change).map_err(io::Error::from);
        let bytes = bytes.map_err(self.failed("write to"))?;
        let path = self.record_path(&change.id);
        put(&path, &bytes).map_err(self.failed("write to"))?;
        Ok(change)
    }

    fn record_path(&self, id: &str) -> PathBuf {
        self.directory.join("changes").join(format!("{id}.json"))
    }

    /// Forgets a change that was not made after all.
    pub(crate) fn withdraw(&self, id: &str) {
        let _ = fs::remove_file(self.record_path(id));
    }

    /// The changes that are kept, newest first. Records that cannot be read are left out.
    pub fn changes(&self) -> Result<Vec<Change>, Error> {
        let mut changes = Vec::new();
        let entries = fs::read_dir(self.directory.join("changes")).map_err(self.failed("list"))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|own| own == "json")
                && let Ok(bytes) = fs::read(&path)
                && let Ok(change) = serde_json::from_slice::<Change>(&bytes)
            {
                changes.push(change);
            }
        }
        changes.sort_unstable_by(|a: &Change, b| b.id.cmp(&a.id));
        Ok(changes)
    }

    /// Forgets the oldest changes until the contents fit the budget.
    pub(crate) fn make_room(&self) -> Result<(), Error> {
        let Ok(_room) = self.room.try_lock() else { return Ok(()) };
        let changes = self.changes()?;
        let mut wanted: HashSet<&str> = HashSet::new();
        let mut size = 0;
        for (at, change) in changes.iter().enumerate() {
            for kept in change.files.iter().filter_map(|file| file.before.as_ref()) {
                if wanted.insert(&kept.hash) {
                    size += kept.size;
                }
            }
            // The newest change is kept whatever it weighs.
            if size > self.budget && at > 0 {
                changes[at..].iter().for_each(|old| self.withdraw(&old.id));
                return self.sweep(&changes[..at]);
            }
        }
        Ok(())
    }

    /// Removes contents that no change needs. Young ones may belong to a change being made.
    fn sweep(&self, changes: &[Change]) -> Result<(), Error> {
        const YOUNG_SECONDS: u64 = 60;
        let kept = changes.iter().flat_map(|change| &change.files);
        let needed: HashSet<PathBuf> =
            kept.filter_map(|file| Some(self.object(&file.before.as_ref()?.hash))).collect();
        let groups = fs::read_dir(self.directory.join("objects")).map_err(self.failed("list"))?;
        for group in groups.flatten() {
            for entry in fs::read_dir(group.path()).into_iter().flatten().flatten() {
                let age = entry.metadata().and_then(|data| data.modified()).ok();
                let age = age.and_then(|time| time.elapsed().ok());
                let is_young = age.is_none_or(|age| age.as_secs() < YOUNG_SECONDS);
                if !needed.contains(&entry.path()) && !is_young {
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
        Ok(())
    }
}
