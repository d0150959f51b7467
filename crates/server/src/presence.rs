//! Whether somebody is there: requests that are answered, streams that are open, and since when
//! there was none of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Whether somebody is there, and since when nobody was.
pub struct Presence {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct State {
    /// Visits that last.
    here: usize,
    /// Visits there ever were.
    ever: u64,
    /// When the last one ended.
    since: Instant,
}

impl Presence {
    /// Nobody was there yet.
    pub fn new() -> Arc<Self> {
        let state = Mutex::new(State { here: 0, ever: 0, since: Instant::now() });
        Arc::new(Self { state, changed: Notify::new() })
    }

    /// Is there until the result is dropped.
    pub fn visit(self: &Arc<Self>) -> Visit {
        let mut state = self.state();
        state.here += 1;
        state.ever += 1;
        drop(state);
        self.changed.notify_one();
        Visit(Arc::clone(self))
    }

    /// Ends when nobody has been there for so long; how many there ever were.
    pub async fn gone_for(&self, idle: Duration) -> u64 {
        loop {
            let state = *self.state();
            if state.here > 0 {
                self.changed.notified().await;
                continue;
            }
            sleep_until(state.since + idle).await;
            if *self.state() == state {
                return state.ever;
            }
        }
    }

    /// Ends when there were more visits than `ever`.
    pub async fn back(&self, ever: u64) {
        while self.state().ever == ever {
            self.changed.notified().await;
        }
    }

    /// Since when nobody is there; `None` while somebody is.
    pub(crate) fn silent_since(&self) -> Option<Instant> {
        let state = *self.state();
        (state.here == 0).then_some(state.since)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody is there until this is dropped.
pub struct Visit(Arc<Presence>);

impl Drop for Visit {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.here -= 1;
        state.since = Instant::now();
        drop(state);
        self.0.changed.notify_one();
    }
}

impl std::fmt::Debug for Presence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Presence").field("visits", &self.state().here).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Visit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Visit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn who_comes_back_in_time_is_not_gone() {
        let presence = Presence::new();
        let visit = presence.visit();
        let long = tokio::time::timeout(IDLE * 100, presence.gone_for(IDLE)).await;
        assert!(long.is_err(), "a visit of any length is a presence");
        drop(visit);
        let start = Instant::now();
        let gone = {
            let presence = Arc::clone(&presence);
            tokio::spawn(async move { presence.gone_for(IDLE).await })
        };
        tokio::time::sleep(IDLE / 2).await;
        let (first, second) = (presence.visit(), presence.visit());
        drop(first);
        tokio::time::sleep(IDLE * 3).await;
        assert!(!gone.is_finished());
        drop(second);
        assert_eq!(gone.await.unwrap(), 3);
        assert_eq!(start.elapsed(), IDLE / 2 + IDLE * 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_visit_that_nobody_saw_was_one() {
        let presence = Presence::new();
        let ever = presence.gone_for(IDLE).await;
        drop(presence.visit());
        presence.back(ever).await;
    }
}
