//! When to send a request again.

use std::time::Duration;

use crate::failure::{Failure, FailureClass};

/// How often, and after how long.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The most retries of one request.
    pub retries: u32,
    /// The wait before the first one; it doubles each time.
    pub first: Duration,
    /// The longest wait of our own choice.
    pub longest: Duration,
    /// The longest wait that a vendor may ask for; with a longer one the request fails.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 5,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(30),
            longest_asked: Duration::from_mins(2),
        }
    }
}

impl RetryPolicy {
    /// How long to wait before the retry with this number (the first is 0); `None` is to give up.
    ///
    /// `jitter` is a number from 0 to 1: up to a quarter of a wait of our own choice is left out,
    /// so that many who failed together do not come back together.
    pub fn wait(&self, retry: u32, failure: &Failure, jitter: f64) -> Option<Duration> {
        if retry >= self.retries || !failure.is_retryable() {
            return None;
        }
        if let Some(asked) = failure.retry_after {
            return (asked <= self.longest_asked).then_some(asked);
        }
        // Nobody waits for a broken stream to heal.
        let first = match failure.class {
            FailureClass::Transient | FailureClass::Protocol => self.first / 2,
            _ => self.first,
        };
        let wait = first.saturating_mul(1_u32.checked_shl(retry).unwrap_or(u32::MAX));
        Some(wait.min(self.longest).mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_end_with_the_last_retry() {
        let policy = RetryPolicy::default();
        let failure = Failure::new(FailureClass::Overloaded, "busy");
        let waits: Vec<_> = (0..7).map(|retry| policy.wait(retry, &failure, 0.0)).collect();
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(
            waits,
            [seconds(1), seconds(2), seconds(4), seconds(8), seconds(16), None, None]
        );
        let patient = RetryPolicy { retries: 100, ..policy };
        assert_eq!(patient.wait(99, &failure, 0.0), seconds(30));
        assert_eq!(patient.wait(0, &failure, 1.0), Some(Duration::from_millis(750)));
    }

    #[test]
    fn what_the_vendor_asks_for_counts_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let mut failure = Failure::new(FailureClass::RateLimit, "slow down");
        failure.retry_after = Some(Duration::from_secs(77));
        assert_eq!(policy.wait(0, &failure, 0.7), Some(Duration::from_secs(77)));
        failure.retry_after = Some(Duration::from_hours(1));
        assert_eq!(policy.wait(0, &failure, 0.7), None);
    }

    #[test]
    fn what_cannot_get_better_is_not_tried_again() {
        let policy = RetryPolicy::default();
        for class in [
            FailureClass::Overflow,
            FailureClass::Quota,
            FailureClass::Auth,
            FailureClass::Refused,
            FailureClass::InvalidRequest,
        ] {
            assert_eq!(policy.wait(0, &Failure::new(class, ""), 0.0), None, "{class:?}");
        }
    }
}
