//! Calls in progress: who waits for them can cancel them, all at once too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use umbo_tools::Ticket;

/// How long cancelled calls may take to end.
const FAREWELL: Duration = Duration::from_secs(7);

/// Calls in progress, each with the ticket that cancels it.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    tickets: Mutex<HashMap<u64, Ticket>>,
    next: AtomicU64,
    left: Condvar,
    /// The most calls there were at once since there was none.
    most: AtomicUsize,
}

/// After more calls at once than this, memory is given back when the last of them is over.
const BURST: usize = 64;
/// By then the runtime has ended the threads that those calls had.
const IDLE_THREADS_END: Duration = Duration::from_secs(12);

impl Calls {
    /// Takes part until the result is dropped.
    pub(crate) fn enter(&self, ticket: Ticket) -> Entered {
        let number = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let mut tickets = self.tickets();
        tickets.insert(number, ticket);
        self.inner.most.fetch_max(tickets.len(), Ordering::Relaxed);
        drop(tickets);
        Entered { calls: self.clone(), number }
    }

    /// Stops what every call waits for, all at once. Returns when all of it is gone.
    pub(crate) fn cancel_all(&self) {
        let tickets: Vec<Ticket> = self.tickets().values().cloned().collect();
        thread::scope(|scope| {
            for ticket in &tickets {
                scope.spawn(|| ticket.cancel());
            }
        });
        // One that was just about to start something stops it by itself.
        let calls = self.tickets();
        let all_left =
            self.inner.left.wait_timeout_while(calls, FAREWELL, |calls| !calls.is_empty());
        drop(all_left);
    }

    fn tickets(&self) -> MutexGuard<'_, HashMap<u64, Ticket>> {
        self.inner.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a call is in progress.
pub(crate) struct Entered {
    calls: Calls,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let is_last = {
            let mut tickets = self.calls.tickets();
            tickets.remove(&self.number);
            tickets.is_empty()
        };
        self.calls.inner.left.notify_all();
        if is_last && self.calls.inner.most.swap(0, Ordering::Relaxed) > BURST {
            let _ = thread::Builder::new().spawn(|| {
                thread::sleep(IDLE_THREADS_END);
                umbo_tools::release_memory();
            });
        }
    }
}
