//! Why a call was cancelled. A person who changes their mind wants the command stopped; a client whose
//! own timeout struck only stopped waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{CancelledNotificationParam, RequestId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use umbo_tools::Ticket;

use crate::threads;

/// What becomes of the command of a call that is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnCancel {
    /// It is stopped, unless the reason that the client gives is that its time was over: then it runs
    /// on as a job, and the next result says so.
    #[default]
    ByReason,
    /// It is stopped.
    Stop,
    /// It runs on.
    Keep,
}

impl OnCancel {
    /// Whether a command runs on whose call was cancelled for this reason.
    pub(crate) fn keeps(self, reason: Option<&str>) -> bool {
        match self {
            Self::ByReason => reason.is_some_and(is_timeout),
            Self::Stop => false,
            Self::Keep => true,
        }
    }
}

/// What the libraries of clients say when their own time was over: `MCP error -32001: Request
/// timed out`, `request timeout`, `context deadline exceeded`, `TimeoutError: The operation was aborted`.
fn is_timeout(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["timeout", "timed out", "time out", "timed-out", "deadline exceeded"]
        .iter()
        .any(|words| reason.contains(words))
}

/// How long the reason may come after the cancellation itself: both are in one message.
const REASON_TIMEOUT: Duration = Duration::from_millis(500);

type Reason = Option<String>;

/// The calls of one connection, by the ids of their requests, each with who wants to know that it is cancelled,
/// and why.
#[derive(Debug, Default)]
pub(crate) struct Cancellations {
    waiting: Mutex<HashMap<RequestId, Waiting>>,
}

#[derive(Debug)]
enum Waiting {
    /// A task, which is cancelled by rmcp and wants to know the reason.
    Reason(oneshot::Sender<Reason>),
    /// A call that rmcp knows nothing of.
    Call { ticket: Ticket, on_cancel: OnCancel, cancelling: Arc<Cancelling> },
}

/// Whether a call was cancelled.
#[derive(Debug, Default)]
pub(crate) struct Cancelling {
    fate: OnceLock<Fate>,
    token: CancellationToken,
}

/// What becomes of a cancelled call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is stopped.
    Stopped,
    /// What it started runs on.
    RunsOn,
}

impl Cancelling {
    /// What became of the call, if it was cancelled.
    pub(crate) fn fate(&self) -> Option<Fate> {
        self.fate.get().copied()
    }

    /// Waits until it is.
    pub(crate) async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}

impl Cancellations {
    /// A request that may be cancelled until the result is dropped.
    pub(crate) fn expect(self: &Arc<Self>, id: RequestId) -> Cancellation {
        let (tell, told) = oneshot::channel();
        Cancellation { expected: self.insert(id, Waiting::Reason(tell)), told }
    }

    /// The same for a call that rmcp knows nothing of: it is stopped, or runs on, as the reason says.
    pub(crate) fn expect_stop(
        self: &Arc<Self>,
        id: RequestId,
        ticket: Ticket,
        on_cancel: OnCancel,
        cancelling: &Arc<Cancelling>,
    ) -> Expected {
        let cancelling = Arc::clone(cancelling);
        self.insert(id, Waiting::Call { ticket, on_cancel, cancelling })
    }

    fn insert(self: &Arc<Self>, id: RequestId, waiting: Waiting) -> Expected {
        self.waiting().insert(id.clone(), waiting);
        Expected { all: Arc::clone(self), id }
    }

    /// A client cancels a request.
    pub(crate) fn heard(&self, cancelled: CancelledNotificationParam) {
        let waiting = cancelled.request_id.and_then(|id| self.waiting().remove(&id));
        match waiting {
            Some(Waiting::Reason(tell)) => {
                let _ = tell.send(cancelled.reason);
            }
            Some(Waiting::Call { ticket, on_cancel, cancelling }) => {
                let runs_on = on_cancel.keeps(cancelled.reason.as_deref());
                let _ = cancelling.fate.set(if runs_on { Fate::RunsOn } else { Fate::Stopped });
                cancelling.token.cancel();
                if runs_on {
                    ticket.abandon();
                } else {
                    ticket.mark_cancelled();
                    // It blocks, and nobody waits for it.
                    drop(threads::run(move || ticket.cancel()));
                }
            }
            None => {}
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RequestId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a request may be cancelled, until this is dropped.
#[derive(Debug)]
pub(crate) struct Expected {
    all: Arc<Cancellations>,
    id: RequestId,
}

impl Drop for Expected {
    fn drop(&mut self) {
        self.all.waiting().remove(&self.id);
    }
}

/// That a request may be cancelled, for a reason.
#[derive(Debug)]
pub(crate) struct Cancellation {
    #[expect(dead_code, reason = "its end counts")]
    expected: Expected,
    told: oneshot::Receiver<Reason>,
}

impl Cancellation {
    /// Why it was cancelled. A connection that breaks gives no reason.
    pub(crate) async fn reason(&mut self) -> Reason {
        tokio::time::timeout(REASON_TIMEOUT, &mut self.told).await.ok()?.ok()?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_say_when_their_time_is_over_is_told_from_a_persons_wish() {
        for reason in [
            "McpError: MCP error -32001: Request timed out",
            "request timeout",
            "context deadline exceeded",
            "TimeoutError: The operation was aborted due to timeout",
            "Timed out while waiting for response to ClientRequest. Waited 5.0 seconds.",
        ] {
            assert!(OnCancel::ByReason.keeps(Some(reason)), "{reason}");
            assert!(!OnCancel::Stop.keeps(Some(reason)));
        }
        for reason in ["AbortError: This operation was aborted", "User requested", "turn aborted"] {
            assert!(!OnCancel::ByReason.keeps(Some(reason)), "{reason}");
            assert!(OnCancel::Keep.keeps(Some(reason)));
        }
        assert!(!OnCancel::ByReason.keeps(None));
    }
}
