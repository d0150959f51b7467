//! Jobs that ended without their caller's knowledge: the next result reports each of them once, in the
//! order in which they ended.
//!
//! There is one stream of ends, [`umbo_engine::CompletionStream`]: numbered, durable, and in order. All readers
//! have a place of their own in it: results and whoever drains them here; task stores, and tools that wait
//! for one of several jobs, from where they began to wait; notices of a protocol server, the events of a
//! process and `umbo events` together with what else happens to jobs ([`umbo_engine::Subscription`], which
//! the stream of ends is a part of).
//!
//! Only jobs that were handed back running can end without the caller's knowledge; they are remembered
//! here. An end that a result of its own reports (a wait, a stop) is not reported again. A caller that
//! comes back under its name has its place on disk, which moves with each report: what ended while it was
//! away, or after it was killed, is reported when it is back, and nothing twice. The name is the reader:
//! processes that use one name at the same time share that place, and each end is reported to whichever
//! of them asks first. So a name belongs to one agent.
//!
//! An end that a call is about to report in its own result waits for that call
//! ([`Completions::awaiting`]); another result reports it only if that call does not.
//!
//! Whoever stands between (a protocol server) may announce an end at once, to the program that the
//! model runs in. That is a second reader, with its own once: the model still reads it in a result.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use umbo_engine::{Backend, CompletionStream, Ended, JobHandle, JobId, Status, Summary};

use crate::caller::Caller;

/// What a caller does not know yet.
#[derive(Debug)]
pub struct Completions {
    /// Where results read the stream of ends.
    stream: Mutex<CompletionStream>,
    unknown: Mutex<Unknown>,
    awaited: Mutex<Awaited>,
    /// Whether the caller comes back under its name.
    comes_back: bool,
}

/// What calls wait for: their results tell of it.
#[derive(Debug, Default)]
struct Awaited {
    /// Jobs whose end is waited for, and by how many calls.
    jobs: HashMap<JobId, usize>,
    /// How many calls start a job to wait for, and do not know yet which it is.
    starting: usize,
}

/// What the caller has heard of which job.
#[derive(Debug, Default)]
struct Unknown {
    /// Jobs that run for all that the caller knows.
    running: BTreeSet<JobId>,
    /// Those of them that may have ended before they were remembered: the stream may be past that.
    fresh: BTreeSet<JobId>,
    /// Jobs whose end is yet to be announced, if there is anybody who does.
    unannounced: BTreeSet<JobId>,
    /// Jobs of a caller that comes back whose end a result of their own has told, but the stream has
    /// not reached.
    told: BTreeSet<JobId>,
    /// Ends that the stream has told, and that wait for a call that may tell them itself.
    held: Vec<Summary>,
    /// Whether it has been told what ended while it was away.
    is_caught_up: bool,
    /// The last of the running jobs that was looked at.
    last_looked_at: Option<JobId>,
}

impl Unknown {
    fn expect(&mut self, job: &JobId) {
        self.running.insert(job.clone());
        self.fresh.insert(job.clone());
        keep(&mut self.unannounced, job);
    }

    /// Jobs that are to be looked at though the stream has no end of theirs: those that may have ended
    /// before they were remembered, and some of the others, other ones each time. Of a job whose
    /// supervisor and keeper were both killed the stream tells nothing until somebody looks.
    fn next_to_look_at(&mut self) -> (Vec<JobId>, Vec<JobId>) {
        let fresh = std::mem::take(&mut self.fresh);
        let last = self.last_looked_at.take();
        let after = |id: &&JobId| last.as_ref().is_none_or(|last| *id > last);
        let known = self.running.iter().filter(|id| !fresh.contains(*id));
        let (later, earlier): (Vec<&JobId>, Vec<&JobId>) = known.partition(after);
        let next = later.into_iter().chain(earlier).take(LOOKED_AT_PER_CALL).cloned();
        let next: Vec<JobId> = next.collect();
        self.last_looked_at = next.last().cloned();
        (fresh.into_iter().collect(), next)
    }
}

/// How many jobs are looked at with each call though the stream has no end of theirs.
const LOOKED_AT_PER_CALL: usize = 16;

/// More ends than this are not kept for somebody who may never come to hear of them.
const MOST_KEPT: usize = 1000;

impl Completions {
    pub(crate) fn new(backend: Arc<dyn Backend>, comes_back: bool) -> Self {
        // Without a journal nothing is in order; everything else works.
        let newest = backend.newest_event().unwrap_or(0);
        Self {
            stream: Mutex::new(CompletionStream::new(backend, newest)),
            unknown: Mutex::default(),
            awaited: Mutex::default(),
            comes_back,
        }
    }

    /// The caller knows that this job runs.
    pub fn expect(&self, job: &JobId) {
        self.unknown().expect(job);
    }

    /// Whether the caller knows that this job runs, and not how it ended.
    pub fn expects(&self, job: &JobId) -> bool {
        self.unknown().running.contains(job)
    }

    /// How many such jobs there are.
    pub fn expected(&self) -> usize {
        self.unknown().running.len()
    }

    /// A call waits for the end of this job until the result is dropped.
    pub fn awaiting(&self, job: &JobId) -> Awaiting<'_> {
        let mut starting = self.starting();
        starting.is_for(job);
        starting
    }

    /// A call starts a job to wait for, until the result is dropped; which job, it says when it knows.
    pub fn starting(&self) -> Awaiting<'_> {
        self.awaited().starting += 1;
        Awaiting { completions: self, job: None }
    }

    /// The end of a job that ended unseen; `None` if it was announced, or has a result of its own.
    pub fn announce(&self, job: &JobHandle) -> Option<Summary> {
        let summary = job.summary()?;
        if !matches!(summary.status, Status::Ended(_)) || self.awaited().jobs.contains_key(job.id())
        {
            return None;
        }
        self.unknown().unannounced.remove(job.id()).then_some(summary)
    }

    /// The caller knows how this job ended.
    pub fn told(&self, job: &JobId) {
        let mut unknown = self.unknown();
        unknown.running.remove(job);
        unknown.fresh.remove(job);
        unknown.unannounced.remove(job);
        if self.comes_back {
            keep(&mut unknown.told, job);
        }
    }

    /// What ended since, in the order in which it ended.
    pub fn take(&self, caller: &Caller) -> Vec<Summary> {
        // One at a time: what a call reads of the stream, no other does.
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        match &caller.owner {
            Some(owner) if self.comes_back => self.take_kept(&mut stream, caller, owner),
            _ => self.take_running(&mut stream, caller),
        }
    }

    /// Of the jobs that were handed back running, those that are over.
    fn take_running(&self, stream: &mut CompletionStream, caller: &Caller) -> Vec<Summary> {
        if self.unknown().running.is_empty() {
            let _ = stream.skip();
            return Vec::new();
        }
        let over: Vec<JobId> = stream
            .ready()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|ended| match ended {
                Ended::Job(end) => Some(end.job),
                Ended::Missed(_) => None,
            })
            .collect();
        let (fresh, others) = self.unknown().next_to_look_at();
        let ended = |jobs: Vec<JobId>| -> Vec<JobId> {
            let unread = jobs.into_iter().filter(|job| !over.contains(job));
            let mut ended: Vec<(u64, JobId)> =
                unread.filter_map(|job| Some((ended_at(caller, &job)?, job))).collect();
            ended.sort();
            ended.into_iter().map(|(_, job)| job).collect()
        };
        // The stream is past what ended before it was remembered, and does not yet have the rest.
        let (earlier, later) = (ended(fresh), ended(others));
        let all = earlier.into_iter().chain(over).chain(later);
        let mut news = Vec::new();
        for job in all {
            let mut unknown = self.unknown();
            if self.awaited().jobs.contains_key(&job) {
                // Looked at again with the next call, if a result of its own has not told of it by then.
                if unknown.running.contains(&job) {
                    unknown.fresh.insert(job);
                }
            } else if unknown.running.remove(&job) {
                // Else a result of its own has told of it meanwhile.
                news.push(job);
            }
        }
        news.iter().filter_map(|job| summary(caller, job)).collect()
    }

    /// What ended since the caller, under its name, was last told anything: by its place on disk.
    fn take_kept(
        &self,
        stream: &mut CompletionStream,
        caller: &Caller,
        owner: &str,
    ) -> Vec<Summary> {
        let is_caught_up = std::mem::replace(&mut self.unknown().is_caught_up, true);
        let has_more = !is_caught_up || stream.ready().is_ok_and(|read| !read.is_empty());
        let ended = if has_more {
            caller.backend.drain_completed(owner, Some(owner)).unwrap_or_default()
        } else {
            Vec::new()
        };
        let mut unknown = self.unknown();
        let awaited = self.awaited();
        let mut news = Vec::new();
        for summary in std::mem::take(&mut unknown.held).into_iter().chain(ended) {
            let job = &summary.job;
            if unknown.told.remove(job) {
                continue;
            }
            // One that was not handed back running may be what a call just started.
            let may_be_starting = awaited.starting > 0 && !unknown.running.contains(job);
            if awaited.jobs.contains_key(job) || may_be_starting {
                unknown.held.push(summary);
                continue;
            }
            unknown.running.remove(job);
            unknown.fresh.remove(job);
            news.push(summary);
        }
        news
    }

    /// The caller leaves: what its own results told is not told again when it comes back.
    pub(crate) fn leave(&self, caller: &Caller) {
        let Some(owner) = caller.owner.as_deref().filter(|_| self.comes_back) else { return };
        let unknown = self.unknown();
        if !unknown.is_caught_up || unknown.told.is_empty() {
            return;
        }
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |completed: &Ended| match completed {
            Ended::Job(end) => {
                unknown.told.contains(&end.job)
                    || summary(caller, &end.job)
                        .is_none_or(|summary| summary.owner.as_deref() != Some(owner))
            }
            Ended::Missed(_) => false,
        };
        if stream.ready().is_ok_and(|read| read.iter().all(is_known)) {
            let _ = caller.backend.drain_completed(owner, Some(owner));
        }
    }

    fn unknown(&self) -> MutexGuard<'_, Unknown> {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn awaited(&self) -> MutexGuard<'_, Awaited> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Remembers a job, and forgets the oldest if they are too many.
fn keep(jobs: &mut BTreeSet<JobId>, job: &JobId) {
    jobs.insert(job.clone());
    if jobs.len() > MOST_KEPT {
        jobs.pop_first();
    }
}

fn summary(caller: &Caller, job: &JobId) -> Option<Summary> {
    caller.backend.job(job.as_str()).ok()?.summary()
}

/// When a job ended, if it has; at once if its files are gone.
fn ended_at(caller: &Caller, job: &JobId) -> Option<u64> {
    match caller.backend.job(job.as_str()).and_then(|job| job.status()) {
        Ok(Status::Ended(outcome)) => Some(outcome.ended_at),
        Ok(Status::Created | Status::Started { .. }) => None,
        Err(_) => Some(0),
    }
}

/// That a call waits for the end of a job.
#[derive(Debug)]
pub struct Awaiting<'a> {
    completions: &'a Completions,
    /// None until it is known.
    job: Option<JobId>,
}

impl Awaiting<'_> {
    /// The job is this one.
    pub fn is_for(&mut self, job: &JobId) {
        let mut awaited = self.completions.awaited();
        if self.job.is_none() {
            awaited.starting -= 1;
            *awaited.jobs.entry(job.clone()).or_default() += 1;
            self.job = Some(job.clone());
        }
    }

    /// The call hands the job back running, and waits no longer: at no instant does nobody tell of its end.
    pub fn hand_back(self) {
        let completions = self.completions;
        let mut unknown = completions.unknown();
        if let Some(job) = &self.job {
            unknown.expect(job);
        }
        drop(self);
    }
}

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        let mut awaited = self.completions.awaited();
        let Some(job) = &self.job else {
            awaited.starting -= 1;
            return;
        };
        if let Some(count) = awaited.jobs.get_mut(job) {
            *count -= 1;
            if *count == 0 {
                awaited.jobs.remove(job);
            }
        }
    }
}
