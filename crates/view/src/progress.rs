//! A live tail for callers that wait: the last lines, how many bytes, for how long.
//!
//! The clock is the caller's; time is in microseconds since any fixed moment.

use std::io;

use crate::budget::Budget;
use crate::part::Part;
use crate::reader::Reader;
use crate::source::Source;

/// The shortest time between two ticks, in microseconds.
pub const TICK: u64 = 50_000;

/// What a waiting caller is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// The last lines, sanitised and masked, oldest first; the last may be unfinished.
    pub lines: Vec<String>,
    /// Bytes of output so far.
    pub bytes: u64,
    /// Microseconds since the start.
    pub elapsed: u64,
}

/// Decides when to tell, and what.
#[derive(Debug, Clone)]
pub struct Progress {
    started: u64,
    lines: u64,
    budget: Budget,
    last: Option<(u64, u64)>,
}

impl Progress {
    /// Progress of a job that started at `started`, told in its last `lines` lines.
    pub fn new(started: u64, lines: u64) -> Self {
        let budget = Budget { line_bytes: 512, ..Budget::default() };
        Self { started, lines, budget, last: None }
    }

    /// When the next tick is due at the earliest.
    pub fn due_at(&self) -> u64 {
        self.last.map_or(self.started, |(time, _)| time.saturating_add(TICK))
    }

    /// A tick, if it is time for one and there is new output. The first is given at once.
    pub fn tick<S: Source>(
        &mut self,
        reader: &Reader<'_, S>,
        now: u64,
    ) -> io::Result<Option<Tick>> {
        let bytes = reader.range().end;
        if now < self.due_at() || self.last.is_some_and(|(_, before)| before == bytes) {
            return Ok(None);
        }
        self.last_tick(reader, now).map(Some)
    }

    /// A tick whatever the time is, for the end of a wait.
    pub fn last_tick<S: Source>(&mut self, reader: &Reader<'_, S>, now: u64) -> io::Result<Tick> {
        let bytes = reader.range().end;
        self.last = Some((now, bytes));
        let page = reader.tail(self.lines, &self.budget)?;
        let mut lines = Vec::new();
        for part in &page.parts {
            if let Part::Text { text, .. } = part {
                lines.extend(text.lines().map(str::to_owned));
            }
        }
        Ok(Tick { lines, bytes, elapsed: now.saturating_sub(self.started) })
    }
}
