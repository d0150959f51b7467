//! Sessions: who is in each, and when it is over. One that nobody visits for a while ends by itself.
//! When there is no room for another, the one that was silent longest makes it: sessions that
//! nobody closed never lock others out.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::AbortHandle;

use crate::presence::{Presence, Visit};

/// What is done when a session has ended: its id, and what was kept for it.
pub type OnEnd<T> =
    dyn Fn(String, T) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync + 'static;

/// Sessions, with a value of type `T` each.
pub struct Sessions<T> {
    idle_timeout: Duration,
    most: usize,
    on_end: Box<OnEnd<T>>,
    open: Mutex<HashMap<String, Session<T>>>,
}

struct Session<T> {
    value: T,
    presence: Arc<Presence>,
    expiry: AbortHandle,
}

impl<T: Send + 'static> Sessions<T> {
    /// At most `most` sessions, each of which ends when nobody visits it for `idle_timeout`.
    pub fn new(idle_timeout: Duration, most: usize, on_end: Box<OnEnd<T>>) -> Arc<Self> {
        Arc::new(Self { idle_timeout, most, on_end, open: Mutex::default() })
    }

    /// Begins a session. Must be called inside of a runtime.
    pub fn begin(self: &Arc<Self>, id: String, value: T) {
        let presence = Presence::new();
        let expiry = {
            let (sessions, presence, id) = (Arc::clone(self), Arc::clone(&presence), id.clone());
            tokio::spawn(async move {
                presence.gone_for(sessions.idle_timeout).await;
                tracing::info!(session = id, "expired");
                // In a task of its own: the end of a session aborts this one.
                tokio::spawn(async move { sessions.end(&id).await });
            })
        };
        let session = Session { value, presence, expiry: expiry.abort_handle() };
        self.open().insert(id, session);
    }

    /// Makes room for one more session, if there is none, by ending the one that was silent
    /// longest. Whether there is room now: not if somebody is in every one of them.
    pub async fn make_room(&self) -> bool {
        let silent = {
            let open = self.open();
            if open.len() < self.most {
                return true;
            }
            open.iter()
                .filter_map(|(id, session)| Some((session.presence.silent_since()?, id)))
                .min()
                .map(|(_, id)| id.clone())
        };
        let Some(id) = silent else { return false };
        tracing::info!(session = id, "ended to make room");
        self.end(&id).await;
        true
    }

    /// What is kept for the session of this id, if there is one.
    pub fn value(&self, id: &str) -> Option<T>
    where
        T: Clone,
    {
        self.open().get(id).map(|session| session.value.clone())
    }

    /// Is in the session until the result is dropped.
    pub fn visit(&self, id: &str) -> Option<Visit> {
        self.open().get(id).map(|session| session.presence.visit())
    }

    /// Ends a session, and returns when all is done that has to be done then.
    pub async fn end(&self, id: &str) {
        let session = self.open().remove(id);
        if let Some(session) = session {
            session.expiry.abort();
            (self.on_end)(id.to_owned(), session.value).await;
        }
    }

    /// Takes all sessions out at once, for a server that stops; nothing else is done for them.
    pub fn take_all(&self) -> Vec<T> {
        let open: Vec<Session<T>> = self.open().drain().map(|(_, session)| session).collect();
        open.into_iter()
            .map(|session| {
                session.expiry.abort();
                session.value
            })
            .collect()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Session<T>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> std::fmt::Debug for Sessions<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;

    const IDLE: Duration = Duration::from_secs(10);

    fn sessions(most: usize) -> (Arc<Sessions<u8>>, UnboundedReceiver<(String, u8)>) {
        let (send, ended) = unbounded_channel();
        let on_end: Box<OnEnd<u8>> = Box::new(move |id, value| {
            let _ = send.send((id, value));
            Box::pin(std::future::ready(()))
        });
        (Sessions::new(IDLE, most, on_end), ended)
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_nobody_visits_ends_by_itself() {
        let (sessions, mut ended) = sessions(9);
        sessions.begin("a".to_owned(), 1);
        assert_eq!(ended.recv().await, Some(("a".to_owned(), 1)));
        assert_eq!(sessions.value("a"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_places_are_taken_the_longest_silent_one_makes_room() {
        let (sessions, mut ended) = sessions(2);
        sessions.begin("first".to_owned(), 1);
        tokio::time::sleep(IDLE / 10).await;
        sessions.begin("second".to_owned(), 2);
        let first = sessions.visit("first");
        assert!(sessions.make_room().await);
        assert_eq!(ended.recv().await, Some(("second".to_owned(), 2)));
        sessions.begin("third".to_owned(), 3);
        let third = sessions.visit("third");
        assert!(!sessions.make_room().await, "somebody is in both");
        drop((first, third));
        assert_eq!(sessions.take_all().len(), 2);
    }
}
