//! Trust in a project's `.umbo/` files, pinned by content.
//!
//! The user looks at the files and pins their hashes, in the user's own configuration and signed. A
//! file that is changed later, or comes later, is not trusted. Files are read once, through directory
//! handles and never through links; what was hashed is what is used, so nothing can be exchanged
//! between the look and the use.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::key::Key;
use crate::place::resolve;
use crate::policy::Trust;
use crate::store::{make_directory, replace, seal, unseal};

/// The directory of a project's own files.
pub const DIRECTORY: &str = ".umbo";
const DEEPEST_DIRECTORY: usize = 8;
const MOST_FILES: usize = 500;
const LONGEST_FILE_BYTES: u64 = 1 << 20;

/// The files of a project, as they were when they were read.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    files: BTreeMap<String, Found>,
}

#[derive(Clone, Debug)]
enum Found {
    Bytes(Vec<u8>),
    Unfit(&'static str),
}

/// How one file stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileTrust {
    /// Its path below `.umbo/`.
    pub file: String,
    /// Whether it counts, and why not.
    pub state: FileState,
    /// What that means.
    pub meaning: &'static str,
}

/// Whether a file is what the user trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It is.
    Trusted,
    /// It was another when it was trusted.
    Changed,
    /// It was never trusted.
    New,
    /// It was trusted and is gone.
    Missing,
    /// It is a link, a device, too long or unreadable, so it is never read.
    Unfit,
}

/// Everything that was pinned, for all projects of a user.
#[derive(Clone, Debug)]
pub struct TrustStore {
    directory: PathBuf,
    key: Key,
}

#[derive(Serialize, Deserialize)]
struct Pinned {
    project: String,
    at: u64,
    files: BTreeMap<String, Digest>,
}

impl Snapshot {
    /// Reads the files of a project. Without any it is empty.
    pub fn read(project: &Path) -> Result<Self> {
        let mut snapshot = Self::default();
        let path = project.join(DIRECTORY);
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(directory) => snapshot.walk(&directory, "", 0),
            Err(rustix::io::Errno::NOENT) => {}
            Err(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR) => {
                let what = "`.umbo` itself is a link or a file; nothing in it counts";
                snapshot.files.insert(String::new(), Found::Unfit(what));
            }
            Err(error) => return Err(Error::file("open", path)(error.into())),
        }
        Ok(snapshot)
    }

    fn walk(&mut self, directory: &OwnedFd, prefix: &str, depth: usize) {
        let Ok(entries) = rustix::fs::Dir::read_from(directory) else {
            self.files.insert(prefix.to_owned(), Found::Unfit("it cannot be read"));
            return;
        };
        let mut names: Vec<String> = entries
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name != "." && name != "..")
            .collect();
        names.sort();
        for name in names {
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            if self.files.len() >= MOST_FILES {
                self.files.insert(path, Found::Unfit("there are too many files"));
                return;
            }
            let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::RDONLY;
            let kind = statat(directory.as_fd(), &name, AtFlags::SYMLINK_NOFOLLOW)
                .map(|facts| FileType::from_raw_mode(facts.st_mode));
            let found = match (kind, openat(directory, &name, flags, Mode::empty())) {
                (Ok(FileType::Directory), Ok(inner)) if depth < DEEPEST_DIRECTORY => {
                    self.walk(&inner, &path, depth + 1);
                    continue;
                }
                (Ok(FileType::RegularFile), Ok(file)) => read(File::from(file)),
                (Ok(FileType::Symlink), _) => Found::Unfit("it is a link"),
                _ => Found::Unfit("it is not a plain file that can be read"),
            };
            self.files.insert(path, found);
        }
    }

    /// The bytes of one file, and whether they are what was trusted.
    pub fn file<'a>(&'a self, name: &str, states: &[FileTrust]) -> Option<(&'a [u8], Trust)> {
        let Some(Found::Bytes(bytes)) = self.files.get(name) else { return None };
        let trusted =
            states.iter().any(|file| file.file == name && file.state == FileState::Trusted);
        Some((bytes, if trusted { Trust::Trusted } else { Trust::Untrusted }))
    }

    /// The names of the files, and their hashes.
    pub fn digests(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.files.iter().filter_map(|(name, found)| match found {
            Found::Bytes(bytes) => Some((name.as_str(), Digest::of(bytes))),
            Found::Unfit(_) => None,
        })
    }
}

/// Reads what was opened, if it still is what it seemed to be.
fn read(file: File) -> Found {
    match file.metadata() {
        Ok(facts) if facts.is_file() => {}
        _ => return Found::Unfit("it is not a plain file that can be read"),
    }
    let mut bytes = Vec::new();
    match file.take(LONGEST_FILE_BYTES + 1).read_to_end(&mut bytes) {
        Ok(count) if count as u64 <= LONGEST_FILE_BYTES => Found::Bytes(bytes),
        Ok(_) => Found::Unfit("it is longer than 1 MiB"),
        Err(_) => Found::Unfit("it cannot be read"),
    }
}

impl TrustStore {
    /// The pins in umbo's configuration directory.
    pub fn open(config: &Path, key: Key) -> Self {
        Self { directory: config.join("trust"), key }
    }

    /// Pins the files of a project as the snapshot has them: exactly what the user was shown.
    pub fn pin(&self, project: &Path, snapshot: &Snapshot, now: u64) -> Result<()> {
        make_directory(&self.directory)?;
        let path = self.path(project);
        let pinned = Pinned {
            project: resolve(project).display().to_string(),
            at: now,
            files: snapshot.digests().map(|(name, digest)| (name.to_owned(), digest)).collect(),
        };
        replace(&path, &seal(&self.key, "trust", &path, &pinned)?)
    }

    /// How each file of a project stands, those that are gone included. A pin that was tampered with
    /// is no pin, and says so.
    pub fn file_states(&self, project: &Path, snapshot: &Snapshot) -> Result<Vec<FileTrust>> {
        let (pinned, forged): (Option<Pinned>, bool) =
            match unseal(&self.key, "trust", &self.path(project)) {
                Err(Error::Tampered { .. }) => (None, true),
                other => (other?, false),
            };
        let here = resolve(project).display().to_string();
        let pinned = pinned.filter(|pinned| pinned.project == here);
        let pins = pinned.map(|pinned| pinned.files).unwrap_or_default();
        let mut states: Vec<FileTrust> = snapshot
            .files
            .iter()
            .map(|(name, found)| match (found, pins.get(name)) {
                (Found::Unfit(why), _) => entry(name, FileState::Unfit, why),
                (Found::Bytes(bytes), Some(pin)) if Digest::of(bytes) == *pin => {
                    entry(name, FileState::Trusted, "it counts in full")
                }
                (Found::Bytes(_), Some(_)) => entry(
                    name,
                    FileState::Changed,
                    "it was changed after it was trusted: only what tightens counts",
                ),
                (Found::Bytes(_), None) => entry(
                    name,
                    FileState::New,
                    "nobody trusted it: only what tightens counts; `umbo trust` changes that",
                ),
            })
            .collect();
        if forged {
            let what = "the record of what was trusted was forged; `umbo trust` makes a new one";
            states.push(entry("", FileState::Unfit, what));
        }
        let gone = pins.keys().filter(|name| !snapshot.files.contains_key(*name));
        states
            .extend(gone.map(|name| entry(name, FileState::Missing, "it was trusted and is gone")));
        Ok(states)
    }

    fn path(&self, project: &Path) -> PathBuf {
        let project = resolve(project);
        self.directory.join(Digest::of(project.as_os_str().as_encoded_bytes()).as_str())
    }
}

fn entry(name: &str, state: FileState, meaning: &'static str) -> FileTrust {
    FileTrust { file: name.to_owned(), state, meaning }
}
