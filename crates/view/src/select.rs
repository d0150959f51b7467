//! Reading again: pages, lines, ends, matches and errors of a log.
//!
//! Every read gives a [`Page`]: parts with exact offsets, and `next_offset`, the cursor at which
//! the next read goes on. Reading changes nothing, so the same question has the same answer for
//! as long as the bytes it is about stay the same. An offset inside a line means that line.
//!
//! Matching works on the text that a reader would see, masked: a search cannot be used to guess
//! at a secret.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::{Range, RangeInclusive};

use regex::Regex;

use crate::budget::{Budget, Cost, Meter};
use crate::choose::{self, Error};
use crate::compose::{Composer, Counts, notice_cost, unit_cost};
use crate::part::{self, Notices, Part};
use crate::reader::{Reader, Unit};
use crate::source::Source;
use crate::survey::Survey;
use crate::walk::{Direction, Step, Walk};
use crate::windows::Window;

/// So many pieces of other streams are looked past for the last line of one.
const MOST_BEHIND: usize = 16;

/// One read of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Text and notices, in order.
    pub parts: Vec<Part>,
    /// What is in the parts, and what is not.
    pub counts: Counts,
    /// The bytes of the log that the parts cover.
    pub offset: Range<u64>,
    /// Where to go on reading.
    pub next_offset: u64,
    /// Whether there was nothing more to read.
    pub at_end: bool,
    /// Lines that matched, for searches.
    pub matches: u64,
    /// Errors on this page that occur more often than they are shown.
    pub repeats: Vec<Repeats>,
    notices: Notices,
    kind: Kind,
}

/// An error that a log repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Repeats {
    /// Where the line that is shown starts.
    pub offset: u64,
    /// How many lines are like it.
    pub more: u64,
}

impl Repeats {
    fn notice(&self) -> String {
        format!("{} more lines like the one at offset {}", self.more, self.offset)
    }
}

fn nothing_left(seen: u64, lines: Option<u64>) -> String {
    let lines = lines.map_or_else(|| "all".to_owned(), |lines| lines.to_string());
    let which =
        if seen == 0 { "look like errors" } else { "look like errors and were not read yet" };
    format!("0 of {lines} lines {which}")
}

/// What a page is an answer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lines,
    Search,
    /// Errors, after so many that were read before.
    Errors {
        seen: u64,
    },
}

impl Page {
    /// The page as one text, its notices on lines that start with `[umbo: `. A search that found
    /// nothing tells only of bytes that nobody has: what does not match was not left out.
    pub fn to_text(&self) -> String {
        let mut text = if self.kind != Kind::Lines && self.matches == 0 {
            let is_lost = |part: &&Part| matches!(part, Part::Lost { .. });
            let lost: Vec<Part> = self.parts.iter().filter(is_lost).cloned().collect();
            part::to_text(&lost, self.notices, &[])
        } else {
            part::to_text(&self.parts, self.notices, &[])
        };
        for notice in self.error_notices() {
            part::push_line(&mut text, &format!("[{}: {notice}]", part::marker(&self.parts)));
        }
        text
    }

    /// What there is to say about errors: how many are like those shown, and that none is left.
    fn error_notices(&self) -> Vec<String> {
        let Kind::Errors { seen } = self.kind else { return Vec::new() };
        if self.notices != Notices::Told {
            return Vec::new();
        }
        if self.matches > 0 {
            return self.repeats.iter().map(Repeats::notice).collect();
        }
        vec![nothing_left(seen, self.counts.total_lines)]
    }
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Find {
    /// Where to start.
    pub from: u64,
    /// Lines to show before a match.
    pub before: usize,
    /// Lines to show after a match.
    pub after: usize,
    /// The most matches to give.
    pub most: u64,
    /// The most bytes to search before giving what there is and a cursor.
    pub scan_bytes: u64,
    /// The room there is.
    pub budget: Budget,
}

impl Default for Find {
    fn default() -> Self {
        Self {
            from: 0,
            before: 2,
            after: 2,
            most: u64::MAX,
            scan_bytes: 256 * 1024 * 1024,
            budget: Budget::default(),
        }
    }
}

impl<S: Source> Reader<'_, S> {
    /// The page that starts with the line at offset `from`.
    pub fn page(&self, from: u64, budget: &Budget) -> io::Result<Page> {
        self.forwards(self.border_near(from)?, u64::MAX, budget)
    }

    /// The lines with these numbers, counted from 1.
    pub fn lines(&self, numbers: RangeInclusive<u64>, budget: &Budget) -> io::Result<Page> {
        let (first, last) = (*numbers.start(), *numbers.end());
        let start = self.scope.line_start(first.max(1))?.unwrap_or(self.range().end);
        let most = if numbers.is_empty() { 0 } else { last - first.max(1).min(last) + 1 };
        self.forwards(start, most, budget)
    }

    /// The first lines.
    pub fn head(&self, lines: u64, budget: &Budget) -> io::Result<Page> {
        self.forwards(self.range().start, lines, budget)
    }

    /// The last lines. Its `next_offset` is the end, where following can begin.
    pub fn tail(&self, lines: u64, budget: &Budget) -> io::Result<Page> {
        let range = self.range();
        let mut meter = Meter::new(budget);
        let mut walk =
            Walk::new(self, Direction::Backwards, range.clone(), budget.longest_line(100));
        let mut units = VecDeque::new();
        let mut start = range.end;
        let mut seen = 0;
        while let Some(step) = walk.next()? {
            match step {
                Step::Gap(gap) => {
                    if !meter.take(notice_cost(range.end, budget)) {
                        break;
                    }
                    start = gap.start;
                }
                Step::Unit(unit) => {
                    seen += unit.lines;
                    if seen > lines || lines == 0 || !meter.take(unit_cost(&unit, budget)) {
                        break;
                    }
                    start = unit.range.start;
                    units.push_front(unit);
                }
            }
        }
        self.composed(start, units, range.end, budget)
    }

    /// Lines that match `pattern`, with context.
    pub fn grep(&self, pattern: &Regex, find: &Find) -> io::Result<Page> {
        let start = self.border_near(find.from)?;
        let mut selection = Selection::new(self, start, find);
        let longest = find.budget.longest_line(90);
        // A match may be far inside a line, so lines are clamped after they were searched.
        let mut walk = Walk::new(self, Direction::Forwards, start..self.range().end, usize::MAX);
        let mut before: VecDeque<Unit> = VecDeque::new();
        let mut after = 0;
        while let Some(step) = walk.next()? {
            let Step::Unit(mut unit) = step else { continue };
            if unit.unfinished && self.scope.source().is_open() {
                return selection.finish(unit.range.start, true);
            }
            let end = unit.range.end;
            let found = pattern.find(&unit.text).map(|found| found.start());
            unit.clamp_around(found.unwrap_or(0), longest);
            if found.is_some() {
                if !selection.take(before.drain(..).chain([unit]))? {
                    return selection.stop();
                }
                selection.page_matches += 1;
                after = find.after;
            } else if after > 0 {
                after -= 1;
                if !selection.take([unit])? {
                    return selection.stop();
                }
            } else {
                before.push_back(unit);
                if before.len() > find.before {
                    before.pop_front();
                }
            }
            if (selection.page_matches >= find.most && after == 0) || walk.read() > find.scan_bytes
            {
                return selection.finish(end, false);
            }
        }
        let end = self.range().end;
        selection.finish(end, true)
    }

    /// Lines that look like errors, with context and the blocks they begin, those first that are
    /// worth most. Here `from` is not an offset: so many of the errors were read before. Repeats
    /// are left out.
    pub fn errors(&self, find: &Find) -> io::Result<Page> {
        let survey = Survey::of(self, self.range(), find.scan_bytes)?;
        let errors = choose::errors(&survey);
        let seen = usize::try_from(find.from).unwrap_or(usize::MAX).min(errors.len());
        let mut gathered = Gathered::new(self, find);
        let mut next = seen;
        for error in &errors[seen..] {
            if gathered.matches >= find.most {
                break;
            }
            let before = gathered.matches;
            let fits = gathered.take(error)?;
            next += usize::from(gathered.matches > before);
            if !fits {
                break;
            }
        }
        gathered.finish(seen as u64, next as u64, errors.len() as u64)
    }

    /// The last line, if it has no end yet, or if what comes next says whether it is half a secret:
    /// while the log is open, pages stop before it.
    pub fn partial_line(&self, budget: &Budget) -> io::Result<Option<String>> {
        let longest = budget.longest_line(100);
        let mut walk = Walk::new(self, Direction::Backwards, self.range(), longest);
        // Behind it there may be what other streams wrote.
        for _ in 0..MOST_BEHIND {
            match walk.next()? {
                Some(Step::Unit(unit)) if unit.unfinished => return Ok(Some(unit.text)),
                Some(Step::Unit(unit)) if unit.lines == 0 && unit.text.is_empty() => {}
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The border that a read at `from` starts at.
    pub(crate) fn border_near(&self, from: u64) -> io::Result<u64> {
        let range = self.range();
        let from = from.clamp(range.start, range.end);
        let span = self.scope.span(from);
        if from < span.start { Ok(from) } else { self.scope.border_before(&span, from) }
    }

    fn forwards(&self, start: u64, lines: u64, budget: &Budget) -> io::Result<Page> {
        let range = self.range();
        let mut meter = Meter::new(budget);
        let longest = budget.longest_line(100);
        let mut walk = Walk::new(self, Direction::Forwards, start..range.end, longest);
        let mut units = VecDeque::new();
        let mut end = start;
        let mut seen = 0;
        // Who follows a log asks again for each piece of a line: it is read when its end is there.
        let lines = if self.scope.is_one_open_line(start)? { 0 } else { lines };
        while seen < lines
            && let Some(step) = walk.next()?
        {
            match step {
                Step::Gap(gap) => {
                    if !meter.take(notice_cost(range.end, budget)) {
                        break;
                    }
                    end = gap.end;
                }
                Step::Unit(unit) => {
                    let waits = unit.unfinished && self.scope.source().is_open();
                    if waits || !meter.take(unit_cost(&unit, budget)) {
                        break;
                    }
                    seen += unit.lines;
                    end = unit.range.end;
                    units.push_back(unit);
                }
            }
        }
        self.composed(start, units, end, budget)
    }

    fn composed(
        &self,
        start: u64,
        units: VecDeque<Unit>,
        end: u64,
        budget: &Budget,
    ) -> io::Result<Page> {
        let mut composer = Composer::new(self, start, u64::MAX);
        for unit in units {
            composer.push(unit)?;
        }
        let (parts, counts) = composer.finish(end)?;
        Ok(Page {
            parts,
            counts,
            offset: start..end,
            next_offset: end,
            at_end: end >= self.range().end,
            matches: 0,
            repeats: Vec::new(),
            notices: budget.notices(),
            kind: Kind::Lines,
        })
    }
}

/// Matches on their way into a page.
struct Selection<'r, 'm, S> {
    composer: Composer<'r, 'm, S>,
    budget: Budget,
    meter: Meter,
    start: u64,
    end: u64,
    notice: crate::budget::Cost,
    page_matches: u64,
}

impl<'r, 'm, S: Source> Selection<'r, 'm, S> {
    fn new(reader: &'r Reader<'m, S>, start: u64, find: &Find) -> Self {
        let notice = notice_cost(reader.range().end, &find.budget);
        let mut meter = Meter::new(&find.budget);
        // For what may lie between the last match and the end, on both sides of a gap.
        meter.spend(notice.times(if reader.scope.gap().is_some() { 3 } else { 1 }));
        Self {
            composer: Composer::new(reader, start, u64::MAX),
            budget: find.budget,
            meter,
            start,
            end: reader.range().end,
            notice,
            page_matches: 0,
        }
    }

    /// Takes units if all of them fit.
    fn take(&mut self, units: impl IntoIterator<Item = Unit>) -> io::Result<bool> {
        let mut meter = self.meter;
        let mut taken = Vec::new();
        let mut at = self.composer.at();
        for unit in units {
            if unit.range.start > at && !meter.take(self.notice) {
                return Ok(false);
            }
            if !meter.take(unit_cost(&unit, &self.budget)) {
                // A window too large for a whole page is cut, or reading would never go on.
                if self.composer.at() > self.start || taken.is_empty() {
                    return Ok(false);
                }
                break;
            }
            at = unit.range.end;
            taken.push(unit);
        }
        self.meter = meter;
        for unit in taken {
            self.composer.push(unit)?;
        }
        Ok(true)
    }

    /// Ends the page where the last unit that fitted ends.
    fn stop(self) -> io::Result<Page> {
        let at = self.composer.at();
        self.finish(at, false)
    }

    fn finish(self, end: u64, at_end: bool) -> io::Result<Page> {
        let end = end.max(self.composer.at()).min(self.end);
        let (parts, counts) = self.composer.finish(end)?;
        let notices = self.budget.notices();
        Ok(Page {
            parts,
            counts,
            offset: self.start..end,
            next_offset: end,
            at_end: at_end || end >= self.end,
            matches: self.page_matches,
            repeats: Vec::new(),
            notices,
            kind: Kind::Search,
        })
    }
}

/// Errors on their way into a page, in the order of worth.
struct Gathered<'r, 'm, S> {
    reader: &'r Reader<'m, S>,
    find: Find,
    meter: Meter,
    notice: Cost,
    units: BTreeMap<u64, Unit>,
    repeats: Vec<Repeats>,
    matches: u64,
}

impl<'r, 'm, S: Source> Gathered<'r, 'm, S> {
    fn new(reader: &'r Reader<'m, S>, find: &Find) -> Self {
        let notice = notice_cost(reader.range().end, &find.budget);
        let mut meter = Meter::new(&find.budget);
        // For both ends, for a gap, and for saying that nothing is left.
        meter.spend(notice.times(if reader.scope.gap().is_some() { 4 } else { 2 }));
        let (units, repeats) = (BTreeMap::new(), Vec::new());
        Self { reader, find: *find, meter, notice, units, repeats, matches: 0 }
    }

    /// Takes the window of an error if it fits, or what fits of it if it is the first.
    fn take(&mut self, error: &Error) -> io::Result<bool> {
        let longest = self.find.budget.longest_line(50);
        let context = self.find.before.max(self.find.after);
        let within = self.reader.range();
        let window =
            Window::read(self.reader, &error.place, error.finding, within, longest, context)?;
        let mut meter = self.meter;
        let mut fits = meter.take(self.notice);
        let repeats = Repeats { offset: error.place.start, more: error.more };
        if error.more > 0 && self.find.budget.notices() == Notices::Told {
            fits = fits && meter.take(Cost::of(&format!("[umbo-9999: {}]\n", repeats.notice())));
        }
        let mut taken = Vec::new();
        for unit in window.into_units() {
            if self.units.contains_key(&unit.range.start) || !fits {
                continue;
            }
            fits = meter.take(unit_cost(&unit, &self.find.budget));
            if fits {
                taken.push(unit);
            }
        }
        let has_key = taken.iter().any(|unit| unit.range.start == error.place.start)
            || self.units.contains_key(&error.place.start);
        let is_first = self.units.is_empty() && has_key;
        if !fits && !is_first {
            return Ok(false);
        }
        self.meter = meter;
        self.units.extend(taken.into_iter().map(|unit| (unit.range.start, unit)));
        self.matches += 1;
        if error.more > 0 {
            self.repeats.push(repeats);
        }
        Ok(fits)
    }

    fn finish(self, seen: u64, next: u64, kinds: u64) -> io::Result<Page> {
        let range = self.reader.range();
        let mut composer = Composer::new(self.reader, range.start, u64::MAX);
        for unit in self.units.into_values() {
            composer.push(unit)?;
        }
        let (parts, counts) = composer.finish(range.end)?;
        Ok(Page {
            parts,
            counts,
            offset: range,
            next_offset: next,
            at_end: next >= kinds,
            matches: self.matches,
            repeats: self.repeats,
            notices: self.find.budget.notices(),
            kind: Kind::Errors { seen },
        })
    }
}
