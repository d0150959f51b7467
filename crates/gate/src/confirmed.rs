//! The user's own files, and what of them a person has confirmed.
//!
//! Code that runs as the user can write to the configuration. So a signed copy of each file is kept, as it
//! was when a person last confirmed it: by `umbo config set`, `umbo config confirm`, or by being there when
//! the key was made. A file that says something else now counts only as far as it tightens; what was
//! confirmed holds beside it.
//!
//! ```text
//! <config>/confirmed/<file>   the text that was confirmed, signed; none if there was no file
//! ```

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::key::Key;
use crate::store::{make_directory, replace, seal, unseal};

/// The files of a user that decide what commands may do and what is masked.
pub const USER_FILES: [&str; 3] = ["config.toml", "rules.toml", "secrets.yml"];

const DIRECTORY: &str = "confirmed";
const PURPOSE: &str = "confirmed file";

/// A file of the user's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserFile {
    /// Where it is.
    pub path: PathBuf,
    /// What counts in full; `None` if that is no file.
    pub confirmed: Option<Vec<u8>>,
    /// How it differs from that now.
    pub change: Option<Change>,
}

/// How a file differs from what was confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It says this now, of which only what tightens counts.
    Written(Vec<u8>),
    /// It is gone; what it said still counts.
    Removed,
}

/// A signed copy. Where there is none, it was confirmed that there is no file.
#[derive(Serialize, Deserialize)]
struct Copy {
    at: u64,
    text: String,
}

impl UserFile {
    /// Reads a file of a configuration directory, by its name, with what was confirmed of it. Before there
    /// is a key nothing was confirmed, and the file counts as it is.
    pub fn read(config: &Path, name: &str) -> Result<Self> {
        match Key::existing(config) {
            Ok(None) => {
                let path = config.join(name);
                Ok(Self { confirmed: current(&path)?, path, change: None })
            }
            Ok(Some(key)) => Self::read_with(config, name, Some(&key)),
            // A key that cannot be used confirms nothing.
            Err(_) => Self::read_with(config, name, None),
        }
    }

    /// The same for one who has the key.
    pub(crate) fn read_with(config: &Path, name: &str, key: Option<&Key>) -> Result<Self> {
        let path = config.join(name);
        let current = current(&path)?;
        let copy = match key.map(|key| unseal::<Copy>(key, PURPOSE, &copy_path(config, name))) {
            Some(Ok(copy)) => copy,
            Some(Err(Error::Tampered { .. })) | None => None,
            Some(Err(error)) => return Err(error),
        };
        let confirmed = copy.map(|copy| copy.text.into_bytes());
        let change = match (&confirmed, current) {
            (confirmed, Some(current)) if confirmed.as_ref() != Some(&current) => {
                Some(Change::Written(current))
            }
            (Some(_), None) => Some(Change::Removed),
            _ => None,
        };
        Ok(Self { path, confirmed, change })
    }

    /// What the file says now.
    pub fn current(&self) -> Option<&[u8]> {
        match &self.change {
            None => self.confirmed.as_deref(),
            Some(Change::Written(bytes)) => Some(bytes),
            Some(Change::Removed) => None,
        }
    }

    /// What to tell a person about a change that nobody has confirmed.
    pub fn warning(&self) -> Option<String> {
        let path = self.path.display();
        let what = match self.change.as_ref()? {
            Change::Written(_) => {
                "was changed, and not by `umbo config`: only what tightens counts"
            }
            Change::Removed => "was removed, and not by `umbo config`: what it said still counts",
        };
        Some(format!("{path} {what} until you run `umbo config confirm`"))
    }
}

/// Confirms a file of a configuration directory as it was shown: `None` that there is none.
pub fn confirm(config: &Path, key: &Key, name: &str, text: Option<&[u8]>, now: u64) -> Result<()> {
    let path = copy_path(config, name);
    let Some(bytes) = text else {
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::file("remove", path)(error))
            }
            _ => Ok(()),
        };
    };
    let text = String::from_utf8(bytes.to_vec())
        .map_err(|_| Error::file("confirm", config.join(name))(not_utf8()))?;
    make_directory(&config.join(DIRECTORY))?;
    replace(&path, &seal(key, PURPOSE, &path, &Copy { at: now, text })?)
}

/// What a file says now; `None` if there is none.
fn current(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path)(error)),
    }
}

fn not_utf8() -> std::io::Error {
    std::io::Error::other("it is not UTF-8")
}

/// Confirms all files as they are, for a key that was just made: nobody could have confirmed them before.
pub(crate) fn confirm_all(config: &Path, key: &Key) {
    for name in USER_FILES {
        // What cannot be read or written stays unconfirmed, which only tightens.
        if let Ok(bytes) = std::fs::read(config.join(name)) {
            let _ = confirm(config, key, name, Some(&bytes), 0);
        }
    }
}

fn copy_path(config: &Path, name: &str) -> PathBuf {
    config.join(DIRECTORY).join(name)
}
