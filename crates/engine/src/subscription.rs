//! Reading the journal: from any event on, without gap or duplicate, waiting where it ends; and
//! completions, each handed to each consumer once.

use std::fs::OpenOptions;
use std::io::{Read, Seek, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::clock;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind, Item, Journal};
use crate::job::{Job, Summary};
use crate::reconcile;
use crate::sys::lock;
use crate::sys::watch::Watch;

/// How many items are fetched at once.
const PAGE: usize = 256;

/// A reader of the journal that knows where it is.
pub struct Subscription {
    journal: Journal,
    watch: Watch,
    cursor: u64,
    fetched: std::vec::IntoIter<Item>,
}

impl Subscription {
    /// The number of the last event it has returned.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next item; `None` if there is none within `patience`.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Item>> {
        let deadline = clock::deadline(patience);
        loop {
            if let Some(item) = self.fetched.next() {
                self.cursor = item.seq();
                return Ok(Some(item));
            }
            let path = self.journal.path().to_owned();
            let items = self.journal.read(self.cursor, PAGE).map_err(|source| Error::File {
                action: "read",
                path,
                source,
            })?;
            if items.is_empty() && !self.sleep(deadline) {
                return Ok(None);
            }
            self.fetched = items.into_iter();
        }
    }

    /// Sleeps until the journal grows. `false` at the deadline.
    fn sleep(&self, deadline: Instant) -> bool {
        if Instant::now() >= deadline {
            return false;
        }
        let timeout = clock::until(deadline);
        let _ = poll(
            &mut [PollFd::from_borrowed_fd(self.watch.as_fd(), PollFlags::IN)],
            Some(&timeout),
        );
        self.watch.drain();
        true
    }
}

impl Engine {
    /// The number of the newest event.
    pub fn newest_event(&self) -> Result<u64> {
        self.journal()?.newest().map_err(Error::file("read", self.state().events()))
    }

    /// Up to `most` items after the event numbered `after`.
    pub fn events(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        self.mend();
        self.journal()?.read(after, most).map_err(Error::file("read", self.state().events()))
    }

    /// Reads the journal from the event after `after` on, and waits for more.
    pub fn subscribe(&self, after: u64) -> Result<Subscription> {
        self.mend();
        let journal = self.journal()?;
        let failed = |source| Error::File { action: "watch", path: self.state().events(), source };
        // Watched before the first read: what comes between the two is not missed.
        let watch = Watch::new().map_err(failed)?;
        watch.growth_of(journal.path()).map_err(failed)?;
        Ok(Subscription { journal, watch, cursor: after, fetched: Vec::new().into_iter() })
    }

    /// The first event of a kind after the event numbered `after`, waited for.
    pub fn wait_event_after(
        &self,
        kind: &str,
        after: u64,
        patience: Duration,
    ) -> Result<Option<Event>> {
        self.wait_event(after, patience, |event| {
            if event.kind.name() == kind { Wanted::Yes } else { Wanted::No }
        })
    }

    fn wait_event(
        &self,
        after: u64,
        patience: Duration,
        wanted: impl Fn(&Event) -> Wanted,
    ) -> Result<Option<Event>> {
        let deadline = clock::deadline(patience);
        let mut subscription = self.subscribe(after)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match subscription.next(left)? {
                None => return Ok(None),
                Some(Item::Gap { .. }) => {}
                Some(Item::Event(event)) => match wanted(&event) {
                    Wanted::Yes => return Ok(Some(event)),
                    Wanted::No => {}
                    Wanted::Never => return Ok(None),
                },
            }
        }
    }

    /// Jobs that ended since `consumer` last asked, in the order they ended, each exactly once.
    ///
    /// A consumer's first call begins with what ends from then on.
    pub fn drain_completed(&self, consumer: &str, owner: Option<&str>) -> Result<Vec<Summary>> {
        self.completed(consumer, owner, Advance::Yes)
    }

    /// Whether `consumer` has completions to drain.
    pub fn has_pending(&self, consumer: &str, owner: Option<&str>) -> Result<bool> {
        Ok(!self.completed(consumer, owner, Advance::No)?.is_empty())
    }

    fn completed(
        &self,
        consumer: &str,
        owner: Option<&str>,
        advance: Advance,
    ) -> Result<Vec<Summary>> {
        self.mend();
        crate::session::check_name(consumer)
            .map_err(|_| Error::invalid("consumer", format!("{consumer:?} is no consumer name")))?;
        let path = self.state().cursors().join(consumer);
        let failed = |source| Error::State { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        lock::exclusive(&file).map_err(failed)?;
        let journal = self.journal()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut cursor = match text.trim().parse() {
            Ok(cursor) => cursor,
            Err(_) => journal.newest().map_err(failed)?,
        };
        let mut summaries = Vec::new();
        loop {
            let items = journal.read(cursor, PAGE).map_err(failed)?;
            let Some(last) = items.last() else { break };
            cursor = last.seq();
            summaries.extend(items.iter().filter_map(|item| self.completion(item, owner)));
        }
        if advance == Advance::Yes || text.is_empty() {
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(cursor.to_string().as_bytes()).map_err(failed)?;
        }
        Ok(summaries)
    }

    fn completion(&self, item: &Item, owner: Option<&str>) -> Option<Summary> {
        let Item::Event(Event { job, kind: EventKind::Exited { .. }, .. }) = item else {
            return None;
        };
        let summary = Job::new(self.clone(), job.clone()).summary()?;
        (owner.is_none() || summary.owner.as_deref() == owner).then_some(summary)
    }

    /// Looks after jobs whose supervisor died, so that the journal is complete.
    fn mend(&self) {
        let Ok(ids) = self.state().job_ids() else { return };
        for id in ids {
            if !self.state().job(&id).is_announced() {
                reconcile::truth(self.state(), &id);
            }
        }
    }
}

impl Job {
    /// The first event of a kind that happened to this job after the event numbered `after`,
    /// waited for; `None` too if its end comes first, for nothing happens to it after that.
    pub fn wait_event_after(
        &self,
        kind: &str,
        after: u64,
        patience: Duration,
    ) -> Result<Option<Event>> {
        self.engine().wait_event(after, patience, |event| match &event.kind {
            _ if event.job != *self.id() => Wanted::No,
            other if other.name() == kind => Wanted::Yes,
            EventKind::Exited { .. } if kind != EventKind::Removed.name() => Wanted::Never,
            EventKind::Removed => Wanted::Never,
            _ => Wanted::No,
        })
    }

    /// Writes down in the journal that something was typed into it; the number of that event.
    pub fn record_input(&self, bytes: u64, end: bool) -> Result<u64> {
        let failed = Error::file("write", self.engine().state().events());
        let journal = self.engine().journal()?;
        journal.append_numbered(self.id(), EventKind::Input { bytes, end }).map_err(failed)
    }
}

/// Whether an event is the one that is waited for.
enum Wanted {
    Yes,
    No,
    /// Nor will there be another.
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    Yes,
    No,
}
