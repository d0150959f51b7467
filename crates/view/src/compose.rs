//! Composing: from the units that were chosen to the parts a reader gets, with exact counts.

use std::io;
use std::ops::Range;

use crate::budget::{Budget, Cost};
use crate::part::Part;
use crate::reader::{Reader, Unit};
use crate::sanitize::Changes;
use crate::source::Source;

/// What the parts of a view hold and leave out. `bytes` are bytes of the log:
/// `shown_bytes + folded_bytes + omitted_bytes + lost_bytes == total_bytes`, and likewise for
/// lines, where they were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes of the log in the range that was asked about.
    pub total_bytes: u64,
    /// Lines in it; unknown if some of it was not counted or not kept.
    pub total_lines: Option<u64>,
    /// Bytes of the log that the text stands for.
    pub shown_bytes: u64,
    /// Lines of the log that the text stands for.
    pub shown_lines: u64,
    /// Bytes folded as noise.
    pub folded_bytes: u64,
    /// Lines folded as noise.
    pub folded_lines: u64,
    /// Bytes that can be read and are not here.
    pub omitted_bytes: u64,
    /// Lines that can be read and are not here, if they were counted.
    pub omitted_lines: Option<u64>,
    /// Bytes that the log did not keep.
    pub lost_bytes: u64,
    /// Lines that were clamped.
    pub clamped_lines: u64,
    /// Bytes of text that were cut from clamped lines.
    pub clamped_bytes: u64,
    /// Secrets masked in the text.
    pub masked: u64,
    /// What sanitising the text changed.
    pub changes: Changes,
}

/// The cost of one unit with its line end and notices.
pub(crate) fn unit_cost(unit: &Unit, budget: &Budget) -> Cost {
    if unit.folded.is_some() {
        return notice_cost(unit.range.end, budget);
    }
    let mut cost = Cost::within(&unit.text, budget);
    // A piece without a line end may have to get one.
    cost.bytes += 1;
    cost.tokens += 1;
    cost.lines += 1;
    if unit.clamped > 0 {
        let part = Part::Clamped { offset: 0..0, bytes: unit.clamped };
        if let Some(notice) = part.notice(MARKER, budget.notices()) {
            cost = cost.plus(Cost::of(&format!(" {notice}")));
        }
    }
    cost
}

/// A marker longer than any that is likely.
const MARKER: &str = "umbo-9999";

/// What a notice about bytes up to `end` costs at most.
pub(crate) fn notice_cost(end: u64, budget: &Budget) -> Cost {
    let lines = end.max(100);
    let longest = [
        Part::Omitted { offset: end..end, bytes: end, lines: Some(lines) },
        Part::Omitted { offset: end..end, bytes: end, lines: None },
        Part::Lost { offset: end..end, bytes: end },
        Part::Folded { offset: end..end, bytes: end, lines, rule: "passing pytest tests" },
    ];
    let mut most = Cost::default();
    for part in longest {
        if let Some(notice) = part.notice(MARKER, budget.notices()) {
            let cost = Cost::of(&format!("{}\n", notice.replacen(" line", " similar line", 1)));
            most.tokens = most.tokens.max(cost.tokens);
            most.bytes = most.bytes.max(cost.bytes);
            most.lines = 1;
        }
    }
    most
}

/// Puts parts together over a range of the log.
pub(crate) struct Composer<'r, 'm, S> {
    reader: &'r Reader<'m, S>,
    parts: Vec<Part>,
    counts: Counts,
    start: u64,
    at: u64,
    /// Bytes whose lines may still be counted.
    count_left: u64,
    uncounted: bool,
    /// Where lines are that are unlike all that is shown, if that is known.
    unlike: Option<Vec<Range<u64>>>,
    /// Where the parts begin that leave out nothing else than lines like those that are shown.
    similar: Vec<u64>,
}

impl<'r, 'm, S: Source> Composer<'r, 'm, S> {
    /// Starts at `start`; lines of at most `count_limit` omitted bytes are counted.
    pub(crate) fn new(reader: &'r Reader<'m, S>, start: u64, count_limit: u64) -> Self {
        Self {
            reader,
            parts: Vec::new(),
            counts: Counts::default(),
            start,
            at: start,
            count_left: count_limit,
            uncounted: false,
            unlike: None,
            similar: Vec::new(),
        }
    }

    /// Where none of these ranges lies, what is left out is like what is shown.
    pub(crate) fn unlike(mut self, ranges: Option<Vec<Range<u64>>>) -> Self {
        self.unlike = ranges;
        self
    }

    /// Adds the next unit; what lies between it and the one before is omitted.
    pub(crate) fn push(&mut self, unit: Unit) -> io::Result<()> {
        self.skip_to(unit.range.start)?;
        self.at = unit.range.end;
        let bytes = unit.range.end - unit.range.start;
        if let Some(rule) = unit.folded {
            self.counts.folded_bytes += bytes;
            self.counts.folded_lines += unit.lines;
            let Unit { range: offset, lines, .. } = unit;
            self.parts.push(Part::Folded { offset, bytes, lines, rule });
            return Ok(());
        }
        self.counts.shown_bytes += bytes;
        self.counts.shown_lines += unit.lines;
        self.counts.masked += unit.masked;
        self.counts.changes.add(unit.changes);
        self.push_text(unit.range.clone(), &unit.text);
        if unit.clamped > 0 {
            self.counts.clamped_lines += 1;
            self.counts.clamped_bytes += unit.clamped;
            self.parts.push(Part::Clamped { offset: unit.range.clone(), bytes: unit.clamped });
            if unit.newline {
                // The line end follows the notice, and stands for no further bytes.
                let end = unit.range.end;
                self.parts.push(Part::Text { offset: end..end, text: "\n".to_owned() });
            }
        } else if unit.newline {
            self.push_text(unit.range, "\n");
        }
        Ok(())
    }

    fn push_text(&mut self, range: Range<u64>, more: &str) {
        if let Some(Part::Text { offset, text }) = self.parts.last_mut() {
            offset.end = range.end;
            text.push_str(more);
        } else {
            self.parts.push(Part::Text { offset: range, text: more.to_owned() });
        }
    }

    /// Leaves out everything up to `to`.
    pub(crate) fn skip_to(&mut self, to: u64) -> io::Result<()> {
        while self.at < to {
            let gap = self.reader.scope.gap().filter(|gap| gap.end > self.at && gap.start < to);
            match gap {
                Some(gap) if gap.start <= self.at => {
                    let offset = self.at..gap.end.min(to);
                    let bytes = offset.end - offset.start;
                    self.counts.lost_bytes += bytes;
                    self.at = offset.end;
                    self.parts.push(Part::Lost { offset, bytes });
                }
                gap => {
                    let end = gap.map_or(to, |gap| gap.start.min(to));
                    self.omit(end)?;
                }
            }
        }
        Ok(())
    }

    fn omit(&mut self, end: u64) -> io::Result<()> {
        let offset = self.at..end;
        let bytes = offset.end - offset.start;
        let lines = if bytes <= self.count_left {
            self.count_left -= bytes;
            Some(self.reader.scope.count_lines(offset.clone())?)
        } else {
            self.uncounted = true;
            None
        };
        let is_similar = self.unlike.as_ref().is_some_and(|unlike| {
            unlike.iter().all(|range| range.end <= offset.start || range.start >= offset.end)
        });
        if is_similar {
            self.similar.push(offset.start);
        }
        self.counts.omitted_bytes += bytes;
        let total = self.counts.omitted_lines.unwrap_or(0) + lines.unwrap_or(0);
        self.counts.omitted_lines = Some(total);
        self.at = end;
        self.parts.push(Part::Omitted { offset, bytes, lines });
        Ok(())
    }

    /// The parts up to `end`, and their counts.
    pub(crate) fn finish(self, end: u64) -> io::Result<(Vec<Part>, Counts)> {
        self.finish_similar(end).map(|(parts, counts, _)| (parts, counts))
    }

    /// The parts up to `end`, their counts, and where those begin that leave out only lines like
    /// those that are shown.
    pub(crate) fn finish_similar(mut self, end: u64) -> io::Result<(Vec<Part>, Counts, Vec<u64>)> {
        self.skip_to(end)?;
        let mut counts = self.counts;
        counts.total_bytes = end.saturating_sub(self.start);
        counts.omitted_lines =
            if self.uncounted { None } else { Some(counts.omitted_lines.unwrap_or(0)) };
        counts.total_lines = counts
            .omitted_lines
            .filter(|_| counts.lost_bytes == 0)
            .map(|omitted| omitted + counts.shown_lines + counts.folded_lines);
        Ok((self.parts, counts, self.similar))
    }

    /// Where the composition has come to.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }
}
