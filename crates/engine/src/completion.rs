//! The stream of ends: that jobs ended, in the order in which they ended.
//!
//! The journal has the end of each job once, numbered; a reader of completions goes through it from a
//! number on that only moves forward, so it gets each end once, however many others read. Where the
//! number is to outlive the reader, the backend keeps it under the consumer's name
//! ([`Backend::drain_completed`]).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::Backend;
use crate::clock;
use crate::error::Result;
use crate::event::{Event, EventKind, Item};
use crate::id::JobId;
use crate::subscription::Subscription;

/// How long one sleep lasts: the end of a job whose machine or supervisor died is in the journal only
/// after somebody looked.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// That a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The number of the event. Later ends have higher numbers.
    pub seq: u64,
    /// The job.
    pub job: JobId,
}

/// What a reader of completions gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// A job ended.
    Job(Completion),
    /// So many events are no longer kept: any job may have ended.
    Missed(u64),
}

impl Ended {
    /// What an item of the journal says about ends.
    pub(crate) fn of(item: Item) -> Option<Self> {
        match item {
            Item::Gap { missed, .. } => Some(Self::Missed(missed)),
            Item::Event(Event { seq, job, kind: EventKind::Exited { .. }, .. }) => {
                Some(Self::Job(Completion { seq, job }))
            }
            Item::Event(_) => None,
        }
    }
}

/// A reader of completions that knows where it is. As an [`Iterator`] it waits for the next and never
/// ends by itself.
#[derive(Debug)]
pub struct CompletionStream {
    backend: Arc<dyn Backend>,
    cursor: u64,
    /// What it reads from the first time it has to wait on.
    events: Option<Subscription>,
}

impl CompletionStream {
    /// A reader of the ends after the event numbered `after`.
    pub fn new(backend: Arc<dyn Backend>, after: u64) -> Self {
        Self { backend, cursor: after, events: None }
    }

    /// The number of the last event it has read.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// All that ended since it last asked, as far as the journal has it: of a job whose supervisor was
    /// killed it has the end only after somebody looked. Never waits.
    pub fn ready(&mut self) -> Result<Vec<Ended>> {
        let mut all = Vec::new();
        if self.events.is_some() {
            while let Some(ended) = self.next(Duration::ZERO)? {
                all.push(ended);
            }
            return Ok(all);
        }
        let (ends, newest) = self.backend.ends_after(self.cursor)?;
        self.cursor = newest;
        all.extend(ends.into_iter().map(|(job, seq)| Ended::Job(Completion { seq, job })));
        Ok(all)
    }

    /// Leaves out what ended until now.
    pub fn skip(&mut self) -> Result<()> {
        self.cursor = self.backend.newest_event()?;
        self.events = None;
        Ok(())
    }

    /// The next end; `None` if there is none within `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Ended>> {
        let deadline = clock::deadline(timeout);
        let events = match &mut self.events {
            Some(events) => events,
            events => events.insert(self.backend.subscribe(self.cursor)?),
        };
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match events.next(left.min(LONGEST_SLEEP))? {
                Some(item) => {
                    self.cursor = item.seq();
                    if let Some(completed) = Ended::of(item) {
                        return Ok(Some(completed));
                    }
                }
                None if left <= LONGEST_SLEEP => return Ok(None),
                // Asking is what makes the backend look.
                None => drop(self.backend.events(self.cursor, 1)?),
            }
        }
    }
}

impl Iterator for CompletionStream {
    type Item = Result<Ended>;

    /// The next end, waited for.
    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self, Duration::MAX).transpose()
    }
}
