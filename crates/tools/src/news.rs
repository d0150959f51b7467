//! Completions: each job of this caller that ended without its knowing is told once, with the next
//! result.
//!
//! Only jobs that were handed back running can end unknown to the caller; they are remembered
//! here, and asked about when there are any. Who is told of an end by a result of its own (a wait,
//! a stop) is not told again.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use umbo_engine::{JobId, Status, Summary};

use crate::answer::Completed;
use crate::call::Call;
use crate::toolset::Toolset;

/// What a caller does not know yet.
#[derive(Debug)]
pub(crate) struct News {
    running: Mutex<BTreeSet<JobId>>,
    /// Whether the caller comes back under its name and has not yet been told what ended while it
    /// was away.
    is_back: AtomicBool,
    comes_back: bool,
}

impl News {
    pub(crate) fn new(comes_back: bool) -> Self {
        Self { running: Mutex::default(), is_back: AtomicBool::new(comes_back), comes_back }
    }

    /// The caller knows that this job runs.
    pub(crate) fn expect(&self, job: &JobId) {
        self.running().insert(job.clone());
    }

    /// The caller knows how this job ended.
    pub(crate) fn told(&self, job: &JobId) {
        self.running().remove(job);
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

    fn running(&self) -> MutexGuard<'_, BTreeSet<JobId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn told(call: &Call<'_>, summary: &Summary) -> Option<Completed> {
    let event = (call.tools.dialect.event)(call, summary)?;
    Some(Completed { sentence: (call.tools.dialect.sentence)(summary, &event), event })
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

fn first_line(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let cut = line.floor_char_boundary(120);
    if cut < command.len() { format!("{}…", &line[..cut]) } else { line.to_owned() }
}
