//! Times as answers show them.

use jiff::Timestamp;

/// Microseconds since 1970 as RFC 3339 in UTC.
pub fn show_time(micros: u64) -> String {
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    let time = Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX);
    time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_dates() {
        assert_eq!(show_time(0), "1970-01-01T00:00:00.000000Z");
        assert_eq!(show_time(951_782_400_000_000), "2000-02-29T00:00:00.000000Z");
        assert_eq!(show_time(1_763_179_201_000_250), "2025-11-15T04:00:01.000250Z");
        assert_eq!(show_time(u64::MAX), show_time(u64::MAX - 1), "the last time there is");
    }
}
