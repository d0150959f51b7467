//! What changed between two runs of the same command: which failures are new, which are gone, and
//! which are still there.
//!
//! A failure is known again by what its line says: without what stands before the message, and
//! without the numbers that differ from run to run (times, line numbers, addresses, values). The
//! digits of a name belong to the name: `test_12` and `test_13` are two tests.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::budget::{Budget, Cost, Meter};
use crate::detect;
use crate::part;
use crate::prefix;
use crate::reader::Reader;
use crate::rule::Worth;
use crate::sanitize::sanitize;
use crate::slab::BLOCK;
use crate::source::Source;

/// The most different failures of a log that are told apart.
const MOST_FAILURES: usize = 10_000;
/// An error says so early in its line.
const LONGEST_JUDGED: usize = 4 * 1024;

/// A failure, in one run or in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its line, sanitised and masked: of the later run, if it is there.
    pub text: String,
    /// Where that line is, in the log it is taken from.
    pub offset: Range<u64>,
    /// How many lines say so in the earlier run.
    pub before: u64,
    /// How many lines say so in the later run.
    pub now: u64,
}

/// What changed between two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Failures of the later run alone.
    pub new: Vec<Failure>,
    /// Failures of the earlier run alone.
    pub fixed: Vec<Failure>,
    /// Failures of both runs.
    pub still: Vec<Failure>,
    /// Whether both logs were read to their ends.
    pub complete: bool,
}

impl Comparison {
    /// Whether both runs fail in the same way, or neither fails.
    pub fn is_same(&self) -> bool {
        self.new.is_empty() && self.fixed.is_empty()
    }

    /// The comparison as text, within a budget: the new failures first.
    pub fn to_text(&self, budget: &Budget) -> String {
        let mut text = String::new();
        let mut meter = Meter::new(budget);
        let total = self.new.len() + self.fixed.len() + self.still.len();
        let reserve = Cost::of(&format!("[umbo-9999: {total} more failures are not listed]\n"));
        if !meter.take(reserve) {
            return text;
        }
        let mut missing = 0;
        for (name, failures) in
            [("new", &self.new), ("fixed", &self.fixed), ("still failing", &self.still)]
        {
            let mut add = |line: String| {
                let fits = meter.take(Cost::of(&line));
                if fits {
                    text.push_str(&line);
                }
                fits
            };
            if !add(format!("{name}: {}\n", failures.len())) {
                missing += failures.len();
                continue;
            }
            for failure in failures {
                missing += usize::from(!add(format!("  {}\n", failure.line(budget))));
            }
        }
        if !self.complete {
            missing = missing.max(1);
        }
        if missing > 0 {
            part::push_line(&mut text, &format!("[umbo: {missing} more failures are not listed]"));
        }
        text
    }
}

impl Failure {
    fn line(&self, budget: &Budget) -> String {
        let longest = budget.longest_line(30).min(400);
        let message = prefix::strip(&self.text);
        let mut line = message[..message.floor_char_boundary(longest)].to_owned();
        if line.len() < message.len() {
            line.push('…');
        }
        match (self.before, self.now) {
            (0 | 1, 0 | 1) => {}
            (before, now) if before == now || before == 0 || now == 0 => {
                let _ = write!(line, " ({} lines)", before.max(now));
            }
            (before, now) => {
                let _ = write!(line, " ({before} lines before, {now} now)");
            }
        }
        line
    }
}

/// Compares an earlier run with a later one. Of each log at most `scan_bytes` are read.
pub fn compare<A: Source, B: Source>(
    earlier: &Reader<'_, A>,
    later: &Reader<'_, B>,
    scan_bytes: u64,
) -> io::Result<Comparison> {
    let before = Failures::of(earlier, scan_bytes)?;
    let now = Failures::of(later, scan_bytes)?;
    let mut comparison =
        Comparison { complete: before.complete && now.complete, ..Comparison::default() };
    for (key, line) in &now.lines {
        let count = before.by_key.get(key.as_str()).map_or(0, |&at| before.lines[at].1.count);
        let failure = line.failure(later, count, line.count)?;
        if count > 0 { &mut comparison.still } else { &mut comparison.new }.push(failure);
    }
    for (key, line) in &before.lines {
        if !now.by_key.contains_key(key.as_str()) {
            comparison.fixed.push(line.failure(earlier, line.count, 0)?);
        }
    }
    Ok(comparison)
}

/// The failures of a log, by what they say, in order.
#[derive(Default)]
struct Failures {
    lines: Vec<(String, Line)>,
    by_key: HashMap<String, usize>,
    complete: bool,
}

struct Line {
    place: Range<u64>,
    count: u64,
}

impl Line {
    fn failure<S: Source>(
        &self,
        reader: &Reader<'_, S>,
        before: u64,
        now: u64,
    ) -> io::Result<Failure> {
        let span = reader.scope.span(self.place.start);
        let units = reader.units(&span, self.place.clone(), LONGEST_JUDGED)?;
        let text = units.into_iter().next().map(|unit| unit.text).unwrap_or_default();
        Ok(Failure { text, offset: self.place.clone(), before, now })
    }
}

impl Failures {
    fn of<S: Source>(reader: &Reader<'_, S>, limit: u64) -> io::Result<Self> {
        let scope = &reader.scope;
        let range = reader.range();
        let end = range.start.saturating_add(limit).min(range.end);
        let mut failures = Self::default();
        let mut at = range.start;
        while at < end {
            let span = scope.span(at);
            if at < span.start {
                at = span.start;
                continue;
            }
            let stop = scope.border_after(&span, (at + BLOCK).min(span.end).min(end))?;
            let slab = scope.slab(at..stop)?;
            let mut start = at;
            let mut from = 0;
            while from < slab.bytes.len() {
                let newline = memchr::memchr(b'\n', &slab.bytes[from..]);
                let next = newline.map_or(slab.bytes.len(), |index| from + index + 1);
                let after = if next < slab.bytes.len() { slab.end_of(next - 1) } else { stop };
                failures.line(&slab.bytes[from..next], start..after);
                start = after;
                from = next;
            }
            at = stop;
        }
        failures.complete = end == range.end && failures.lines.len() < MOST_FAILURES;
        Ok(failures)
    }

    fn line(&mut self, raw: &[u8], place: Range<u64>) {
        let raw = &raw[..raw.len().min(LONGEST_JUDGED)];
        if !detect::is_candidate(raw) {
            return;
        }
        let text = sanitize(raw);
        let text = text.trim_end();
        let is_failure = detect::judge(text)
            .is_some_and(|finding| matches!(finding.worth(), Worth::Cause | Worth::General));
        if !is_failure {
            return;
        }
        let key = key(text);
        if let Some(&at) = self.by_key.get(&key) {
            self.lines[at].1.count += 1;
        } else if self.lines.len() < MOST_FAILURES {
            self.by_key.insert(key.clone(), self.lines.len());
            self.lines.push((key, Line { place, count: 1 }));
        }
    }
}

/// Numbers that stand alone, addresses, times and shares.
const NUMBERS: &str = r"\b0x[0-9a-fA-F]+|\b[0-9a-f]*[0-9][0-9a-f]{7,}\b|\b\d[\d.,:]*\s?(?:[mµnu]?s|sec(?:onds?)?|ms|%|[KMG]i?B)?\b%?";

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NUMBERS).ok());

/// What a failure is known again by.
fn key(line: &str) -> String {
    let message = prefix::strip(line);
    let numbers = match NUMBER.as_ref() {
        Some(number) => number.replace_all(message, "0"),
        None => message.into(),
    };
    numbers.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn times_and_values_differ_and_names_do_not() {
        assert_eq!(key("12:00:01 error: took 12 ms"), key("13:00:59 error: took 9 ms"));
        assert_eq!(key("a.c:12:3: error: x"), key("a.c:14:3: error: x"));
        assert_eq!(key("t.py::test_12 FAILED     [ 54%]"), key("t.py::test_12 FAILED     [  7%]"));
        assert_ne!(key("t.py::test_12 FAILED"), key("t.py::test_13 FAILED"));
        assert_ne!(key("error: a is missing"), key("error: b is missing"));
    }
}
