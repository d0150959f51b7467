//! Ended jobs leave the disk: by count and size on their own, by request at any time.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::clock;
use crate::error::{Error, Result};
use crate::event::{EventKind, Journal};
use crate::groups;
use crate::id::JobId;
use crate::state::State;
use crate::sys::lock;
use crate::wire::Retention;

/// Events beyond this many are let go.
const EVENTS_KEPT: u64 = 200_000;
/// How the directory of a job that is being deleted is called, before its id.
const REMOVED: &str = "removed-";
/// A leftover without an owner is given this long to find one.
const ORPHAN_AGE: Duration = Duration::from_mins(1);

/// After every 32nd job or so, makes room. Costs the job nothing: it is over.
pub(crate) fn now_and_then(state: &State, job: &JobId, keep: Retention) {
    if !job.as_str().ends_with('0') {
        return;
    }
    // One at a time: what another one does at this moment need not be done again.
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(state.root().join("prune.lock"));
    if let Ok(file) = file
        && lock::try_exclusive(&file).unwrap_or(false)
    {
        let _ = prune(state, keep, None, None);
    }
}

/// Deletes ended jobs: the oldest first until the rest fits `keep`, and all older than `age` or than
/// `keep` says. What is left of their control groups is waited for until the deadline; the next
/// sweep has the rest.
pub(crate) fn prune(
    state: &State,
    keep: Retention,
    age: Option<Duration>,
    deadline: Option<Instant>,
) -> Result<Vec<JobId>> {
    let mut ids = state.job_ids()?;
    ids.reverse();
    let oldest = age.into_iter().chain(keep.age).min().map(|age| {
        clock::now_us().saturating_sub(u64::try_from(age.as_micros()).unwrap_or(u64::MAX))
    });
    let (mut jobs, mut bytes) = (0, 0);
    let (mut removed, mut failure) = (Vec::new(), None);
    for id in ids {
        let directory = state.job(&id);
        let Some(outcome) = directory.outcome() else { continue };
        jobs += 1;
        bytes += disk_use(directory.path());
        let is_old = oldest.is_some_and(|oldest| outcome.ended_at <= oldest);
        let is_surplus = jobs > keep.jobs || bytes > keep.bytes || is_old;
        if is_surplus {
            match remove(state, &id) {
                Ok(true) => removed.push(id),
                Ok(false) => {}
                Err(source) => {
                    let path = directory.path().to_owned();
                    failure.get_or_insert(Error::File { action: "delete", path, source });
                }
            }
        } else if outcome.contained_by.is_none() {
            // Something was left alive in its groups; by now it may have ended.
            groups::remove(&directory, None);
        }
    }
    sweep_leftovers(state, deadline);
    if let Ok(journal) = Journal::open(&state.events()) {
        let _ = journal.trim(EVENTS_KEPT);
    }
    // All were tried: what could be deleted is.
    failure.map_or(Ok(removed), Err)
}

/// Takes one ended job out of the list; what is left of it is swept up. `false` if it is not ended,
/// or another process deletes it.
fn remove(state: &State, id: &JobId) -> io::Result<bool> {
    let directory = state.job(id);
    let is_told = directory.is_announced() || !directory.is_supervised();
    if directory.outcome().is_none() || !is_told {
        return Ok(false);
    }
    // Whoever renames it is the one to delete it, and to say so.
    let away = state.spares().join(format!("{REMOVED}{id}"));
    match fs::rename(directory.path(), &away) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    let _ = Journal::open(&state.events())?.append(id, &[EventKind::Removed]);
    groups::discard(&away, None)?;
    Ok(true)
}

fn disk_use(directory: &std::path::Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|meta| meta.blocks() * 512)
        .sum()
}

/// Removes what killed processes left (spares nobody holds, keys of jobs that are gone), and what
/// could not be removed with its job: groups in which somebody was alive.
fn sweep_leftovers(state: &State, deadline: Option<Instant>) {
    if let Ok(spares) = fs::read_dir(state.spares()) {
        for spare in spares.flatten() {
            let path = spare.path();
            let is_removed = spare.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes());
            let is_held =
                fs::File::open(path.join("lock")).and_then(lock::is_held).unwrap_or(false);
            if is_removed || (!is_held && is_older(&path)) {
                let _ = groups::discard(&path, deadline);
            }
        }
    }
    if let Ok(keys) = fs::read_dir(state.keys()) {
        for key in keys.flatten() {
            let job = fs::read_link(key.path()).ok();
            let is_gone = job.is_none_or(|job| !state.jobs().join(job).exists());
            if is_gone && is_older(&key.path()) {
                let _ = fs::remove_file(key.path());
            }
        }
    }
}

fn is_older(path: &std::path::Path) -> bool {
    fs::symlink_metadata(path)
        .and_then(|meta| meta.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ORPHAN_AGE))
}
