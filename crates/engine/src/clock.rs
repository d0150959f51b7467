//! The two clocks: one for records and ages, which a caller may replace, and one for deadlines.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::Timespec;

/// Where the time comes from by which things get old and expire: the system, or whatever a caller puts in
/// its place.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<dyn Fn() -> u64 + Send + Sync>>);

impl Clock {
    /// The system's.
    pub const SYSTEM: Self = Self(None);

    /// A clock that says what `now` returns, in microseconds since 1970.
    pub fn new(now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(now)))
    }

    /// The time, in microseconds since 1970.
    pub fn now(&self) -> u64 {
        self.0.as_ref().map_or_else(now_us, |now| now())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock" } else { "Clock::SYSTEM" })
    }
}

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
    after(Instant::now(), timeout)
}

/// The moment a span after another one; far away if there is no such moment.
pub(crate) fn after(moment: Instant, span: Duration) -> Instant {
    const LONGEST_SPAN: Duration = Duration::from_hours(100 * 365 * 24);
    moment.checked_add(span.min(LONGEST_SPAN)).unwrap_or(moment)
}

/// How long `poll` may sleep until a deadline.
pub(crate) fn until(deadline: Instant) -> Timespec {
    let left = deadline.saturating_duration_since(Instant::now());
    Timespec {
        tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(left.subsec_nanos()),
    }
}
