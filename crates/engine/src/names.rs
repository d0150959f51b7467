//! Which jobs have a name: a file for each name that was ever given, with the ids of its jobs, a line
//! each, the newest last. So a name is found, or not found, at the same price however many jobs ended.
//!
//! A supervisor adds its job before the job's directory appears. Lines of jobs that are gone do no
//! harm: the job's record has the last word. Files with nothing else are removed with the jobs.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::hash::Fnv;
use crate::id::JobId;
use crate::job::Job;
use crate::request::Request;
use crate::state::{Record, State};
use crate::sys::lock;

/// Whether other live jobs may have a job's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameUse {
    /// They may; the name then means the newest.
    #[default]
    Shared,
    /// None may: a request with a name that is taken is refused.
    Unique,
    /// None may: a live job of that name is stopped first.
    Replace,
}

/// The lock of whoever makes sure that a name is unique.
const UNIQUE_LOCK: &str = "names.lock";

impl Engine {
    /// Makes sure that no other live job has a request's name, where that is wanted. While the result is
    /// held, nobody else does.
    pub(crate) fn take_name(&self, request: &Request) -> Result<Option<File>> {
        let (Some(name), NameUse::Unique | NameUse::Replace) = (&request.name, request.name_use)
        else {
            return Ok(None);
        };
        let path = self.state().root().join(UNIQUE_LOCK);
        let held = files::open_or_create(&path)
            .and_then(|file| lock::exclusive(&file).map(|()| file))
            .map_err(Error::state(path))?;
        for job in self.live_named(name)? {
            if request.name_use == NameUse::Unique {
                return Err(Error::NameTaken { name: name.clone(), job: job.id().to_string() });
            }
            job.stop(request.ladder)?;
        }
        Ok(Some(held))
    }

    /// The live jobs with a name, the newest first.
    fn live_named(&self, name: &str) -> Result<Vec<Job>> {
        let ids = jobs(self.state(), name).map_err(Error::state(directory(self.state())))?;
        let mut found: Vec<Job> = ids.into_iter().map(|id| Job::new(self.clone(), id)).collect();
        found.retain(|job| {
            let has_name = |(record, _): (Record, _)| record.name.as_deref() == Some(name);
            job.directory().record().is_ok_and(has_name) && !job.has_ended()
        });
        Ok(found)
    }
}

/// How the file of a name is called while it is being removed.
const REMOVED: &str = "removed-";
/// So many of the newest jobs of a name are known.
const MOST_IDS: u64 = 4096;
/// An id and the end of its line.
const LINE: u64 = 27;

fn directory(state: &State) -> PathBuf {
    state.root().join("names")
}

fn file_name(name: &str) -> String {
    Fnv::of(name.as_bytes())
}

/// Adds a job that is about to exist to the jobs of its name.
pub(crate) fn add(state: &State, name: &str, job: &JobId) -> io::Result<()> {
    make(state)?;
    append(&directory(state).join(file_name(name)), job)
}

fn append(path: &Path, job: &JobId) -> io::Result<()> {
    loop {
        let options = &mut OpenOptions::new();
        let file = files::open_with(options.create(true).read(true).append(true), path)?;
        // A line that a full disk cut off must not swallow this one.
        let is_torn = file.metadata()?.len() % LINE != 0;
        let line = format!("{}{job}\n", if is_torn { "\n" } else { "" });
        if rustix::io::write(&file, line.as_bytes())? != line.len() {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        // Whoever removed the file meanwhile may have read it before.
        let own = file.metadata()?.ino();
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.ino() == own) {
            return Ok(());
        }
    }
}

/// The jobs that may have a name, the newest first.
pub(crate) fn jobs(state: &State, name: &str) -> io::Result<Vec<JobId>> {
    make(state)?;
    match files::open(&directory(state).join(file_name(name))) {
        Ok(file) => ids(&file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn ids(file: &File) -> io::Result<Vec<JobId>> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(MOST_IDS * LINE);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
    let count = file.read_at(&mut bytes, start)?;
    let text = String::from_utf8_lossy(&bytes[..count]);
    Ok(text.lines().rev().filter_map(|line| line.parse().ok()).collect())
}

/// Makes the files from the records of all jobs, where there are none.
fn make(state: &State) -> io::Result<()> {
    let directory = directory(state);
    if directory.is_dir() {
        return Ok(());
    }
    let draft = directory.with_extension(JobId::generate().as_str());
    fs::DirBuilder::new().mode(0o700).create(&draft)?;
    let filled = state.job_ids().map_err(io::Error::other).and_then(|ids| {
        ids.iter().try_for_each(|id| match state.job(id).record() {
            Ok((record, _)) => match record.name {
                Some(name) => append(&draft.join(file_name(&name)), id),
                None => Ok(()),
            },
            Err(_) => Ok(()),
        })
    });
    let placed = filled
        .and_then(|()| Ok(renameat_with(CWD, &draft, CWD, &directory, RenameFlags::NOREPLACE)?));
    match placed {
        Ok(()) => Ok(()),
        Err(_) if directory.is_dir() => fs::remove_dir_all(&draft),
        Err(error) => {
            let _ = fs::remove_dir_all(&draft);
            Err(error)
        }
    }
}

/// Adds jobs of an older version to the jobs of their names.
pub(crate) fn catch_up(state: &State, job: &JobId, name: &str) -> io::Result<()> {
    if jobs(state, name)?.contains(job) { Ok(()) } else { add(state, name, job) }
}

/// Removes the files of names that none of `kept` has.
pub(crate) fn forget(state: &State, kept: &HashSet<u128>) {
    let Ok(entries) = fs::read_dir(directory(state)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let _ = forget_one(&directory(state), name.trim_start_matches(REMOVED), kept);
    }
}

fn forget_one(directory: &Path, name: &str, kept: &HashSet<u128>) -> io::Result<()> {
    let (path, away) = (directory.join(name), directory.join(format!("{REMOVED}{name}")));
    // One that another process began to remove, and did not: what it has goes back first.
    put_back(&away, &path, kept)?;
    let is_kept = |id: &JobId| kept.contains(&id.number());
    match files::open(&path) {
        Ok(file) if !ids(&file)?.iter().any(is_kept) => {}
        _ => return Ok(()),
    }
    fs::rename(&path, &away)?;
    // Jobs that came between the look and the rename are in it.
    put_back(&away, &path, kept)
}

/// Returns jobs that may be there to the file of their name.
fn put_back(away: &Path, path: &Path, kept: &HashSet<u128>) -> io::Result<()> {
    let Ok(file) = files::open(away) else { return Ok(()) };
    for id in ids(&file)?.iter().rev().filter(|id| kept.contains(&id.number()) || is_new(id)) {
        append(path, id)?;
    }
    fs::remove_file(away)
}

/// Whether a job may have been made after those that are kept were listed.
fn is_new(id: &JobId) -> bool {
    let age = (crate::clock::now_us() / 1000).saturating_sub(id.made_at_ms());
    age < 3_600_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old() -> JobId {
        JobId::from_number(JobId::generate().number() - (7_200_000_u128 << 80))
    }

    #[test]
    fn the_jobs_of_a_name_come_newest_first_and_those_of_others_do_not() {
        let (_directory, state) = State::temporary();
        let made: Vec<JobId> = (0..3).map(|_| JobId::generate()).collect();
        for id in &made {
            add(&state, "web", id).unwrap();
            add(&state, "other", &JobId::generate()).unwrap();
        }
        let newest: Vec<JobId> = made.into_iter().rev().collect();
        assert_eq!(jobs(&state, "web").unwrap(), newest);
        assert!(jobs(&state, "unknown").unwrap().is_empty());
    }

    #[test]
    fn a_torn_line_hides_no_other() {
        let (_directory, state) = State::temporary();
        let (first, second) = (JobId::generate(), JobId::generate());
        add(&state, "web", &first).unwrap();
        let path = directory(&state).join(file_name("web"));
        let file = OpenOptions::new().append(true).open(path).unwrap();
        rustix::io::write(&file, b"01hx7").unwrap();
        add(&state, "web", &second).unwrap();
        assert_eq!(jobs(&state, "web").unwrap(), [second, first]);
    }

    #[test]
    fn a_name_goes_with_its_last_job_and_not_before() {
        let (_directory, state) = State::temporary();
        let (gone, kept) = (old(), old());
        add(&state, "gone", &gone).unwrap();
        add(&state, "both", &gone).unwrap();
        add(&state, "both", &kept).unwrap();
        let new = JobId::generate();
        add(&state, "new", &new).unwrap();
        forget(&state, &HashSet::from([kept.number()]));
        assert!(jobs(&state, "gone").unwrap().is_empty());
        assert_eq!(jobs(&state, "both").unwrap(), [kept, gone]);
        assert_eq!(jobs(&state, "new").unwrap(), [new], "it may be younger than the list");
        let left = fs::read_dir(directory(&state)).unwrap().count();
        assert_eq!(left, 2);
    }

    #[test]
    fn a_removal_that_was_cut_short_is_undone_by_the_next() {
        let (_directory, state) = State::temporary();
        let kept = old();
        add(&state, "web", &kept).unwrap();
        let path = directory(&state).join(file_name("web"));
        fs::rename(&path, directory(&state).join(format!("{REMOVED}{}", file_name("web"))))
            .unwrap();
        forget(&state, &HashSet::from([kept.number()]));
        assert_eq!(jobs(&state, "web").unwrap(), [kept]);
    }

    #[test]
    fn deleted_names_are_made_from_the_records() {
        let (_directory, state) = State::temporary();
        let job = JobId::generate();
        fs::create_dir(state.job(&job).path()).unwrap();
        let record = serde_json::json!({
            "v": 1, "job": job, "command": "true", "cwd": "/", "created_at": 1, "name": "web",
        });
        fs::write(state.job(&job).file("request"), record.to_string()).unwrap();
        assert_eq!(jobs(&state, "web").unwrap(), std::slice::from_ref(&job));
        fs::remove_dir_all(directory(&state)).unwrap();
        assert_eq!(jobs(&state, "web").unwrap(), [job]);
    }
}
