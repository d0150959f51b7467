//! What a caller passes along with every request: when to stop, and under which name changes are
//! kept for undo.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Error;

/// Cancellation and deadline of one call. Clones share the cancellation.
#[derive(Clone, Default)]
pub struct Stop {
    cancelled: Arc<AtomicBool>,
    /// Somebody else who knows whether it was cancelled.
    when: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    deadline: Option<Instant>,
}

impl std::fmt::Debug for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stop").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// Why work ended early.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The caller cancelled.
    Cancelled,
    /// The deadline passed.
    Deadline,
}

impl Stop {
    /// Never stops by itself.
    pub fn never() -> Self {
        Self::default()
    }

    /// Stops after this time.
    pub fn after(time: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(time), ..Self::default() }
    }

    /// Stops when this says that the call was cancelled. Asked often, from many threads.
    pub fn when(cancelled: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { when: Some(Arc::new(cancelled)), ..Self::default() }
    }

    /// The same cancellation with a deadline that is no later than `time` from now.
    #[must_use]
    pub fn at_most(&self, time: Duration) -> Self {
        let own = Instant::now().checked_add(time);
        let deadline = match (self.deadline, own) {
            (Some(first), Some(second)) => Some(first.min(second)),
            (first, second) => first.or(second),
        };
        Self { deadline, ..self.clone() }
    }

    /// Cancels every clone.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether to stop now, and why.
    pub fn reason(&self) -> Option<StopReason> {
        if self.cancelled.load(Ordering::Relaxed) || self.when.as_ref().is_some_and(|when| when()) {
            return Some(StopReason::Cancelled);
        }
        let passed = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        passed.then_some(StopReason::Deadline)
    }

    /// An error if it is time to stop.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.reason().map_or(Ok(()), |reason| Err(Error::Stopped { reason }))
    }
}

/// One call of a caller.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// When to give up.
    pub stop: Stop,
    /// A name for this call; changes are listed and undone by it.
    pub id: String,
    /// The job this call belongs to, if any.
    pub job: Option<String>,
    /// Whose call it is.
    pub owner: Option<String>,
}
