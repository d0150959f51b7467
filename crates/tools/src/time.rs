//! Spans of time as callers give them: numbers of seconds or milliseconds.

use std::time::Duration;

/// No clock can be advanced by more.
const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);

/// A number of seconds; none for a number that is no span of time.
pub(crate) fn seconds(number: f64) -> Duration {
    if number.is_nan() || number < 0.0 {
        return Duration::ZERO;
    }
    Duration::try_from_secs_f64(number).unwrap_or(LONGEST).min(LONGEST)
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
        assert_eq!(seconds(f64::INFINITY), LONGEST);
        assert_eq!(millis(1e308), LONGEST);
    }
}
