//! A client that is notified when jobs appear, write and end: what it wants to know, and what it was not
//! notified of yet. What comes faster than it reads becomes one notice, not a queue.
#![expect(deprecated, reason = "logging is how revisions before 2026-07-28 are told of an end")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ResourceUpdatedNotificationParam,
};
use rmcp::service::{Peer, SubscriptionSink};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;
use umbo_server::Listen;
use umbo_tools::{Completed, JobEvent, JobEventKind, Toolset};

/// How often a list may be said to have changed.
const LIST_PAUSE: Duration = Duration::from_secs(1);

/// Passes on what happens to jobs.
pub(crate) type Hub = umbo_server::Hub<JobEvent>;

/// Adds a listener to a hub, which follows the journal while it has any.
pub(crate) fn listen(hub: &Arc<Hub>, listener: &Arc<Listener>, tools: &Toolset) {
    let listener: Weak<dyn Listen<JobEvent>> = Arc::<Listener>::downgrade(listener);
    hub.add(listener, || {
        let mut events = tools.job_events().ok()?;
        // Without a journal nothing is passed on; everything else works.
        Some(std::iter::from_fn(move || {
            events
                .next_event()
                .inspect_err(|error| tracing::warn!(%error, "the journal ended"))
                .ok()
        }))
    });
}

impl Listen<JobEvent> for Listener {
    fn hear(&self, event: &JobEvent) {
        self.heed(event);
    }
}

pub(crate) struct Listener {
    tools: Arc<Toolset>,
    wanted: Mutex<Wanted>,
    unsaid: Mutex<Unsaid>,
    bell: Notify,
}

/// What it wants to know.
#[derive(Default)]
struct Wanted {
    /// The addresses it subscribed to, by job.
    addresses: BTreeMap<String, BTreeSet<String>>,
    list: bool,
    level: Option<LoggingLevel>,
}

/// What it was not told yet.
#[derive(Default)]
struct Unsaid {
    updated: BTreeSet<String>,
    list_changed: bool,
    completed: Vec<Completed>,
    is_closed: bool,
}

/// Where its notices go.
pub(crate) enum Sink {
    /// On the connection, in revisions that have one.
    Peer(Peer<RoleServer>),
    /// On a stream it opened for that.
    Stream(SubscriptionSink),
}

impl Listener {
    pub(crate) fn new(tools: Arc<Toolset>) -> Arc<Self> {
        let (wanted, unsaid) = (Mutex::default(), Mutex::default());
        Arc::new(Self { tools, wanted, unsaid, bell: Notify::new() })
    }

    /// Wants to know when what is at this address changes.
    pub(crate) fn subscribe(&self, job: String, uri: String) {
        self.wanted().addresses.entry(job).or_default().insert(uri);
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.wanted().addresses.retain(|_, uris| {
            uris.remove(uri);
            !uris.is_empty()
        });
    }

    /// Wants to know when jobs appear.
    pub(crate) fn want_list(&self) {
        self.wanted().list = true;
    }

    /// Wants messages from this level on.
    pub(crate) fn want_messages(&self, level: LoggingLevel) {
        self.wanted().level = Some(level);
    }

    /// It is notified of nothing more.
    pub(crate) fn close(&self) {
        self.unsaid().is_closed = true;
        self.bell.notify_one();
    }

    fn heed(&self, event: &JobEvent) {
        let (updated, list_changed, level) = {
            let wanted = self.wanted();
            let updated: Vec<String> = match event.kind {
                JobEventKind::Appeared => Vec::new(),
                JobEventKind::Missed => wanted.addresses.values().flatten().cloned().collect(),
                _ => wanted.addresses.get(&event.job).into_iter().flatten().cloned().collect(),
            };
            let changes = matches!(
                event.kind,
                JobEventKind::Appeared | JobEventKind::Removed | JobEventKind::Missed
            );
            let is_mine = event.concerns(&self.tools);
            let level = wanted.level.filter(|_| is_mine && event.kind == JobEventKind::Ended);
            (updated, wanted.list && changes && is_mine, level)
        };
        let completed = level.and_then(|least| {
            let told = self.tools.announce(&event.job)?;
            (rank(level_of(&told)) >= rank(least)).then_some(told)
        });
        if updated.is_empty() && !list_changed && completed.is_none() {
            return;
        }
        let mut unsaid = self.unsaid();
        unsaid.updated.extend(updated);
        unsaid.list_changed |= list_changed;
        unsaid.completed.extend(completed);
        drop(unsaid);
        self.bell.notify_one();
    }

    /// Tells what is heard, until it is closed or nobody is there to be told.
    pub(crate) async fn deliver(self: Arc<Self>, sink: Sink) {
        let mut list_from = Instant::now();
        loop {
            let (updated, completed, list_changed) = {
                let mut unsaid = self.unsaid();
                if unsaid.is_closed {
                    return;
                }
                let list_due = unsaid.list_changed && list_from <= Instant::now();
                unsaid.list_changed &= !list_due;
                let updated = std::mem::take(&mut unsaid.updated);
                (updated, std::mem::take(&mut unsaid.completed), list_due)
            };
            let said = async {
                for told in completed {
                    sink.completed(&told).await?;
                }
                for uri in updated {
                    sink.updated(uri).await?;
                }
                if list_changed {
                    list_from = Instant::now() + LIST_PAUSE;
                    sink.list_changed().await?;
                }
                Some(())
            };
            if said.await.is_none() {
                return;
            }
            let is_late = self.unsaid().list_changed;
            tokio::select! {
                () = self.bell.notified() => {}
                () = tokio::time::sleep_until(list_from), if is_late => {}
            }
        }
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unsaid(&self) -> MutexGuard<'_, Unsaid> {
        self.unsaid.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink {
    /// `None` if nobody is there.
    async fn updated(&self, uri: String) -> Option<()> {
        match self {
            Self::Peer(peer) => {
                peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await.ok()
            }
            Self::Stream(sink) => sink.notify_resource_updated(uri).await.ok(),
        }
    }

    async fn list_changed(&self) -> Option<()> {
        match self {
            Self::Peer(peer) => peer.notify_resource_list_changed().await.ok(),
            Self::Stream(sink) => sink.notify_resource_list_changed().await.ok(),
        }
    }

    async fn completed(&self, told: &Completed) -> Option<()> {
        // Streams of the newest revision carry no messages.
        let Self::Peer(peer) = self else { return Some(()) };
        let data = json!({"message": told.sentence, "completed": told.event});
        let mut message = LoggingMessageNotificationParam::new(level_of(told), data);
        message.logger = Some("umbo.jobs".to_owned());
        peer.notify_logging_message(message).await.ok()
    }
}

fn level_of(told: &Completed) -> LoggingLevel {
    if told.is_success { LoggingLevel::Info } else { LoggingLevel::Warning }
}

fn rank(level: LoggingLevel) -> usize {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    let levels = [Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency];
    levels.iter().position(|other| *other == level).unwrap_or(0)
}
