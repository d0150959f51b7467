//! Why a call was cancelled. A person who changes their mind wants the command stopped; a client whose
//! own timeout struck only stopped waiting.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{CancelledNotificationParam, RequestId};
use tokio::sync::oneshot;

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

/// The calls of one connection, by the ids of their requests, each with who wants to know why it is
/// cancelled.
#[derive(Debug, Default)]
pub(crate) struct Cancellations {
    waiting: Mutex<HashMap<RequestId, oneshot::Sender<Reason>>>,
}

impl Cancellations {
    /// A request that may be cancelled until the result is dropped.
    pub(crate) fn expect(self: &Arc<Self>, id: RequestId) -> Cancellation {
        let (tell, told) = oneshot::channel();
        self.waiting().insert(id.clone(), tell);
        Cancellation { all: Arc::clone(self), id, told }
    }

    /// A client cancels a request.
    pub(crate) fn heard(&self, cancelled: CancelledNotificationParam) {
        let tell = cancelled.request_id.and_then(|id| self.waiting().remove(&id));
        if let Some(tell) = tell {
            let _ = tell.send(cancelled.reason);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<RequestId, oneshot::Sender<Reason>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// That a request may be cancelled.
#[derive(Debug)]
pub(crate) struct Cancellation {
    all: Arc<Cancellations>,
    id: RequestId,
    told: oneshot::Receiver<Reason>,
}

impl Cancellation {
    /// Why it was cancelled. A connection that breaks gives no reason.
    pub(crate) async fn reason(&mut self) -> Reason {
        tokio::time::timeout(REASON_TIMEOUT, &mut self.told).await.ok()?.ok()?
    }
}

impl Drop for Cancellation {
    fn drop(&mut self) {
        self.all.waiting().remove(&self.id);
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
