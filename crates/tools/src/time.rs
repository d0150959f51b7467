//! Spans of time as callers give them: numbers of seconds or milliseconds.

use std::time::Duration;

/// No clock can be advanced by more.
const LONGEST_SPAN: Duration = Duration::from_hours(100 * 365 * 24);

/// A number of seconds; none for a number that is no span of time.
pub(crate) fn seconds(number: f64) -> Duration {
    if number.is_nan() || number < 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(number).unwrap_or(LONGEST_SPAN).min(LONGEST_SPAN)
}

/// The limit that a timeout is: 0 is none.
pub(crate) fn limit(timeout: Duration) -> Option<Duration> {
    Some(timeout).filter(|timeout| !timeout.is_zero())
}

/// How long to wait for what has this limit, and for the climb to SIGKILL beyond it.
pub(crate) fn wait_for(limit: Option<Duration>, beyond: Duration) -> Duration {
    limit.map_or(Duration::MAX, |limit| limit.saturating_add(beyond))
}

/// A number of milliseconds.
pub(crate) fn millis(number: f64) -> Duration {
    seconds(number / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_a_span_of_time() {
        assert_eq!(seconds(1.5), Duration::from_millis(1500));
        assert_eq!(millis(250.0), Duration::from_millis(250));
        for wrong in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(seconds(wrong), Duration::ZERO);
        }
        assert_eq!(seconds(f64::INFINITY), LONGEST_SPAN);
        assert_eq!(millis(1e308), LONGEST_SPAN);
        assert_eq!((limit(seconds(0.0)), limit(seconds(2.0))), (None, Some(seconds(2.0))));
        assert_eq!(wait_for(None, seconds(1.0)), Duration::MAX);
        assert_eq!(wait_for(Some(seconds(2.0)), seconds(1.0)), seconds(3.0));
    }
}
