//! Completions: each job of this caller that ended without its knowing is told once, with the next
//! result.
//!
//! Only jobs that were handed back running can end unknown to the caller; they are remembered
//! here, and asked about when there are any. Who is told of an end by a result of its own (a wait,
//! a stop) is not told again.
//!
//! Whoever stands between (a protocol server) may announce an end at once, to the program that the
//! model runs in. That is a second channel, with its own once: the model still reads it in a result.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use umbo_engine::{Job, JobId, Status, Summary};

use crate::answer::Completed;
use crate::call::Call;
use crate::ticket::Ticket;
use crate::toolset::Toolset;

/// What a caller does not know yet.
#[derive(Debug)]
pub(crate) struct News {
    running: Mutex<BTreeSet<JobId>>,
    /// Jobs whose end is yet to be announced, if there is anybody who does.
    unannounced: Mutex<BTreeSet<JobId>>,
    /// Jobs whose end a call waits for, and by how many calls: its result tells of it.
    awaited: Mutex<HashMap<JobId, usize>>,
    /// Whether the caller comes back under its name and has not yet been told what ended while it
    /// was away.
    is_back: AtomicBool,
    comes_back: bool,
}

/// More ends than this are not kept for somebody who may never come to announce them.
const MOST_UNANNOUNCED: usize = 1000;

impl News {
    pub(crate) fn new(comes_back: bool) -> Self {
        Self {
            running: Mutex::default(),
            unannounced: Mutex::default(),
            awaited: Mutex::default(),
            is_back: AtomicBool::new(comes_back),
            comes_back,
        }
    }

    /// The caller knows that this job runs.
    pub(crate) fn expect(&self, job: &JobId) {
        self.running().insert(job.clone());
        let mut unannounced = self.unannounced();
        unannounced.insert(job.clone());
        if unannounced.len() > MOST_UNANNOUNCED {
            unannounced.pop_first();
        }
    }

    /// A call waits for the end of this job until the result is dropped.
    pub(crate) fn awaiting(&self, job: &JobId) -> Awaiting<'_> {
        *self.awaited().entry(job.clone()).or_default() += 1;
        Awaiting { news: self, job: job.clone() }
    }

    /// The end of a job that ended unseen; `None` if it was announced, or has a result of its own.
    fn announce(&self, job: &Job) -> Option<Summary> {
        let summary = job.summary()?;
        if !matches!(summary.status, Status::Ended(_)) || self.awaited().contains_key(job.id()) {
            return None;
        }
        self.unannounced().remove(job.id()).then_some(summary)
    }

    /// A call saw this job end, and its result will tell of it: there is nothing to announce.
    pub(crate) fn seen(&self, job: &JobId) {
        self.unannounced().remove(job);
    }

    /// The caller knows how this job ended.
    pub(crate) fn told(&self, job: &JobId) {
        self.running().remove(job);
        self.unannounced().remove(job);
    }

    /// What ended since.
    pub(crate) fn take(&self, call: &Call<'_>) -> Vec<Completed> {
        let tools = call.tools;
        let mut ended = self.since_last_time(tools);
        let running: Vec<JobId> = self.running().iter().cloned().collect();
        for id in running {
            let Ok(job) = tools.engine.job(id.as_str()) else {
                self.told(&id);
                continue;
            };
            let is_over = !matches!(job.status(), Ok(Status::Created | Status::Started { .. }));
            // Of two calls at the same moment, one tells.
            if is_over && self.running().remove(&id) {
                ended.extend(job.summary());
            }
        }
        ended.iter().filter_map(|summary| told(call, summary)).collect()
    }

    /// What ended while a caller that came back was away.
    fn since_last_time(&self, tools: &Toolset) -> Vec<Summary> {
        match &tools.owner {
            Some(owner) if self.is_back.swap(false, Ordering::Relaxed) => {
                tools.engine.drain_completed(owner, Some(owner)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The caller leaves: what it knows now is not told again when it comes back.
    pub(crate) fn leave(&self, tools: &Toolset) {
        if self.comes_back
            && !self.is_back.load(Ordering::Relaxed)
            && let Some(owner) = &tools.owner
        {
            let _ = tools.engine.drain_completed(owner, Some(owner));
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
pub(crate) struct Awaiting<'a> {
    news: &'a News,
    job: JobId,
}

impl Drop for Awaiting<'_> {
    fn drop(&mut self) {
        let mut awaited = self.news.awaited();
        if let Some(count) = awaited.get_mut(&self.job) {
            *count -= 1;
            if *count == 0 {
                awaited.remove(&self.job);
            }
        }
    }
}

impl Toolset {
    /// What there is to tell of a job of this caller's that has ended unseen, once. The next result
    /// tells it too, for that is what a model reads.
    pub fn announce(&self, job: &str) -> Option<Completed> {
        let job = self.engine.job(job).ok()?;
        let summary = self.news.announce(&job)?;
        let ticket = Ticket::default();
        let told = told(&Call::new(self, &ticket), &summary)?;
        Some(self.masked_news(told))
    }
}

fn is_success(summary: &Summary) -> bool {
    matches!(&summary.status, Status::Ended(outcome) if outcome.exit_code() == Some(0))
}

fn told(call: &Call<'_>, summary: &Summary) -> Option<Completed> {
    let event = (call.tools.dialect.event)(call, summary)?;
    let sentence = (call.tools.dialect.sentence)(summary, &event);
    Some(Completed { event, sentence, is_success: is_success(summary) })
}

/// What most dialects tell of a job that has ended.
#[expect(clippy::unnecessary_wraps, reason = "the signature of all dialects' events")]
pub(crate) fn event(_call: &Call<'_>, summary: &Summary) -> Option<Value> {
    let mut value = json!({
        "job": summary.job.as_str(),
        "state": summary.status.name(),
        "command": first_line(&summary.command),
        "total_bytes": summary.total_bytes,
    });
    if let Some(name) = &summary.name {
        value["name"] = json!(name);
    }
    if let Status::Ended(outcome) = &summary.status
        && let Some(code) = outcome.exit_code()
    {
        value["exit_code"] = json!(code);
    }
    Some(value)
}

/// What most dialects say of it.
pub(crate) fn sentence(summary: &Summary, _event: &Value) -> String {
    let how = match &summary.status {
        Status::Ended(outcome) => match (outcome.exit_code(), outcome.signal()) {
            (Some(code), _) => format!("{} with code {code}", outcome.end.name()),
            (None, Some(signal)) => format!("{} by signal {signal}", outcome.end.name()),
            (None, None) => outcome.end.name().to_owned(),
        },
        status => status.name().to_owned(),
    };
    let name = summary.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let command = first_line(&summary.command);
    format!("job {}{name} {how}, {} bytes of output: {command}", summary.job, summary.total_bytes)
}

/// The first line of a command, as much of it as a list has room for.
pub(crate) fn first_line(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(120);
    if cut < command.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}
