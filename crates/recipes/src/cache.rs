//! Answers kept from one detection to the next. An answer is kept with every look it rests on
//! (contents by hash, presence, directory names, programs); it is given again only when all of
//! them still hold. The caller owns the cache: in memory, or as files in a directory of its own.
//! That directory must not be writable by whoever writes the project.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    folder::{Folder, Look, hex},
    options::{Asking, Options, matters},
    project::Project,
};

/// Raised whenever the stored form or the meaning of a detection changes.
const FORMAT: u32 = 2;

/// Kept answers.
#[derive(Debug, Default)]
pub struct Cache {
    memory: Mutex<HashMap<String, Snapshot>>,
    directory: Option<PathBuf>,
}

/// One answer and what it rests on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    pub(crate) looks: Vec<(Look, String)>,
    pub(crate) project: Project,
}

impl Cache {
    /// A cache that lives as long as this value.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// A cache whose answers also lie as files in a directory, which is made when needed.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..Self::default() }
    }

    /// The kept answer, if everything it rests on is unchanged.
    pub(crate) fn recall(&self, key: &str, folder: &Folder<'_>) -> Option<Project> {
        let kept = self.memory.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let snapshot = kept.or_else(|| self.load(key))?;
        let holds = snapshot.looks.iter().all(|(look, state)| folder.state(look) == *state);
        holds.then_some(snapshot.project)
    }

    /// Keeps an answer. A directory that cannot be written only costs the next caller time.
    pub(crate) fn keep(&self, key: &str, snapshot: Snapshot) {
        if let Some(directory) = &self.directory {
            let _ = store(directory, key, &snapshot);
        }
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.insert(key.to_owned(), snapshot);
    }

    fn load(&self, key: &str) -> Option<Snapshot> {
        let path = self.directory.as_ref()?.join(format!("{key}.json"));
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }
}

/// Tells apart what two threads of this process keep at once.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Writes beside the place and moves into it, so that a reader never sees half a file.
fn store(directory: &Path, key: &str, snapshot: &Snapshot) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let beside = directory.join(format!("{key}.{}-{count}.new", std::process::id()));
    std::fs::write(&beside, serde_json::to_vec(snapshot)?)?;
    std::fs::rename(beside, directory.join(format!("{key}.json")))
}

/// The name of an answer: the folder and everything in the options that can change it.
pub(crate) fn key(root: &Path, options: &Options) -> String {
    let mut hasher = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    part(&FORMAT.to_le_bytes());
    part(env!("CARGO_PKG_VERSION").as_bytes());
    part(root.as_os_str().as_encoded_bytes());
    for directory in &options.path {
        part(directory.as_os_str().as_encoded_bytes());
    }
    part(b"environment");
    for (name, value) in options.environment.iter().filter(|(name, _)| matters(name)) {
        part(name.as_encoded_bytes());
        part(value.as_encoded_bytes());
    }
    part(match options.asking {
        Asking::Within(_) => b"ask",
        Asking::Never => b"never",
    });
    part(format!("{:?}", options.limits).as_bytes());
    hex(&hasher.finalize())[..32].to_owned()
}
