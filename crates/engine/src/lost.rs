//! Telling the truth about jobs nobody supervises any more.
//!
//! A job is running only while its lock is held. A job without lock and without exit record is
//! lost: whoever notices (its keeper, or anybody who looks) takes the lock, ends what is left of it,
//! writes the record and announces it. The lock makes that happen once.

use std::fs::{self, OpenOptions};
use std::io;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Signal, kill_process};

use crate::catalog;
use crate::clock;
use crate::event::{EventKind, Journal};
use crate::exit_record::{self, Draft};
use crate::files;
use crate::groups;
use crate::id::JobId;
use crate::log::{INDEX, Log, RECORD};
use crate::outcome::{Containment, Drained, End, LostReason, Outcome, Usage};
use crate::state::{FORMAT, Identity, JobDir, State};
use crate::supervisor::TAG;
use crate::sys::cgroup::Cgroup;
use crate::sys::{lock, procfs};

/// What an exit record that cannot be read is called.
const DAMAGED: &str = "outcome.damaged";
/// How long the last processes of a lost job may take to be gone.
const LAST_PROCESSES: Duration = Duration::from_secs(10);
/// How often what was killed is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// What is true of a job on disk.
pub(crate) enum Truth {
    /// Its supervisor lives; the job may be waiting for its turn or running.
    Alive,
    /// It is over.
    Over(Box<Outcome>),
}

/// Finds out, and mends the record where it can.
pub(crate) fn truth(state: &State, job: &JobId) -> Truth {
    let directory = state.job(job);
    if let Some(outcome) = directory.outcome() {
        if !directory.is_announced() && !directory.is_supervised() {
            with_lock(&directory, || {
                let _ = announce(state, job, &directory);
            });
        }
        return Truth::Over(Box::new(outcome));
    }
    if directory.is_supervised() {
        return Truth::Alive;
    }
    // It may have ended between the two looks.
    if let Some(outcome) = directory.outcome() {
        return Truth::Over(Box::new(outcome));
    }
    let reason = why_lost(&directory);
    with_lock(&directory, || {
        let _ = record_lost(state, job, reason, None);
    });
    // On a read-only disk the record cannot be mended; the truth is the same.
    Truth::Over(Box::new(directory.outcome().unwrap_or_else(|| {
        let note = "the exit record could not be written".to_owned();
        lost(&directory, job, reason, None, vec![note])
    })))
}

fn why_lost(directory: &JobDir) -> LostReason {
    // There is an exit record, but it cannot be read.
    if std::fs::exists(directory.file(exit_record::NAME)).unwrap_or(false) {
        return LostReason::Damaged;
    }
    match directory.record() {
        Err(_) => LostReason::Damaged,
        Ok((record, _)) => match record.supervisor {
            // Another boot is proven, not guessed: nothing would be looked for after one.
            Some(identity) if is_of_another_boot(&identity) => LostReason::Reboot,
            Some(_) => LostReason::SupervisorKilled,
            None => LostReason::Damaged,
        },
    }
}

fn is_of_another_boot(identity: &Identity) -> bool {
    let now = procfs::boot_id();
    now.is_some_and(|now| !identity.boot_id.is_empty() && identity.boot_id != now)
}

/// Does something as the only process that looks after this job; not at all if another one does.
fn with_lock(directory: &JobDir, work: impl FnOnce()) {
    if let Ok(file) = files::open_or_create(&directory.file("lock"))
        && lock::try_exclusive(&file).unwrap_or(false)
    {
        work();
    }
}

/// Writes the exit record of a job whose supervisor is dead, and announces it, exactly once.
///
/// The caller has seen to its processes, or names no proof: then they are looked for here, by
/// control group and by tag, never by a recorded pid.
pub(crate) fn record_lost(
    state: &State,
    job: &JobId,
    reason: LostReason,
    proof: Option<Containment>,
) -> io::Result<()> {
    let directory = state.job(job);
    if directory.outcome().is_none() {
        let proof = match (proof, reason) {
            (Some(proof), _) => Some(proof),
            // Nothing of another boot is alive.
            (None, LostReason::Reboot) => Some(Containment::Tag),
            (None, _) => kill_remaining(&directory, job),
        };
        groups::remove(&directory, proof.map(|_| Instant::now() + LAST_PROCESSES));
        let mut notes = Vec::new();
        if mend_index(&directory)? {
            notes.push("the end of the index was torn; it was repaired".to_owned());
        }
        if keep_damaged(&directory) {
            notes.push(format!("its exit record was damaged; it is kept as {DAMAGED}"));
        }
        if proof == Some(Containment::Tag) && reason != LostReason::Reboot {
            notes.push(
                "its processes were looked for by their environment: one that cleared it would \
                 not have been found"
                    .to_owned(),
            );
        }
        let outcome = lost(&directory, job, reason, proof, notes);
        write_once(&directory, &outcome)?;
    }
    announce(state, job, &directory)
}

/// What is known about a job whose supervisor is dead.
pub(crate) fn lost(
    directory: &JobDir,
    job: &JobId,
    reason: LostReason,
    proof: Option<Containment>,
    notes: Vec<String>,
) -> Outcome {
    let log = Log::open(directory.path()).ok();
    let total_bytes = log.as_ref().and_then(|log| log.length().ok()).unwrap_or(0);
    let omitted = log.as_ref().and_then(Log::omitted).map_or(0, |range| range.end - range.start);
    let started = directory.record().ok().and_then(|(_, started)| started);
    Outcome {
        v: FORMAT,
        job: job.clone(),
        end: End::Lost { reason },
        limit: None,
        drained: Drained::Unknown,
        started_at: started.map(|started| started.at),
        ended_at: clock::now_us(),
        leaked: Vec::new(),
        more_leaked: 0,
        contained_by: proof,
        usage: Usage::default(),
        total_bytes,
        omitted_bytes: omitted,
        dropped_bytes: 0,
        sandbox: None,
        denied: Vec::new(),
        more_denied: 0,
        notes,
    }
}

/// Ends what is left of a job that nobody supervises any more.
pub(crate) fn kill_remaining(directory: &JobDir, job: &JobId) -> Option<Containment> {
    let groups: Vec<Cgroup> = groups::of(directory)
        .into_iter()
        .filter_map(|path| Cgroup::open(path).ok().filter(Cgroup::can_kill))
        .collect();
    let deadline = Instant::now() + LAST_PROCESSES;
    while Instant::now() < deadline {
        for group in &groups {
            let _ = group.kill();
        }
        let tagged = procfs::tagged(TAG, job.as_str());
        for pid in &tagged {
            let _ = kill_process(*pid, Signal::KILL);
        }
        if tagged.is_empty() && !groups.iter().any(Cgroup::is_populated) {
            let is_grouped = !groups.is_empty();
            return Some(if is_grouped { Containment::Cgroup } else { Containment::Tag });
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    None
}

/// Cuts a half-written record off the index. Whether there was one.
fn mend_index(directory: &JobDir) -> io::Result<bool> {
    let path = directory.file(INDEX);
    let Ok(file) = files::open_with(OpenOptions::new().write(true), &path) else {
        return Ok(false);
    };
    let length = file.metadata()?.len();
    let whole = length - length % RECORD as u64;
    if whole != length {
        file.set_len(whole)?;
    }
    Ok(whole != length)
}

/// Puts an exit record that cannot be read aside. Whether there was one.
fn keep_damaged(directory: &JobDir) -> bool {
    let record = directory.file(exit_record::NAME);
    fs::exists(&record).unwrap_or(false) && fs::rename(record, directory.file(DAMAGED)).is_ok()
}

fn write_once(directory: &JobDir, outcome: &Outcome) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let draft = Draft::open(rustix::fs::open(directory.path(), flags, Mode::empty())?.into())?;
    if draft.publish(&exit_record::text(outcome)?)? {
        return Ok(());
    }
    if directory.outcome().is_some() {
        draft.discard();
        return Ok(());
    }
    // A record is there that can neither be read nor put aside: this one is better.
    draft.replace()
}

/// Appends the job's last event if the journal lacks it. The caller holds the job's lock.
pub(crate) fn announce(state: &State, job: &JobId, directory: &JobDir) -> io::Result<()> {
    if directory.is_announced() {
        return Ok(());
    }
    let Some(outcome) = directory.outcome() else { return Ok(()) };
    // Whoever could not announce it could not clean up behind it either.
    groups::remove(directory, None);
    let journal = Journal::open(&state.events())?;
    if !journal.has_exited(job)? {
        let state = outcome.end.name().to_owned();
        journal.append(job, &[EventKind::Exited { state, code: outcome.exit_code() }])?;
    }
    fs::remove_file(directory.file("sock"))?;
    catalog::mark_ended(state, job, None);
    Ok(())
}
