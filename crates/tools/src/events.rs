//! What happens to jobs, as it happens: the engine's journal, with whose jobs they are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use umbo_engine::{Backend, Event, EventKind, Item, JobId, Subscription};

use crate::toolset::Toolset;

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEvent {
    /// What.
    pub kind: JobEventKind,
    /// The job's id; empty for [`JobEventKind::Missed`].
    pub job: String,
    /// Whose it is: nobody's in particular, or, for all one knows, anybody's.
    owner: Known,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    Owner(Option<String>),
    Unknown,
}

/// What can happen to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEventKind {
    /// It is there.
    Appeared,
    /// It wrote.
    Grew,
    /// It is over.
    Ended,
    /// Its files are gone.
    Removed,
    /// Too much happened at once: anything may have changed.
    Missed,
}

impl JobEvent {
    /// Whether it is a job that this caller calls its own.
    pub fn concerns(&self, caller: &Toolset) -> bool {
        match (&self.owner, &caller.owner) {
            (_, None) | (Known::Unknown, _) => true,
            (Known::Owner(owner), caller) => owner == caller,
        }
    }
}

/// Follows the journal of a state directory.
pub struct JobEvents {
    backend: Arc<dyn Backend>,
    subscription: Subscription,
    /// Whose the running jobs are.
    owners: HashMap<JobId, Option<String>>,
}

impl Toolset {
    /// What happens to all jobs from now on, this caller's and others'.
    pub fn job_events(&self) -> umbo_engine::Result<JobEvents> {
        let subscription = self.backend.subscribe(self.backend.newest_event()?)?;
        Ok(JobEvents { backend: self.backend.clone(), subscription, owners: HashMap::new() })
    }
}

impl JobEvents {
    /// Waits for the next thing that happens.
    pub fn next_event(&mut self) -> umbo_engine::Result<JobEvent> {
        loop {
            match self.subscription.next(Duration::MAX)? {
                None => {}
                Some(Item::Gap { .. }) => {
                    let kind = JobEventKind::Missed;
                    return Ok(JobEvent { kind, job: String::new(), owner: Known::Unknown });
                }
                Some(Item::Event(event)) => {
                    if let Some(event) = self.told(&event) {
                        return Ok(event);
                    }
                }
            }
        }
    }

    fn told(&mut self, event: &Event) -> Option<JobEvent> {
        let kind = match event.kind {
            EventKind::Created => JobEventKind::Appeared,
            EventKind::Output { .. } => JobEventKind::Grew,
            EventKind::Exited { .. } => JobEventKind::Ended,
            EventKind::Removed => JobEventKind::Removed,
            _ => return None,
        };
        let owner = self.owner(&event.job);
        if matches!(kind, JobEventKind::Ended | JobEventKind::Removed) {
            self.owners.remove(&event.job);
        }
        Some(JobEvent { kind, job: event.job.to_string(), owner })
    }

    fn owner(&mut self, job: &JobId) -> Known {
        if let Some(owner) = self.owners.get(job) {
            return Known::Owner(owner.clone());
        }
        let summary = self.backend.job(job.as_str()).ok().and_then(|job| job.summary());
        let Some(summary) = summary else { return Known::Unknown };
        self.owners.insert(job.clone(), summary.owner.clone());
        Known::Owner(summary.owner)
    }
}

impl std::fmt::Debug for JobEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobEvents")
            .field("cursor", &self.subscription.cursor())
            .finish_non_exhaustive()
    }
}
