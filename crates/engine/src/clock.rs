//! The two clocks: one for records, one for deadlines.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::Timespec;

/// Now, in microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    micros(SystemTime::now())
}

/// A time as records have it.
pub(crate) fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| u64::try_from(since.as_micros()).ok())
        .unwrap_or(0)
}

/// A time in a record, as a time.
pub(crate) fn time(us: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(us)
}

/// The moment `timeout` from now; far away if there is no such moment.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);
    let now = Instant::now();
    now.checked_add(timeout.min(LONGEST)).unwrap_or(now)
}

/// How long `poll` may sleep until a deadline.
pub(crate) fn until(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}
