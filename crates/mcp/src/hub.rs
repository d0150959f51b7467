//! One thread that follows what happens to jobs, for all listeners of this process. It sleeps in
//! the kernel, and is there only while somebody listens.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use umbo_tools::{JobEvents, Toolset};

use crate::listener::Listener;

#[derive(Default)]
pub(crate) struct Hub {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    listeners: Vec<Weak<Listener>>,
    is_following: bool,
}

impl Hub {
    /// Tells `listener` what happens from now on, for as long as it lives.
    pub(crate) fn add(self: &Arc<Self>, listener: &Arc<Listener>, tools: &Toolset) {
        let mut state = self.state();
        state.listeners.push(Arc::downgrade(listener));
        if !state.is_following {
            // Without a journal nothing is told; everything else works.
            let Ok(events) = tools.job_events() else { return };
            state.is_following = true;
            let hub = Arc::clone(self);
            thread::spawn(move || hub.follow(events));
        }
    }

    fn follow(&self, mut events: JobEvents) {
        loop {
            let event = events.next_event();
            let mut state = self.state();
            state.listeners.retain(|listener| listener.strong_count() > 0);
            let Ok(event) = event.inspect_err(|error| tracing::warn!(%error, "the journal ended"))
            else {
                state.is_following = false;
                return;
            };
            if state.listeners.is_empty() {
                state.is_following = false;
                return;
            }
            let listeners: Vec<Arc<Listener>> =
                state.listeners.iter().filter_map(Weak::upgrade).collect();
            drop(state);
            for listener in listeners {
                listener.hear(&event);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
