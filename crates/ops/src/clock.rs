//! The time, as jobs, approvals and answers count it.

use umbo_engine::Clock;

/// Microseconds since 1970, by the system's clock.
pub fn now() -> u64 {
    Clock::SYSTEM.now()
}
