//! Ended jobs leave the disk: by count and size on their own, by request at any time.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use crate::clock;
use crate::error::{Error, Result};
use crate::event::{EVENTS_KEPT, EventKind, Journal};
use crate::files;
use crate::groups;
use crate::id::JobId;
use crate::state::State;
use crate::sys::lock;
use crate::wire::Retention;

/// How the directory of a job that is being deleted is called, before its id.
const REMOVED: &str = "removed-";
/// A key without a job is given this long to get one.
const KEY_AGE: Duration = Duration::from_mins(1);
/// A spare that nobody holds is given this long: between its making and its lock lies a moment.
const SPARE_AGE: Duration = Duration::from_secs(10);

/// How much ended jobs take, as far as it was counted: a record for each job that ended since all of
/// them were looked at, and one for those before. Whoever appends takes no lock.
const RETAINED: &str = "retained";
/// A record: how many jobs, and how many bytes they take.
const RETAINED_RECORD: usize = 16;
/// After so many jobs all are looked at again, for a killed supervisor appends nothing.
const MOST_RECORDS: u64 = 512;

/// Makes room if this job, which has ended, was one too many. Costs the job nothing: it is over.
pub(crate) fn after_job(state: &State, job: &JobId, keep: Retention) {
    let Ok(counted) = count(state, 1, disk_use(state.job(job).path())) else { return };
    let is_full = counted.jobs > keep.jobs as u64 || counted.bytes > keep.bytes;
    let is_aged = keep.age.is_some() && counted.records % AGE_LOOKED_AT == 0;
    if !is_full && !is_aged && counted.records < MOST_RECORDS {
        return;
    }
    // One at a time: what another one does at this moment need not be done again.
    if let Ok(file) = files::open_or_create(&state.root().join("prune.lock"))
        && lock::try_exclusive(&file).unwrap_or(false)
    {
        // A little more than needed, so that not every job from now on has to make room.
        let keep = Retention {
            jobs: keep.jobs - keep.jobs / 16,
            bytes: keep.bytes - keep.bytes / 16,
            ..keep
        };
        let _ = prune(state, keep, None, None);
    }
}

/// After every so many jobs those are looked for that are too old.
const AGE_LOOKED_AT: u64 = 32;

/// What was counted.
#[derive(Default)]
struct Counted {
    jobs: u64,
    bytes: u64,
    records: u64,
}

/// Appends to the count; what it is now.
fn count(state: &State, jobs: u64, bytes: u64) -> io::Result<Counted> {
    let path = state.root().join(RETAINED);
    let mut file =
        files::open_with(OpenOptions::new().create(true).read(true).append(true), &path)?;
    file.write_all(&record(jobs, bytes))?;
    let mut counted = Counted::default();
    let mut text = Vec::new();
    let most = (MOST_RECORDS + 64) * RETAINED_RECORD as u64;
    files::open(&path)?.take(most).read_to_end(&mut text)?;
    for record in text.chunks_exact(RETAINED_RECORD) {
        let number = |at: usize| {
            let bytes = record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        counted.jobs = counted.jobs.saturating_add(number(0));
        counted.bytes = counted.bytes.saturating_add(number(8));
        counted.records += 1;
    }
    Ok(counted)
}

fn record(jobs: u64, bytes: u64) -> [u8; RETAINED_RECORD] {
    let mut record = [0; RETAINED_RECORD];
    record[..8].copy_from_slice(&jobs.to_le_bytes());
    record[8..].copy_from_slice(&bytes.to_le_bytes());
    record
}

/// Begins the count anew. One who appends at this moment is counted the next time.
fn recount(state: &State, jobs: u64, bytes: u64) -> io::Result<()> {
    let path = state.root().join(RETAINED);
    let draft = path.with_extension(JobId::generate().as_str());
    fs::write(&draft, record(jobs, bytes))?;
    fs::rename(draft, path)
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
    let (mut kept_jobs, mut kept_bytes) = (0, 0);
    let (mut removed, mut failure) = (Vec::new(), None);
    for id in ids {
        let directory = state.job(&id);
        let Some(outcome) = directory.outcome() else { continue };
        let size = disk_use(directory.path());
        jobs += 1;
        bytes += size;
        let is_old = oldest.is_some_and(|oldest| outcome.ended_at <= oldest);
        let is_surplus = jobs > keep.jobs || bytes > keep.bytes || is_old;
        if is_surplus {
            match remove(state, &id) {
                Ok(true) => {
                    removed.push(id);
                    continue;
                }
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
        kept_jobs += 1;
        kept_bytes += size;
    }
    let _ = recount(state, kept_jobs, kept_bytes);
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
            let is_held = files::open(&path.join("lock")).and_then(lock::is_held).unwrap_or(false);
            if is_removed || (!is_held && is_older(&path, SPARE_AGE)) {
                let _ = groups::discard(&path, deadline);
            }
        }
    }
    if let Ok(keys) = fs::read_dir(state.keys()) {
        for key in keys.flatten() {
            let job = fs::read_link(key.path()).ok();
            let is_gone = job.is_none_or(|job| !state.jobs().join(job).exists());
            if is_gone && is_older(&key.path(), KEY_AGE) {
                let _ = fs::remove_file(key.path());
            }
        }
    }
}

fn is_older(path: &std::path::Path, than: Duration) -> bool {
    fs::symlink_metadata(path)
        .and_then(|meta| meta.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > than))
}
