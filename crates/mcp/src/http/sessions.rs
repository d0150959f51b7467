//! Sessions, for the revisions that have them: who sits in each, and when it is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};

use super::callers::end_all;
use super::presence::{Presence, Visit};
use crate::caller::Seat;

type Result<T> = std::result::Result<T, LocalSessionManagerError>;

/// All sessions of a server.
pub(crate) struct Sessions {
    local: LocalSessionManager,
    /// How long a session may be silent.
    patience: Duration,
    open: Mutex<HashMap<SessionId, Session>>,
}

struct Session {
    seat: Arc<Seat>,
    presence: Arc<Presence>,
    expiry: tokio::task::AbortHandle,
}

impl Sessions {
    pub(crate) fn new(patience: Duration) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        // Silence is told apart here from a stream on which there is nothing to say.
        local.session_config.keep_alive = None;
        Arc::new(Self { local, patience, open: Mutex::default() })
    }

    pub(crate) fn count(&self) -> usize {
        self.open().len()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.open().contains_key(id)
    }

    /// Is there, in this session, until the result is dropped.
    pub(crate) fn visit(&self, id: &str) -> Option<Visit> {
        self.open().get(id).map(|session| session.presence.visit())
    }

    /// The sessions as one request meets them: what begins with it gets the request's seat.
    pub(crate) fn with(self: &Arc<Self>, seat: Arc<Seat>) -> Arc<Entrance> {
        Arc::new(Entrance { sessions: Arc::clone(self), seat })
    }

    /// It is over: what its caller runs in the foreground is stopped.
    async fn end(&self, id: &SessionId) -> Result<()> {
        let session = self.open().remove(id);
        if let Some(session) = session {
            session.expiry.abort();
            if let Some(caller) = session.seat.owner() {
                let _ = tokio::task::spawn_blocking(move || caller.end()).await;
            }
        }
        self.local.close_session(id).await
    }

    /// All of them are over. Blocks.
    pub(crate) fn end_all(&self) {
        let open: Vec<Session> = self.open().drain().map(|(_, session)| session).collect();
        end_all(open.iter().filter_map(|session| session.seat.owner()));
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions as one request meets them.
pub(crate) struct Entrance {
    sessions: Arc<Sessions>,
    seat: Arc<Seat>,
}

impl Entrance {
    fn local(&self) -> &LocalSessionManager {
        &self.sessions.local
    }
}

impl SessionManager for Entrance {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        let (id, transport) = self.local().create_session().await?;
        let presence = Presence::new();
        let expiry = {
            let (sessions, presence) = (Arc::clone(&self.sessions), Arc::clone(&presence));
            let id = SessionId::clone(&id);
            tokio::spawn(async move {
                presence.gone_for(sessions.patience).await;
                tracing::info!(session = %id, "expired");
                // Not here: to end a session ends this.
                tokio::spawn(async move { sessions.end(&id).await });
            })
        };
        let seat = Arc::clone(&self.seat);
        let session = Session { seat, presence, expiry: expiry.abort_handle() };
        self.sessions.open().insert(SessionId::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage> {
        self.local().initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.local().has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        self.sessions.end(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.local().create_stream(id, message).await
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        self.local().accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.local().create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.local().resume(id, last_event_id).await
    }
}
