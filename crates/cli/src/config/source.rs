//! The files of settings: the user's own, and that of the project, which counts in full only as far
//! as somebody trusts it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use umbo_gate::{Change, DIRECTORY, FileState, Key, Layer, Snapshot, Trust, TrustStore, UserFile};

/// The name of a file of settings.
pub(crate) const FILE: &str = "config.toml";

/// A file that was looked for.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) layer: Layer,
    pub(crate) path: PathBuf,
    pub(crate) standing: Standing,
    /// What that means.
    pub(crate) meaning: &'static str,
}

/// Whether a file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// There is none.
    Absent,
    /// It counts in full.
    Counts,
    /// Only what tightens counts.
    Untrusted,
    /// It has errors.
    Wrong,
    /// It is not read.
    Unfit,
}

impl Source {
    /// Whether it may loosen.
    pub(crate) fn trust(&self) -> Trust {
        match self.standing {
            Standing::Counts => Trust::Trusted,
            _ => Trust::Untrusted,
        }
    }
}

/// A file with its text, if there is one that is read; or why it could not be.
pub(crate) struct Found {
    pub(crate) source: Source,
    pub(crate) text: Result<Option<String>, String>,
}

/// The user's file: what was confirmed of it, and what was changed since, which only tightens.
pub(crate) fn user(directory: &Path) -> Vec<Found> {
    let path = directory.join(FILE);
    let found = |standing, meaning, text| {
        let source = Source { layer: Layer::User, path: path.clone(), standing, meaning };
        Found { source, text }
    };
    let UserFile { confirmed, change, .. } = match UserFile::read(directory, FILE) {
        Ok(file) => file,
        Err(umbo_gate::Error::File { source, .. }) => {
            return vec![found(Standing::Unfit, "it cannot be read", Err(unreadable(&source)))];
        }
        Err(error) => {
            return vec![found(Standing::Unfit, "it cannot be read", Err(error.to_string()))];
        }
    };
    match (confirmed, change) {
        (None, None | Some(Change::Removed)) => {
            vec![found(Standing::Absent, "there is none, and none is needed", Ok(None))]
        }
        (Some(bytes), None) => {
            vec![found(Standing::Counts, "it counts in full", decode(bytes))]
        }
        (Some(bytes), Some(Change::Removed)) => {
            let meaning = "it was removed, and not by `umbo config`: what it said still counts";
            vec![found(Standing::Counts, meaning, decode(bytes))]
        }
        (confirmed, Some(Change::Written(bytes))) => {
            let before = confirmed.map(|bytes| {
                let meaning = "what was confirmed of it counts in full";
                found(Standing::Counts, meaning, decode(bytes))
            });
            let meaning = "it was changed, and not by `umbo config`: only what tightens counts";
            let changed = found(Standing::Untrusted, meaning, decode(bytes));
            before.into_iter().chain([changed]).collect()
        }
    }
}

/// The project's file. `user` has what was trusted.
pub(crate) fn project(project: &Path, user: Option<&Path>) -> Found {
    let path = project.join(DIRECTORY).join(FILE);
    let found = |standing, meaning, text| {
        let source = Source { layer: Layer::Project, path: path.clone(), standing, meaning };
        Found { source, text }
    };
    let absent = || found(Standing::Absent, "there is none, and none is needed", Ok(None));
    // Most projects have none, and then nothing else is looked at.
    if path.symlink_metadata().is_err() {
        return absent();
    }
    match judged(project, user) {
        Err(error) => found(Standing::Unfit, "it cannot be judged", Err(error.to_string())),
        Ok((_, FileState::Missing, _)) => absent(),
        Ok((text, FileState::Trusted, meaning)) => found(Standing::Counts, meaning, decode(text)),
        Ok((_, FileState::Unfit, meaning)) => found(Standing::Unfit, meaning, Ok(None)),
        Ok((text, _, meaning)) => found(Standing::Untrusted, meaning, decode(text)),
    }
}

/// The bytes of the project's file, exactly those that were judged, and how it stands.
fn judged(
    project: &Path,
    user: Option<&Path>,
) -> umbo_gate::Result<(Vec<u8>, FileState, &'static str)> {
    let snapshot = Snapshot::read(project)?;
    let standing = match user {
        Some(user) => TrustStore::open(user, Key::open(user)?).file_states(project, &snapshot)?,
        None => Vec::new(),
    };
    let bytes = snapshot.file(FILE, &standing).map(|(bytes, _)| bytes.to_vec());
    // If `.umbo` itself is unfit, that is said of a file without a name.
    let of = |name: &str| standing.iter().find(|file| file.file == name);
    let (state, meaning) = match of(FILE).or_else(|| of("").filter(|_| bytes.is_none())) {
        Some(file) => (file.state, file.meaning),
        None if bytes.is_some() => {
            (FileState::New, "nobody could have trusted it: HOME is not set")
        }
        None => (FileState::Missing, "it is gone"),
    };
    Ok((bytes.unwrap_or_default(), state, meaning))
}

fn decode(bytes: Vec<u8>) -> Result<Option<String>, String> {
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".into())
}

fn unreadable(error: &io::Error) -> String {
    format!("cannot read it: {error}")
}
