//! One thread that follows a source of events, for all listeners of this process. It sleeps in the
//! kernel, and exists only while somebody listens.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

/// Somebody who hears events.
pub trait Listen<E>: Send + Sync + 'static {
    /// An event. Must not block: all other listeners hear it after this one.
    fn hear(&self, event: &E);
}

/// Passes events on to listeners.
pub struct Hub<E> {
    state: Mutex<State<E>>,
}

struct State<E> {
    listeners: Vec<Weak<dyn Listen<E>>>,
    is_following: bool,
}

impl<E> Default for Hub<E> {
    fn default() -> Self {
        Self { state: Mutex::new(State { listeners: Vec::new(), is_following: false }) }
    }
}

impl<E: 'static> Hub<E> {
    /// Passes events on to `listener` from now on, for as long as it lives. Where nobody listened,
    /// `source` opens the source of events; one that cannot be opened yields nothing.
    pub fn add<S>(
        self: &Arc<Self>,
        listener: Weak<dyn Listen<E>>,
        source: impl FnOnce() -> Option<S>,
    ) where
        S: Iterator<Item = E> + Send + 'static,
    {
        let mut state = self.state();
        state.listeners.push(listener);
        if !state.is_following {
            let Some(events) = source() else { return };
            state.is_following = true;
            let hub = Arc::clone(self);
            thread::spawn(move || hub.follow(events));
        }
    }

    fn follow(&self, mut events: impl Iterator<Item = E>) {
        loop {
            let event = events.next();
            let mut state = self.state();
            state.listeners.retain(|listener| listener.strong_count() > 0);
            let Some(event) = event.filter(|_| !state.listeners.is_empty()) else {
                state.is_following = false;
                return;
            };
            let listeners: Vec<_> = state.listeners.iter().filter_map(Weak::upgrade).collect();
            drop(state);
            for listener in listeners {
                listener.hear(&event);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E> std::fmt::Debug for Hub<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;

    use super::*;

    const DEADLINE: Duration = Duration::from_mins(1);

    struct Sink(Sender<u32>);

    impl Listen<u32> for Sink {
        fn hear(&self, event: &u32) {
            let _ = self.0.send(*event);
        }
    }

    fn listener() -> (Arc<dyn Listen<u32>>, Receiver<u32>) {
        let (heard, hearing) = channel();
        (Arc::new(Sink(heard)), hearing)
    }

    #[test]
    fn every_listener_hears_every_event_from_one_thread_and_the_last_one_ends_it() {
        let hub = Arc::new(Hub::default());
        let (send, events) = channel::<u32>();
        let (first, first_hears) = listener();
        let (second, second_hears) = listener();
        hub.add(Arc::downgrade(&first), || Some(events.into_iter()));
        hub.add(Arc::downgrade(&second), || -> Option<std::vec::IntoIter<u32>> {
            unreachable!("the source is followed already")
        });
        send.send(1).unwrap();
        assert_eq!(first_hears.recv_timeout(DEADLINE), Ok(1));
        assert_eq!(second_hears.recv_timeout(DEADLINE), Ok(1));
        drop((first, second));
        // The thread sees at its next event that nobody listens, and lets go of the source.
        while send.send(2).is_ok() {
            thread::yield_now();
        }
        let (third, third_hears) = listener();
        hub.add(Arc::downgrade(&third), || Some(vec![7].into_iter()));
        assert_eq!(third_hears.recv_timeout(DEADLINE), Ok(7));
    }
}
