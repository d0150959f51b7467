//! When a job may begin: after others have ended, and as one of a group.
//!
//! A group is a directory of slots of its own, with a file that says how many of its jobs run at once.
//! It is there from its first job or its first limit on, and costs nothing while nobody is in it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::id::JobId;
use crate::state::State;

/// The file with a group's limit, beside its slots.
const LIMIT: &str = "limit";
/// How many jobs of a group run at once if nobody said it.
const USUAL_LIMIT: usize = 1;
/// A limit is a short number.
const MOST_LIMIT_BYTES: u64 = 32;
/// The largest limit: each running job has a file.
const LARGEST_LIMIT: usize = 10_000;

/// Another job that must have ended first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct After {
    /// That job.
    pub job: JobId,
    /// How it must have ended.
    pub end: AfterEnd,
}

/// How a job must have ended for the next one to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterEnd {
    /// In whatever way.
    #[default]
    Any,
    /// With exit code 0. If it ends otherwise, the next one fails to start.
    Ok,
}

/// A group of jobs, of which only so many run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobGroup {
    /// Its name.
    pub name: String,
    /// How many of its jobs run at once.
    pub limit: usize,
}

/// What a group's name may be: it becomes a directory.
pub(crate) fn check_group(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || name.starts_with('.') || !name.chars().all(is_plain) {
        let rule = "use up to 64 letters, digits, '-', '_' or '.', not starting with '.'";
        return Err(Error::invalid("group", format!("{name:?} is no group name; {rule}")));
    }
    Ok(())
}

fn root(state: &State) -> PathBuf {
    state.root().join("groups")
}

/// The slots of a group.
pub(crate) fn slots(state: &State, group: &str) -> PathBuf {
    root(state).join(group)
}

/// Makes the directory of a group, where there is none.
pub(crate) fn make(state: &State, group: &str) -> io::Result<PathBuf> {
    let directory = slots(state, group);
    DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
    Ok(directory)
}

/// How many jobs of the group with these slots run at once; none if they are not a group's.
pub(crate) fn limit_beside(slots: &Path) -> Option<usize> {
    let text = files::read(&slots.join(LIMIT), MOST_LIMIT_BYTES).ok()?;
    let limit: usize = String::from_utf8(text).ok()?.trim().parse().ok()?;
    Some(limit.clamp(1, LARGEST_LIMIT))
}

/// How many jobs of a group run at once.
pub(crate) fn limit(state: &State, group: &str) -> usize {
    limit_beside(&slots(state, group)).unwrap_or(USUAL_LIMIT)
}

impl Engine {
    /// The groups that have jobs or a limit, by name.
    pub fn groups(&self) -> Result<Vec<JobGroup>> {
        let path = root(self.state());
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::State { path, source }),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut groups: Vec<JobGroup> = names
            .filter(|name| check_group(name).is_ok())
            .map(|name| JobGroup { limit: limit(self.state(), &name), name })
            .collect();
        groups.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(groups)
    }

    /// Says how many jobs of a group run at once. Jobs that wait hear of it; those that run stay.
    pub fn limit_group(&self, name: &str, limit: usize) -> Result<()> {
        check_group(name)?;
        if !(1..=LARGEST_LIMIT).contains(&limit) {
            let problem = format!("{limit} was given; a group runs 1 to {LARGEST_LIMIT} jobs");
            return Err(Error::invalid("limit", problem));
        }
        let directory = make(self.state(), name).map_err(Error::state(root(self.state())))?;
        let file = directory.join(LIMIT);
        let draft = directory.join(format!(".{}", JobId::generate()));
        fs::write(&draft, limit.to_string())
            .and_then(|()| fs::rename(&draft, &file))
            // Closing a file of the directory is what wakes those who wait.
            .and_then(|()| files::open_or_create(&directory.join("0")).map(drop))
            .map_err(Error::state(file))
    }
}
