//! The jobs of a caller that ended without its knowing: each is told once, with the next result, in
//! the order in which they ended.
//!
//! There is one stream of ends, the engine's journal: numbered, durable, and in order. Everything that
//! tells of an end is a reader of it with a place of its own. Results read it here, from a number on
//! that only moves forward; a caller that comes back under its name goes on where it was
//! (`Engine::drain_completed`, whose place is on disk); notices of a protocol server and task stores
//! are woken by it; `umbo events` prints it ([`crate::events`]).
//!
//! Only jobs that were handed back running can end unknown to the caller; they are remembered
//! here, and the journal is read when one of them is over. Who is told of an end by a result of its own
//! (a wait, a stop) is not told again.
//!
//! Whoever stands between (a protocol server) may announce an end at once, to the program that the
//! model runs in. That is a second reader, with its own once: the model still reads it in a result.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use umbo_engine::{JobHandle, JobId, Status, Summary};

use crate::caller::Caller;

/// What a caller does not know yet.
#[derive(Debug)]
pub struct Completions {
    /// The number of the last event of the journal that results have told.
    cursor: Mutex<u64>,
    running: Mutex<BTreeSet<JobId>>,
    /// The last of them that was looked at.
    last_looked_at: Mutex<Option<JobId>>,
    /// Jobs whose end is yet to be announced, if there is anybody who does.
    unannounced: Mutex<BTreeSet<JobId>>,
    /// Jobs whose end a call waits for, and by how many calls: its result tells of it.
    awaited: Mutex<HashMap<JobId, usize>>,
    /// Whether the caller comes back under its name and has not yet been told what ended while it
    /// was away.
    is_back: AtomicBool,
    comes_back: bool,
}

/// How many jobs are looked at with each call though the journal has no end of theirs.
const LOOKED_AT_PER_CALL: usize = 16;

/// More ends than this are not kept for somebody who may never come to announce them.
const MOST_UNANNOUNCED: usize = 1000;

impl Completions {
    pub(crate) fn new(comes_back: bool, newest_event: u64) -> Self {
        Self {
            cursor: Mutex::new(newest_event),
            running: Mutex::default(),
            last_looked_at: Mutex::default(),
            unannounced: Mutex::default(),
            awaited: Mutex::default(),
            is_back: AtomicBool::new(comes_back),
            comes_back,
        }
    }

    /// The caller knows that this job runs.
    pub fn expect(&self, job: &JobId) {
        self.running().insert(job.clone());
        let mut unannounced = self.unannounced();
        unannounced.insert(job.clone());
        if unannounced.len() > MOST_UNANNOUNCED {
            unannounced.pop_first();
        }
    }

    /// A call waits for the end of this job until the result is dropped.
    pub fn awaiting(&self, job: &JobId) -> Awaiting<'_> {
        *self.awaited().entry(job.clone()).or_default() += 1;
        Awaiting { completions: self, job: job.clone() }
    }

    /// The end of a job that ended unseen; `None` if it was announced, or has a result of its own.
    pub fn announce(&self, job: &JobHandle) -> Option<Summary> {
        let summary = job.summary()?;
        if !matches!(summary.status, Status::Ended(_)) || self.awaited().contains_key(job.id()) {
            return None;
        }
        self.unannounced().remove(job.id()).then_some(summary)
    }

    /// A call saw this job end, and its result will tell of it: there is nothing to announce.
    pub fn seen(&self, job: &JobId) {
        self.unannounced().remove(job);
    }

    /// The caller knows how this job ended.
    pub fn told(&self, job: &JobId) {
        self.running().remove(job);
        self.unannounced().remove(job);
    }

    /// What ended since, in the order in which it ended.
    pub fn take(&self, caller: &Caller) -> Vec<Summary> {
        let mut ended = self.since_last_time(caller);
        for summary in &ended {
            self.running().remove(&summary.job);
        }
        let mut over = self.ended_jobs(caller);
        // One whose end the journal has not yet is the last.
        over.sort_by_key(|(_, event)| event.unwrap_or(u64::MAX));
        for (job, _) in over {
            // Of two calls at the same moment, one tells.
            if self.running().remove(job.id()) {
                ended.extend(job.summary());
            }
        }
        ended
    }

    /// The caller's jobs that are over, each with the number of its end where the journal tells of it
    /// now: as many are looked at as ended, and a few more.
    fn ended_jobs(&self, caller: &Caller) -> Vec<(JobHandle, Option<u64>)> {
        let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let running = self.running().clone();
        if running.is_empty() {
            *cursor = caller.backend.newest_event().unwrap_or(*cursor);
            return Vec::new();
        }
        let (ends, newest) = caller.backend.ends_after(*cursor).unwrap_or((Vec::new(), *cursor));
        *cursor = newest;
        drop(cursor);
        let ends: HashMap<JobId, u64> = ends.into_iter().collect();
        let told = running.iter().filter(|id| ends.contains_key(*id)).cloned();
        let looked_at = told.chain(self.next_to_look_at(&running)).collect::<BTreeSet<JobId>>();
        let mut over = Vec::new();
        for id in looked_at {
            match caller.backend.job(id.as_str()) {
                Ok(job) if job.has_ended() => over.push((job, ends.get(&id).copied())),
                Ok(_) => {}
                Err(_) => self.told(&id),
            }
        }
        over
    }

    /// Some of the jobs that run as far as the caller knows, others each time: of a job whose
    /// supervisor and keeper were both killed the journal tells nothing until somebody looks.
    fn next_to_look_at(&self, running: &BTreeSet<JobId>) -> Vec<JobId> {
        let mut last = self.last_looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        let after = |id: &&JobId| last.as_ref().is_none_or(|last| *id > last);
        let (later, earlier): (Vec<&JobId>, Vec<&JobId>) = running.iter().partition(after);
        let next: Vec<JobId> =
            later.into_iter().chain(earlier).take(LOOKED_AT_PER_CALL).cloned().collect();
        *last = next.last().cloned();
        next
    }

    /// What ended while a caller that came back was away.
    fn since_last_time(&self, caller: &Caller) -> Vec<Summary> {
        match &caller.owner {
            Some(owner) if self.is_back.swap(false, Ordering::Relaxed) => {
                caller.backend.drain_completed(owner, Some(owner)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The caller leaves: what it knows now is not told again when it comes back.
    pub(crate) fn leave(&self, caller: &Caller) {
        if self.comes_back
            && !self.is_back.load(Ordering::Relaxed)
            && let Some(owner) = &caller.owner
        {
            let _ = caller.backend.drain_completed(owner, Some(owner));
        }
    }

    fn unannounced(&self) -> MutexGuard<'_, BTreeSet<JobId>> {
        self.unannounced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn running(&self) -> MutexGuard<'_, BTreeSet<JobId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn awaited(&self) -> MutexGuard<'_, HashMap<JobId, usize>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a call waits for the end of a job.
#[derive(Debug)]
pub struct Awaiting<'a> {
    completions: &'a Completions,
    job: JobId,
}

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        let mut awaited = self.completions.awaited();
        if let Some(count) = awaited.get_mut(&self.job) {
            *count -= 1;
            if *count == 0 {
                awaited.remove(&self.job);
            }
        }
    }
}
