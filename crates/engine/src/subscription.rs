//! Reading the journal: from any event on, without gap or duplicate, waiting where it ends; and
//! completions, each handed to each consumer once.

use std::io::{Read, Seek, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use crate::backend::Backend;
use crate::clock;
use crate::completion::Ended;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind, Item, Journal};
use crate::files;
use crate::id::JobId;
use crate::job::{Job, Summary};
use crate::lost;
use crate::sys::lock;
use crate::sys::watch::Watch;

/// How many items are fetched at once.
const PAGE: usize = 256;

/// Where events come from: a journal of this machine, or elsewhere.
pub trait EventSource: std::fmt::Debug + Send {
    /// Up to `most` items after the event numbered `after`.
    fn read(&self, after: u64, most: usize) -> Result<Vec<Item>>;

    /// Sleeps until there may be an event after the one numbered `after`, or until the deadline.
    fn sleep(&self, after: u64, deadline: Instant);
}

/// A reader of events that knows where it is. As an [`Iterator`] it waits for the next and never
/// ends by itself.
#[derive(Debug)]
pub struct Subscription {
    source: Box<dyn EventSource>,
    cursor: u64,
    fetched: std::vec::IntoIter<Item>,
}

impl Subscription {
    /// A reader of the events after the one numbered `after`.
    pub fn new(source: impl EventSource + 'static, after: u64) -> Self {
        Self { source: Box::new(source), cursor: after, fetched: Vec::new().into_iter() }
    }

    /// The number of the last event it has returned.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next item; `None` if there is none within `timeout`.
    pub fn next(&mut self, timeout: Duration) -> Result<Option<Item>> {
        let deadline = clock::deadline(timeout);
        loop {
            if let Some(item) = self.look()? {
                return Ok(Some(item));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            self.source.sleep(self.cursor, deadline);
        }
    }

    /// Sleeps until there may be more, or until the deadline.
    #[cfg(feature = "tokio")]
    pub(crate) fn sleep_until(&self, deadline: Instant) {
        self.source.sleep(self.cursor, deadline);
    }

    /// The next event of a kind that happened to a job, waited for; `None` too if the job's end
    /// comes first, for nothing happens to it after that.
    pub fn wait_event_of(
        &mut self,
        job: &JobId,
        kind: &str,
        timeout: Duration,
    ) -> Result<Option<Event>> {
        first_event(self, timeout, |event| match &event.kind {
            _ if event.job != *job => Some(false),
            other if other.name() == kind => Some(true),
            EventKind::Exited { .. } if kind != EventKind::Removed.name() => None,
            EventKind::Removed => None,
            _ => Some(false),
        })
    }

    /// The next item that is there already.
    pub(crate) fn look(&mut self) -> Result<Option<Item>> {
        if self.fetched.len() == 0 {
            self.fetched = self.source.read(self.cursor, PAGE)?.into_iter();
        }
        let item = self.fetched.next();
        if let Some(item) = &item {
            self.cursor = item.seq();
        }
        Ok(item)
    }
}

impl Iterator for Subscription {
    type Item = Result<Item>;

    /// The next item, waited for.
    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self, Duration::MAX).transpose()
    }
}

/// The first event for which `wanted` says yes, waited for; `None` if it does not come in time, or
/// if `wanted` says that it never will.
pub(crate) fn first_event(
    subscription: &mut Subscription,
    timeout: Duration,
    wanted: impl Fn(&Event) -> Option<bool>,
) -> Result<Option<Event>> {
    let deadline = clock::deadline(timeout);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match subscription.next(left)? {
            None => return Ok(None),
            Some(Item::Gap { .. }) => {}
            Some(Item::Event(event)) => match wanted(&event) {
                Some(true) => return Ok(Some(event)),
                Some(false) => {}
                None => return Ok(None),
            },
        }
    }
}

/// The journal of this machine, and the kernel's word that it grows.
#[derive(Debug)]
pub(crate) struct JournalSource {
    journal: Journal,
    watch: Watch,
}

impl JournalSource {
    pub(crate) fn open(engine: &Engine) -> Result<Self> {
        engine.mend();
        let journal = engine.journal()?;
        let failed =
            |source| Error::File { action: "watch", path: engine.state().events(), source };
        // Watched before the first read: what comes between the two is not missed.
        let watch = Watch::new().map_err(failed)?;
        watch.growth_of(journal.path()).map_err(failed)?;
        Ok(Self { journal, watch })
    }

    /// What is readable when the journal has grown.
    #[cfg(feature = "tokio")]
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}

impl EventSource for JournalSource {
    fn read(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        self.journal.read(after, most).map_err(Error::file("read", self.journal.path()))
    }

    fn sleep(&self, _after: u64, deadline: Instant) {
        let timeout = clock::until(deadline);
        let mut fds = [PollFd::from_borrowed_fd(self.watch.as_fd(), PollFlags::IN)];
        let _ = poll(&mut fds, Some(&timeout));
        self.watch.drain();
    }
}

impl Engine {
    /// The number of the newest event.
    pub fn newest_event(&self) -> Result<u64> {
        self.with_journal(Journal::newest)
    }

    /// Up to `most` items after the event numbered `after`.
    pub fn events(&self, after: u64, most: usize) -> Result<Vec<Item>> {
        self.mend();
        self.journal()?.read(after, most).map_err(Error::file("read", self.state().events()))
    }

    /// The jobs whose end the journal has after the event numbered `after`, each with the number of
    /// that event, and the number of the newest event of all. Jobs whose supervisor died are not
    /// looked after here.
    pub fn ends_after(&self, after: u64) -> Result<(Vec<(JobId, u64)>, u64)> {
        let (mut ends, newest) = self.with_journal(|journal| {
            let newest = journal.newest()?;
            let mut ends = Vec::new();
            journal.look_back(newest.saturating_sub(after), "exited", |event| {
                if matches!(event.kind, EventKind::Exited { .. }) {
                    ends.push((event.job, event.seq));
                }
                ControlFlow::Continue(())
            })?;
            Ok((ends, newest))
        })?;
        ends.reverse();
        // Some may have come since; they are read again next time.
        Ok((ends, newest))
    }

    /// Reads the journal from the event after `after` on, and waits for more.
    pub fn subscribe(&self, after: u64) -> Result<Subscription> {
        Ok(Subscription::new(JournalSource::open(self)?, after))
    }

    /// The first event of a kind after the event numbered `after`, waited for.
    pub fn wait_event_after(
        &self,
        kind: &str,
        after: u64,
        timeout: Duration,
    ) -> Result<Option<Event>> {
        Backend::wait_event_after(self, kind, after, timeout)
    }

    /// Jobs that ended since `consumer` last asked, in the order they ended, each exactly once.
    ///
    /// A consumer's first call begins with what ends from then on. A name is one consumer, however many
    /// processes use it: they share one place in the stream, and each end goes to whichever asks first.
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
        let mut file = files::open_or_create(&path).map_err(failed)?;
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
            let ends = items.into_iter().filter_map(Ended::of);
            summaries.extend(ends.filter_map(|ended| self.ended_job(&ended, owner)));
        }
        if advance == Advance::Yes || text.is_empty() {
            file.set_len(0).map_err(failed)?;
            file.rewind().map_err(failed)?;
            file.write_all(cursor.to_string().as_bytes()).map_err(failed)?;
        }
        Ok(summaries)
    }

    fn ended_job(&self, ended: &Ended, owner: Option<&str>) -> Option<Summary> {
        let Ended::Job(end) = ended else { return None };
        let summary = Job::new(self.clone(), end.job.clone()).summary()?;
        (owner.is_none() || summary.owner.as_deref() == owner).then_some(summary)
    }

    /// Looks after jobs whose supervisor died, so that the journal is complete.
    fn mend(&self) {
        for id in self.living().unwrap_or_default() {
            if !self.state().job(&id).is_supervised() {
                lost::truth(self.state(), &id);
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
        timeout: Duration,
    ) -> Result<Option<Event>> {
        self.engine().subscribe(after)?.wait_event_of(self.id(), kind, timeout)
    }

    /// Writes down in the journal that something was typed into it; the number of that event.
    pub fn record_input(&self, bytes: u64, end: bool) -> Result<u64> {
        let failed = Error::file("write", self.engine().state().events());
        let journal = self.engine().journal()?;
        journal.append_numbered(self.id(), EventKind::Input { bytes, end }).map_err(failed)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Advance {
    Yes,
    No,
}
