//! Sessions, for the revisions that have them: who sits in each, and when it is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use umbo_server::{OnEnd, Sessions as Open, Visit};

use super::callers::end_all;
use super::replay::{Events, Replay};
use crate::caller::CallerSlot;
use crate::wire::agrees_on_batches;

type Result<T> = std::result::Result<T, LocalSessionManagerError>;

/// With this many sessions, the one that was silent longest makes room for the next.
const MOST_SESSIONS: usize = 256;

/// All sessions of a server.
pub(crate) struct Sessions {
    open: Arc<Open<Arc<Session>>>,
}

/// One session: whose it is, and its messages. They are kept apart from those of all others, so that
/// no client can resume what another began.
struct Session {
    slot: Arc<CallerSlot>,
    local: LocalSessionManager,
    replay: Arc<Replay>,
    /// Whether it speaks the one revision that has batches.
    has_batches: AtomicBool,
}

impl Session {
    fn new(slot: Arc<CallerSlot>) -> Self {
        let replay = Arc::<Replay>::default();
        let mut local = LocalSessionManager::default().with_event_store(replay.clone());
        // Silence is told apart here from a stream on which there is nothing to say.
        local.session_config.keep_alive = None;
        Self { slot, local, replay, has_batches: AtomicBool::new(false) }
    }

    async fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle> {
        let handle = self.local.sessions.read().await.get(id).cloned();
        handle.ok_or_else(|| LocalSessionManagerError::SessionNotFound(SessionId::clone(id)))
    }
}

impl Sessions {
    pub(crate) fn new(idle_timeout: Duration) -> Arc<Self> {
        let on_end: Box<OnEnd<Arc<Session>>> = Box::new(move |id, session| {
            Box::pin(async move {
                // What its caller runs in the foreground is stopped.
                if let Some(caller) = session.slot.owner() {
                    let _ = tokio::task::spawn_blocking(move || caller.end()).await;
                }
                let _ = session.local.close_session(&SessionId::from(id)).await;
            })
        });
        Arc::new(Self { open: Open::new(idle_timeout, MOST_SESSIONS, on_end) })
    }

    /// Whether there is room for one more session.
    pub(crate) async fn make_room(&self) -> bool {
        self.open.make_room().await
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.open.value(id).is_some()
    }

    /// Whether several messages may come together in this session.
    pub(crate) fn has_batches(&self, id: &str) -> bool {
        self.open.value(id).is_some_and(|session| session.has_batches.load(Ordering::Relaxed))
    }

    /// Is there, in this session, until the result is dropped.
    pub(crate) fn visit(&self, id: &str) -> Option<Visit> {
        self.open.visit(id)
    }

    /// The sessions as one request meets them: what begins with it gets the request's slot.
    pub(crate) fn with(self: &Arc<Self>, slot: Arc<CallerSlot>) -> Arc<SessionsOfRequest> {
        Arc::new(SessionsOfRequest { sessions: Arc::clone(self), slot })
    }

    /// All of them are over. Blocks.
    pub(crate) fn end_all(&self) {
        end_all(self.open.take_all().iter().filter_map(|session| session.slot.owner()));
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>> {
        let session = self.open.value(id);
        session.ok_or_else(|| LocalSessionManagerError::SessionNotFound(SessionId::clone(id)))
    }
}

/// The sessions as one request meets them.
pub(crate) struct SessionsOfRequest {
    sessions: Arc<Sessions>,
    slot: Arc<CallerSlot>,
}

impl SessionManager for SessionsOfRequest {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        let session = Session::new(Arc::clone(&self.slot));
        let (id, transport) = session.local.create_session().await?;
        self.sessions.open.begin(id.to_string(), Arc::new(session));
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        let session = self.sessions.session(id)?;
        let answer = session.local.initialize_session(id, message).await?;
        session.has_batches.store(agrees_on_batches(&answer), Ordering::Relaxed);
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        Ok(self.sessions.has(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        self.sessions.open.end(id).await;
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let handle = self.sessions.session(id)?.handle(id).await?;
        let receiver = handle.establish_request_wise_channel().await?;
        handle.push_message(message, receiver.http_request_id).await?;
        Ok(Events(receiver.inner))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        self.sessions.session(id)?.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let handle = self.sessions.session(id)?.handle(id).await?;
        Ok(Events(handle.establish_common_channel().await?.inner))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Ok(self.sessions.session(id)?.replay.after(&last_event_id))
    }
}
