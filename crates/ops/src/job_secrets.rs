//! The secrets a job was given, kept with it: whoever reads it masks them, with or without the variables.
//!
//! They are a label of the job, encrypted with a key of the state directory. So they are nowhere in plain
//! text, and travel with the job wherever it is kept.

use std::collections::BTreeMap;
use std::ffi::OsString;
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
}

impl JobSecrets {
    pub(crate) fn new(state: Option<&Path>) -> Self {
        Self {
            directory: state.map(|state| state.join("masking")),
            key: OnceLock::new(),
            usual: OnceLock::new(),
            seen: Mutex::default(),
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

fn secrets(variables: &[(OsString, OsString)]) -> Vec<(String, String)> {
    let text = |(name, value): &(OsString, OsString)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    secret_variables(variables.iter().filter_map(text))
}
