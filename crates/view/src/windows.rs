//! The windows around errors in the middle of a log.

use std::io;
use std::ops::Range;

use crate::budget::Meter;
use crate::compose::{notice_cost, unit_cost};
use crate::detect::{self, Block, Finding};
use crate::reader::{Reader, Unit};
use crate::sanitize::sanitize;
use crate::slab::BLOCK;
use crate::source::Source;
use crate::view::ViewOptions;
use crate::walk::{Direction, Step, Walk};

/// Lines shown before and after a line that looks like an error.
const CONTEXT: usize = 2;
/// The most lines that one error is followed for.
const LONGEST_BLOCK: usize = 40;
/// More windows than this help nobody.
const MOST_WINDOWS: usize = 200;

/// How a range was searched for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorScan {
    /// Windows that the view shows.
    pub shown: u64,
    /// Bytes that were searched.
    pub scanned_bytes: u64,
    /// Whether all of the omitted middle was searched. If not, it may hold more errors: the search
    /// stops at its limit, and when the room for errors is used up.
    pub complete: bool,
}

/// Finds errors in `range` and gives the units around them, as far as the meter goes.
pub(crate) fn find<S: Source>(
    reader: &Reader<'_, S>,
    range: Range<u64>,
    options: &ViewOptions,
    longest: usize,
    mut meter: Meter,
) -> io::Result<(Vec<Vec<Unit>>, ErrorScan)> {
    let notice = notice_cost(reader.range().end, &options.budget);
    let mut windows = Vec::new();
    let limit = range.start.saturating_add(options.scan_bytes).min(range.end);
    let mut search = Search { reader, at: range.start, end: limit };
    let mut floor = range.start;
    let mut full = false;
    while let Some((line, finding)) = search.next()? {
        let window = around(reader, &line, finding, floor..range.end, longest, CONTEXT)?;
        let mut kept = Vec::new();
        full = !meter.take(notice);
        for unit in window {
            full = full || !meter.take(unit_cost(&unit, &options.budget));
            if full {
                break;
            }
            kept.push(unit);
        }
        let shows = kept.last().is_some_and(|unit| unit.range.end >= line.end);
        floor = kept.last().map_or(line.end, |unit| unit.range.end).max(line.end);
        search.at = floor;
        if shows {
            windows.push(kept);
        }
        full = full || windows.len() >= MOST_WINDOWS;
        if full {
            break;
        }
    }
    let scan = ErrorScan {
        shown: windows.len() as u64,
        scanned_bytes: search.at.min(limit) - range.start,
        complete: !full && limit == range.end,
    };
    Ok((windows, scan))
}

/// The units around the error at `line`: some context, the error's block, some context.
pub(crate) fn around<S: Source>(
    reader: &Reader<'_, S>,
    line: &Range<u64>,
    finding: Finding,
    within: Range<u64>,
    longest: usize,
    context: usize,
) -> io::Result<Vec<Unit>> {
    let mut units = Vec::new();
    let mut back = Walk::new(reader, Direction::Backwards, within.start..line.start, longest);
    while units.len() < context
        && let Some(Step::Unit(unit)) = back.next()?
    {
        units.push(unit);
    }
    units.reverse();
    let mut walk = Walk::new(reader, Direction::Forwards, line.start..within.end, longest);
    let mut block = Following::new(finding.block, context);
    while let Some(Step::Unit(unit)) = walk.next()? {
        if unit.range.start >= line.end && !block.goes_on(&unit.text) {
            break;
        }
        units.push(unit);
    }
    Ok(units)
}

/// Decides which lines after an error belong to it.
struct Following {
    block: Block,
    context: usize,
    seen: usize,
    /// Lines after the end of the block that are still wanted.
    rest: Option<usize>,
}

impl Following {
    fn new(block: Block, context: usize) -> Self {
        let rest = if block == Block::Line { Some(context) } else { None };
        Self { block, context, seen: 0, rest }
    }

    fn goes_on(&mut self, line: &str) -> bool {
        self.seen += 1;
        if let Some(rest) = &mut self.rest {
            let wanted = *rest > 0;
            *rest = rest.saturating_sub(1);
            return wanted;
        }
        let blank = line.trim().is_empty();
        let inside = match self.block {
            Block::Paragraph => !blank,
            _ => blank || line.starts_with([' ', '\t', '|', '>']),
        };
        if !inside || self.seen >= LONGEST_BLOCK {
            // The line that ends a traceback says what went wrong.
            self.rest = Some(if self.block == Block::Indented { self.context } else { 0 });
            return self.block == Block::Indented;
        }
        true
    }
}

/// A search for lines that look like errors.
pub(crate) struct Search<'r, 'm, S> {
    pub(crate) reader: &'r Reader<'m, S>,
    pub(crate) at: u64,
    pub(crate) end: u64,
}

impl<S: Source> Search<'_, '_, S> {
    /// The next one: its bytes in the log, and what gave it away.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Range<u64>, Finding)>> {
        let scope = &self.reader.scope;
        while self.at < self.end {
            let span = scope.span(self.at);
            if self.at < span.start {
                self.at = span.start;
                continue;
            }
            let target = (self.at + BLOCK).min(span.end).min(self.end);
            let stop = scope.border_after(&span, target)?;
            let slab = scope.slab(self.at..stop)?;
            let mut from = 0;
            while let Some(found) = detect::candidate(&slab.bytes[from..]) {
                let hit = from + found;
                let start = memchr::memrchr(b'\n', &slab.bytes[..hit]).map_or(0, |at| at + 1);
                let end = memchr::memchr(b'\n', &slab.bytes[hit..])
                    .map_or(slab.bytes.len(), |at| hit + at + 1);
                let text = sanitize(&slab.bytes[start..end.min(start + LONGEST_LINE)]);
                if let Some(finding) = detect::judge(text.trim_end_matches('\n')) {
                    let first = if start == 0 { self.at } else { slab.end_of(start - 1) };
                    let last = slab.end_of(end - 1);
                    self.at = last;
                    return Ok(Some((first..last, finding)));
                }
                from = end;
            }
            self.at = stop;
        }
        Ok(None)
    }
}

/// An error says so early in its line.
const LONGEST_LINE: usize = 16 * 1024;
