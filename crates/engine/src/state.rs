//! The state directory: which file is where. All umbo processes of a user are peers over it.
//!
//! ```text
//! jobs/<id>/       one directory per job, written by its supervisor
//!     request      line 1: what was asked, and by which supervisor; line 2: that it started
//!     output index gap    the log
//!     groups       the control groups made for it
//!     slots/       as below, for jobs that were started inside of it
//!     outcome      how it ended
//!     read-<name>  how far a reader has read the log
//!     lock         held while the supervisor lives
//!     sock         where the supervisor listens; gone once the journal has the job's last event
//! spares/<name>/   what a supervisor that waits for a job has prepared; what is left to delete
//! events           the journal
//! keys/            idempotency keys, each a link that names its job
//! slots/           one file per job that may run; held like `lock`. `queue/` has those who wait
//! sessions/        what persistent shells carry from call to call
//! cursors/         how far each consumer of completions has read
//! prune.lock       held by whoever makes room
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exit_record;
use crate::files;
use crate::hash::Fnv;
use crate::id::JobId;
use crate::outcome::{Containment, Outcome};
use crate::repeat::Repeat;
use crate::request::{Limits, Size};
use crate::sys::lock;
use crate::turns::After;

/// The version of the files written here. Readers accept this one and all before it.
pub(crate) const FORMAT: u32 = 1;

/// More than this no request has: a message to a supervisor is not larger.
const MOST_REQUEST_BYTES: u64 = 80 << 20;
/// More than this no exit record has.
const MOST_OUTCOME_BYTES: u64 = 1 << 20;

/// A state directory.
#[derive(Debug, Clone)]
pub(crate) struct State {
    root: PathBuf,
}

#[cfg(test)]
impl State {
    /// A new one, and the directory that takes it away.
    pub(crate) fn temporary() -> (tempfile::TempDir, Self) {
        let directory = tempfile::tempdir().unwrap();
        let state = Self::open(&directory.path().join("state")).unwrap();
        (directory, state)
    }
}

impl State {
    /// Opens a state directory, making what is missing.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        if let Ok(meta) = fs::metadata(root) {
            files::owned_directory(&meta).map_err(Error::state(root))?;
        }
        for name in ["jobs", "spares", "keys", "slots", "sessions", "cursors"] {
            let path = root.join(name);
            match fs::symlink_metadata(&path) {
                Ok(meta) => files::owned_directory(&meta).map_err(Error::state(path))?,
                Err(_) => builder.create(&path).map_err(Error::state(path))?,
            }
        }
        Ok(Self { root: root.to_owned() })
    }

    /// A state directory that exists, as its supervisors see it.
    pub(crate) fn existing(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn jobs(&self) -> PathBuf {
        self.root.join("jobs")
    }

    pub(crate) fn job(&self, id: &JobId) -> JobDir {
        JobDir { path: self.jobs().join(id.as_str()) }
    }

    pub(crate) fn spares(&self) -> PathBuf {
        self.root.join("spares")
    }

    pub(crate) fn events(&self) -> PathBuf {
        self.root.join("events")
    }

    pub(crate) fn keys(&self) -> PathBuf {
        self.root.join("keys")
    }

    pub(crate) fn slots(&self) -> PathBuf {
        self.root.join("slots")
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub(crate) fn cursors(&self) -> PathBuf {
        self.root.join("cursors")
    }

    /// The name of a control group of this state directory.
    pub(crate) fn group_name(&self, name: &str) -> String {
        // The hash tells the groups of one state directory from those of another.
        format!("umbo-{}-{name}", Fnv::of(self.root.as_os_str().as_bytes()))
    }

    /// All jobs on disk, oldest first. What is not named like a job is not one.
    pub(crate) fn job_ids(&self) -> Result<Vec<JobId>> {
        let path = self.jobs();
        let entries = fs::read_dir(&path).map_err(Error::state(path))?;
        let mut ids: Vec<JobId> = entries
            .flatten()
            // A link to a directory is somebody else's idea of a job.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        ids.sort();
        Ok(ids)
    }
}

/// The directory of one job.
#[derive(Debug, Clone)]
pub(crate) struct JobDir {
    path: PathBuf,
}

impl JobDir {
    /// A directory by its path, which may be a spare's.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// What was asked, and whether it started.
    pub(crate) fn record(&self) -> io::Result<(Record, Option<Started>)> {
        let bytes = files::read(&self.file("request"), MOST_REQUEST_BYTES)?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let record = serde_json::from_slice(lines.next().unwrap_or_default())?;
        let started = lines.next().and_then(|line| serde_json::from_slice(line).ok());
        Ok((record, started))
    }

    /// The exit record, if there is one that can be read.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        exit_record::parse(&files::read(&self.file("outcome"), MOST_OUTCOME_BYTES).ok()?).ok()
    }

    /// When it ended, and whether nothing of it is left, if it has ended.
    pub(crate) fn end(&self) -> Option<JobEnd> {
        serde_json::from_slice(&files::read(&self.file("outcome"), MOST_OUTCOME_BYTES).ok()?).ok()
    }

    /// Whether its supervisor lives: the kernel's word, not a pid's.
    pub(crate) fn is_supervised(&self) -> bool {
        files::open(&self.file("lock")).and_then(lock::is_held).unwrap_or(false)
    }

    /// Whether the journal has its last event for certain.
    pub(crate) fn is_announced(&self) -> bool {
        !fs::exists(self.file("sock")).unwrap_or(true)
    }
}

/// Of an exit record what its deletion takes.
#[derive(Debug, Deserialize)]
pub(crate) struct JobEnd {
    pub(crate) ended_at: u64,
    #[serde(default)]
    pub(crate) contained_by: Option<Containment>,
}

/// The first line of a `request` file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) v: u32,
    pub(crate) job: JobId,
    pub(crate) command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shell: Option<String>,
    pub(crate) cwd: String,
    pub(crate) created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    /// The job it was started inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<JobId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// The group it takes turns in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    /// What it waits for before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<After>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) terminal: Option<Size>,
    /// Names only: a value may be a secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) env: Vec<String>,
    #[serde(default)]
    pub(crate) limits: Limits,
    /// What else it takes to ask for the same again.
    #[serde(default, skip_serializing_if = "Repeat::is_usual")]
    pub(crate) repeat: Repeat,
    /// What the idempotency key was given for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// Added by the supervisor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) supervisor: Option<Identity>,
}

/// The second line of a `request` file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) at: u64,
    /// Where it began, if its session was elsewhere than the request says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
}

/// A process, beyond doubt within one boot of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pub(crate) pid: i32,
    pub(crate) start_time: u64,
}

/// Which supervisor, beyond doubt, and where it keeps the job's processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) boot_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Its parent, which waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keeper: Option<ProcessId>,
    #[serde(flatten)]
    pub(crate) process: ProcessId,
}
