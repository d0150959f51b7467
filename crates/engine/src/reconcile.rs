//! Telling the truth about jobs nobody supervises any more.
//!
//! A job is running only while its lock is held. A job without lock and without exit record is
//! lost: whoever notices takes the lock, ends what is left of it, writes the record and announces
//! it. The lock makes that happen once.

use std::fs::OpenOptions;

use crate::id::JobId;
use crate::outcome::{LostReason, Outcome};
use crate::state::{JobDir, State};
use crate::supervisor;
use crate::sys::{lock, procfs};

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
                let _ = supervisor::announce(state, job, &directory);
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
        let _ = supervisor::bury(state, job, reason, None);
    });
    // On a read-only disk the record cannot be mended; the truth is the same.
    Truth::Over(Box::new(directory.outcome().unwrap_or_else(|| {
        let note = "the exit record could not be written".to_owned();
        supervisor::lost(&directory, job, reason, None, vec![note])
    })))
}

fn why_lost(directory: &JobDir) -> LostReason {
    // There is an exit record, but it cannot be read.
    if std::fs::exists(directory.file("outcome")).unwrap_or(false) {
        return LostReason::Damaged;
    }
    match directory.record() {
        Err(_) => LostReason::Damaged,
        Ok((record, _)) => match record.supervisor {
            Some(identity) if identity.boot_id == procfs::boot_id() => LostReason::SupervisorKilled,
            Some(_) => LostReason::Reboot,
            None => LostReason::Damaged,
        },
    }
}

/// Does something as the only process that looks after this job; not at all if another one does.
fn with_lock(directory: &JobDir, work: impl FnOnce()) {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(directory.file("lock"));
    if let Ok(file) = file
        && lock::try_exclusive(&file).unwrap_or(false)
    {
        work();
    }
}
