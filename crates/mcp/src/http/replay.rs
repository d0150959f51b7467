//! What was sent on the streams of a session, for a client that lost one: it names the last event it
//! saw, and gets what came after it, the answer included, once.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_core::Stream;
use rmcp::model::JsonRpcMessage;
use rmcp::transport::streamable_http_server::session::{
    EventId, EventStore, EventStoreError, EventStream, ServerSseMessage,
};
use tokio::sync::{mpsc, watch};

/// As many streams that are over are kept for a client that comes back.
const MOST_ENDED_STREAMS: usize = 16;
/// As many events of a stream are kept.
const MOST_EVENTS: usize = 512;

/// The streams of one session.
#[derive(Default)]
pub(super) struct Replay {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    streams: VecDeque<Sent>,
}

/// What was sent on one stream.
struct Sent {
    /// What rmcp calls the stream.
    name: String,
    number: u64,
    /// How many events came before those that are kept.
    dropped: usize,
    events: VecDeque<ServerSseMessage>,
    is_over: bool,
    /// Changes with every event.
    changed: watch::Sender<()>,
}

impl Replay {
    /// What came after an event, and what comes, until its stream is over. Nothing for an event that
    /// was never sent, or of a stream that is forgotten.
    pub(super) fn after(self: &Arc<Self>, last_event_id: &str) -> Events {
        let (send, missed) = mpsc::channel(1);
        if let Some((number, seen)) = parse(last_event_id)
            && let Some(mut changed) = self.changes(number)
        {
            let replay = Arc::clone(self);
            tokio::spawn(async move {
                let mut next = seen.saturating_add(1);
                loop {
                    changed.mark_unchanged();
                    let Some((events, is_over)) = replay.events_from(number, next) else { return };
                    next += events.len();
                    for event in events {
                        if send.send(event).await.is_err() {
                            return;
                        }
                    }
                    if is_over {
                        return;
                    }
                    tokio::select! {
                        change = changed.changed() => if change.is_err() { return },
                        () = send.closed() => return,
                    }
                }
            });
        }
        Events(missed)
    }

    fn changes(&self, number: u64) -> Option<watch::Receiver<()>> {
        Some(self.state().stream(number)?.changed.subscribe())
    }

    fn events_from(&self, number: u64, next: usize) -> Option<(Vec<ServerSseMessage>, bool)> {
        let state = self.state();
        let sent = state.stream(number)?;
        let from = next.saturating_sub(sent.dropped);
        Some((sent.events.iter().skip(from).cloned().collect(), sent.is_over))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn stream(&self, number: u64) -> Option<&Sent> {
        self.streams.iter().find(|sent| sent.number == number)
    }

    fn store(&mut self, name: &str, event: &ServerSseMessage) -> EventId {
        let place = self.streams.iter().position(|sent| sent.name == name).unwrap_or_else(|| {
            let (number, changed) = (self.next, watch::channel(()).0);
            self.next += 1;
            let (events, name) = (VecDeque::new(), name.to_owned());
            let sent = Sent { name, number, dropped: 0, events, is_over: false, changed };
            self.streams.push_back(sent);
            self.streams.len() - 1
        });
        let sent = &mut self.streams[place];
        let id = format!("{}-{}", sent.number, sent.dropped + sent.events.len());
        let message = event.message.as_deref();
        sent.is_over =
            matches!(message, Some(JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)));
        let mut event = event.clone();
        event.event_id = Some(id.clone());
        sent.events.push_back(event);
        if sent.events.len() > MOST_EVENTS {
            sent.events.pop_front();
            sent.dropped += 1;
        }
        sent.changed.send_replace(());
        if self.streams.iter().filter(|sent| sent.is_over).count() > MOST_ENDED_STREAMS
            && let Some(oldest) = self.streams.iter().position(|sent| sent.is_over)
        {
            self.streams.remove(oldest);
        }
        id
    }
}

fn parse(event_id: &str) -> Option<(u64, usize)> {
    let (stream, index) = event_id.split_once('-')?;
    Some((stream.parse().ok()?, index.parse().ok()?))
}

#[async_trait]
impl EventStore for Replay {
    async fn store_event(
        &self,
        stream_id: &str,
        event: &ServerSseMessage,
    ) -> Result<EventId, EventStoreError> {
        Ok(self.state().store(stream_id, event))
    }

    async fn replay_events_after(&self, _: &str) -> Result<EventStream, EventStoreError> {
        Err("a session resumes its own streams".into())
    }
}

/// Events for a client.
pub(super) struct Events(pub(super) mpsc::Receiver<ServerSseMessage>);

impl Stream for Events {
    type Item = ServerSseMessage;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<ServerSseMessage>> {
        self.0.poll_recv(context)
    }
}
