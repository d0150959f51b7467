//! The secrets a job was given, kept with it: whoever reads it masks them, with or without the variables.
//!
//! They are a label of the job, encrypted with a key of the state directory. So they are nowhere in plain
//! text, and travel with the job wherever it is kept.
//!
//! Secrets that were found by their shape in an answer are kept as well, each owner's for itself, encrypted
//! the same way: an owner that comes back in another process can still use their placeholders.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use umbo_engine::Request;
use umbo_gate::Key;
use umbo_view::mask::{Masker, secret_variables};

/// The label that has them.
const LABEL: &str = "umbo.secrets";
/// What the key is used for.
const PURPOSE: &str = "secrets of a job";
/// Labels that are remembered, so that none is decrypted twice.
const MOST_REMEMBERED: usize = 10_000;
/// The file with the secrets that were found, a line each, and where it goes when it is full.
const FOUND: &str = "found";
const FOUND_BEFORE: &str = "found.old";
/// When the file is full.
const MOST_FOUND_BYTES: u64 = 4 << 20;

/// Keeps secrets with jobs, and finds them there.
#[derive(Debug)]
pub(crate) struct JobSecrets {
    /// Where the key is; without a state directory there is none.
    directory: Option<PathBuf>,
    key: OnceLock<Key>,
    /// The label for the variables that the caller has anyway.
    usual: OnceLock<Option<String>>,
    /// Labels whose secrets the masker has.
    seen: Mutex<Vec<String>>,
    /// Placeholders that are in the file for this caller.
    kept: Mutex<HashSet<String>>,
}

impl JobSecrets {
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self {
            directory: state.map(|state| state.join("masking")),
            key: OnceLock::new(),
            usual: OnceLock::new(),
            seen: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    fn key(&self) -> Option<&Key> {
        if let Some(key) = self.key.get() {
            return Some(key);
        }
        // Where it cannot be made or read, the reader's own variables are what is left.
        let key = Key::open(self.directory.as_deref()?).ok()?;
        Some(self.key.get_or_init(|| key))
    }

    /// The label for the secrets of a request, if it has any. The masker is told of those it has not known.
    pub(crate) fn label(
        &self,
        request: &Request,
        masker: &Masker,
    ) -> Option<(&'static str, String)> {
        let given = secrets(&request.env.set);
        let label = if given.is_empty() {
            self.usual.get_or_init(|| self.sealed(&secrets(&request.env.base))).clone()
        } else {
            let _ = masker.learn(given.iter().cloned());
            let all: Vec<_> = secrets(&request.env.base).into_iter().chain(given).collect();
            self.sealed(&all)
        }?;
        self.remember(&label);
        Some((LABEL, label))
    }

    fn sealed(&self, secrets: &[(String, String)]) -> Option<String> {
        if secrets.is_empty() {
            return None;
        }
        let plain = serde_json::to_vec(secrets).ok()?;
        self.key()?.encrypt(PURPOSE, &plain).ok()
    }

    /// Tells the masker of the secrets that are written on a job.
    pub(crate) fn learn(&self, labels: &BTreeMap<String, String>, masker: &Masker) {
        let Some(label) = labels.get(LABEL).filter(|label| self.remember(label)) else { return };
        let Some(plain) = self.key().and_then(|key| key.decrypt(PURPOSE, label)) else { return };
        let secrets: Vec<(String, String)> = serde_json::from_slice(&plain).unwrap_or_default();
        let _ = masker.learn(secrets);
    }

    /// Keeps what the masker found by its shape, for the caller `owner` when it comes back. What cannot be
    /// kept is masked all the same.
    pub(crate) fn keep_found(&self, owner: Option<&str>, masker: &Masker) {
        let found = masker.take_found();
        if found.is_empty() {
            return;
        }
        self.recall_found(owner, masker);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (Some(key), Some(directory)) = (self.key(), &self.directory) else { return };
        let mut lines = String::new();
        for (placeholder, value) in found {
            if kept.insert(placeholder.to_string())
                && let Ok(plain) = serde_json::to_vec(&(&*placeholder, &*value))
                && let Ok(line) = key.encrypt(&purpose(owner), &plain)
            {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        let _ = append(&directory.join(FOUND), &lines);
    }

    /// Tells the masker what was found for the caller `owner` in other processes.
    pub(crate) fn recall_found(&self, owner: Option<&str>, masker: &Masker) {
        let (Some(key), Some(directory)) = (self.key(), &self.directory) else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let purpose = purpose(owner);
        for name in [FOUND_BEFORE, FOUND] {
            let text = std::fs::read_to_string(directory.join(name)).unwrap_or_default();
            let plain = text.lines().filter_map(|line| key.decrypt(&purpose, line));
            let found = plain.filter_map(|plain| serde_json::from_slice(&plain).ok());
            let found: Vec<(String, String)> = found.collect();
            kept.extend(found.iter().map(|(placeholder, _)| placeholder.clone()));
            masker.recall(found);
        }
    }

    /// Remembers a label; whether it is new.
    fn remember(&self, label: &str) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.iter().any(|known| known == label) {
            return false;
        }
        if seen.len() >= MOST_REMEMBERED {
            seen.clear();
        }
        seen.push(label.to_owned());
        true
    }
}

/// What the key is used for with what was found for a caller: no other caller can read it.
fn purpose(owner: Option<&str>) -> String {
    match owner {
        Some(owner) => format!("secrets found for {owner}"),
        None => "secrets found for everybody".to_owned(),
    }
}

/// Adds lines to a file that only its user can read; a file that is full makes room first.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    if path.metadata().is_ok_and(|facts| facts.len() > MOST_FOUND_BYTES) {
        std::fs::rename(path, path.with_file_name(FOUND_BEFORE))?;
    }
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).mode(0o600).open(path)?;
    file.write_all(lines.as_bytes())
}

fn secrets(variables: &[(OsString, OsString)]) -> Vec<(String, String)> {
    let text = |(name, value): &(OsString, OsString)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    secret_variables(variables.iter().filter_map(text))
}
