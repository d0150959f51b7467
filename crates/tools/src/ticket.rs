//! One call, held from outside: who waits for it can cancel it, and is told how it stands.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use umbo_engine::{Job, Ladder};
use umbo_view::Tick;

/// How a cancelled command is stopped: nobody waits for what it has to say.
const CANCELLED: Ladder = Ladder { interrupt: None, terminate: Some(Duration::from_secs(2)) };

type Listener = dyn Fn(&Tick) + Send + Sync;

/// A handle to a call in progress. Clones are the same ticket.
#[derive(Clone, Default)]
pub struct Ticket {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    is_cancelled: AtomicBool,
    /// The command that dies with the call.
    job: Mutex<Option<Job>>,
    listener: Option<Box<Listener>>,
}

impl Ticket {
    /// A ticket whose holder hears how the call stands.
    pub fn with_progress(listener: impl Fn(&Tick) + Send + Sync + 'static) -> Self {
        let inner = Inner { listener: Some(Box::new(listener)), ..Inner::default() };
        Self { inner: Arc::new(inner) }
    }

    /// Nobody wants the answer any more: the command that the call waits for is stopped with all
    /// its descendants. Returns when it is gone.
    pub fn cancel(&self) {
        self.inner.is_cancelled.store(true, Ordering::SeqCst);
        let job = self.job().take();
        if let Some(job) = job {
            let _ = job.stop(CANCELLED);
        }
    }

    /// Whether nobody waits any more.
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled.load(Ordering::SeqCst)
    }

    /// From here on the job dies if the call is cancelled.
    pub(crate) fn bind(&self, job: &Job) {
        *self.job() = Some(job.clone());
        // It may have been cancelled while the job was being started.
        if self.is_cancelled() {
            self.cancel();
        }
    }

    /// From here on it does not.
    pub(crate) fn unbind(&self) {
        *self.job() = None;
    }

    pub(crate) fn wants_progress(&self) -> bool {
        self.inner.listener.is_some()
    }

    pub(crate) fn tell(&self, tick: &Tick) {
        if let Some(listener) = &self.inner.listener {
            listener(tick);
        }
    }

    fn job(&self) -> std::sync::MutexGuard<'_, Option<Job>> {
        self.inner.job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
