//! Views: all of a log, in the room that a reader has.
//!
//! If everything fits, everything is shown. If not, the shape decides what is kept. The default
//! keeps what explains the log ([`crate::choose`]): errors, what is rare, of what is frequent two
//! lines, both ends. The search and the counting of lines stop at stated limits, and the view says
//! so.

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::io;
use std::ops::Range;

use crate::budget::{Budget, Cost, Meter};
use crate::choose::Choice;
use crate::compose::{Composer, Counts, notice_cost, unit_cost};
use crate::part::{self, Notices, Part};
use crate::reader::{Reader, Unit};
use crate::source::Source;
use crate::survey::Survey;
use crate::tokens::count_tokens;
use crate::walk::{Direction, Step, Walk};

/// The text of a view of nothing.
pub const NO_OUTPUT: &str = "(no output)";
/// The text of a view of bytes that print nothing.
pub const NO_VISIBLE_OUTPUT: &str = "(no visible output)";

/// Which lines to keep when not all can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Beginning and end, and the errors in between.
    #[default]
    HeadTailErrors,
    /// The beginning.
    Head,
    /// The end.
    Tail,
    /// Beginning and end in equal parts.
    Middle,
}

/// How to make a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewOptions {
    /// The room there is.
    pub budget: Budget,
    /// What to keep.
    pub shape: Shape,
    /// Whether to fold the noise of known tools, even if all would fit.
    pub minimize: bool,
    /// Whether lines may be left out of which others like them are shown. If not, the default
    /// shape is the one of both ends.
    pub fold: bool,
    /// How many omitted bytes to search for errors.
    pub scan_bytes: u64,
    /// How many omitted bytes to count the lines of.
    pub count_bytes: u64,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            budget: Budget::default(),
            shape: Shape::default(),
            minimize: false,
            fold: true,
            scan_bytes: 64 * 1024 * 1024,
            count_bytes: 64 * 1024 * 1024,
        }
    }
}

/// What a reader sees of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Text and notices, in order. Their offsets cover the range without a hole.
    pub parts: Vec<Part>,
    /// What is here and what is not.
    pub counts: Counts,
    /// Whether anything was omitted or clamped.
    pub truncated: bool,
    /// Tokens of [`View::to_text`].
    pub tokens: u64,
    /// Tokens that all of it would have had: counted if nothing is missing, else an estimate in
    /// proportion.
    pub original_tokens: u64,
    /// How the middle was searched, if it was.
    pub errors: Option<ErrorScan>,
    /// Where parts begin that leave out only lines like those that are shown.
    similar: Vec<u64>,
    notices: Notices,
    /// Whether there are bytes of the stream at all.
    empty: bool,
    room: u64,
}

impl View {
    /// The view as one text, its notices on lines that start with `[umbo: `.
    pub fn to_text(&self) -> String {
        self.whole_text().map_or_else(|| self.joined_text(), str::to_owned)
    }

    /// Its text, if that is all there is.
    fn whole_text(&self) -> Option<&str> {
        match &self.parts[..] {
            [Part::Text { text, .. }] if !text.is_empty() && self.errors.is_none() => Some(text),
            _ => None,
        }
    }

    fn joined_text(&self) -> String {
        let mut text = part::to_text(&self.parts, self.notices, &self.similar);
        if let Some(line) = self.search_notice() {
            part::push_line(&mut text, &line);
        }
        if text.is_empty() {
            let marker = if self.empty { NO_OUTPUT } else { NO_VISIBLE_OUTPUT };
            if self.counts.omitted_bytes == 0 && marker.len() as u64 <= self.room {
                return marker.to_owned();
            }
        }
        text
    }
}

impl View {
    /// What is not shown, in the order of worth, then of place: what is unlike all that is shown
    /// before what is like it.
    pub fn gaps(&self) -> Vec<Part> {
        let is_gap = |part: &&Part| matches!(part, Part::Omitted { .. } | Part::Folded { .. });
        let mut gaps: Vec<Part> = self.parts.iter().filter(is_gap).cloned().collect();
        gaps.sort_by_key(|part| {
            matches!(part, Part::Folded { .. }) || self.similar.contains(&part.offset().start)
        });
        gaps
    }

    /// Says that there are more errors, or may be.
    fn search_notice(&self) -> Option<String> {
        let notice = self.errors.filter(|_| self.notices == Notices::Told)?.notice();
        if notice.is_empty() {
            return None;
        }
        let marker = part::marker(&self.parts);
        Some(format!("[{marker}: {notice}]"))
    }
}

/// How a log was searched for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorScan {
    /// Lines that look like errors in the view.
    pub shown: u64,
    /// Lines that look like errors in the log, repeats left out.
    pub kinds: u64,
    /// The first of them, in the order of worth, that the view does not show: where
    /// [`Reader::errors`] goes on.
    pub next: u64,
    /// Bytes that were searched.
    pub scanned_bytes: u64,
    /// Whether all of the log was searched. If not, it may hold more errors.
    pub complete: bool,
}

impl ErrorScan {
    /// What a reader has to know, if the view does not show all.
    fn notice(&self) -> String {
        let Self { shown, kinds, next, scanned_bytes, complete } = self;
        let mut text = String::new();
        if shown < kinds {
            let more = kinds - shown;
            text = format!("{more} more lines look like errors; read errors from {next}");
        }
        if !complete {
            let join = if text.is_empty() { "" } else { "; " };
            text += join;
            let _ =
                write!(text, "the search stopped after {scanned_bytes} bytes, there may be more");
        }
        text
    }
}

/// How much raw log may be read for one end of a view with a small budget. Progress bars can make a
/// lot of log out of little text.
const READ_LIMIT: u64 = 8 * 1024 * 1024;

impl<S: Source> Reader<'_, S> {
    /// A view of everything that this reader reads.
    pub fn view(&self, options: &ViewOptions) -> io::Result<View> {
        let mut found = Found::default();
        let units = self.choose(options, &mut found)?;
        let range = self.range();
        let mut composer =
            Composer::new(self, range.start, options.count_bytes).unlike(found.unlike);
        for unit in units {
            composer.push(unit)?;
        }
        let (parts, counts, similar) = composer.finish_similar(range.end)?;
        let notices = options.budget.notices();
        let budget = &options.budget;
        let mut view = View {
            parts,
            counts,
            truncated: counts.omitted_bytes > 0 || counts.clamped_bytes > 0,
            tokens: 0,
            original_tokens: 0,
            errors: found.errors,
            similar,
            notices,
            empty: counts.total_bytes == 0 || (counts.shown_bytes > 0 && counts.shown_lines == 0),
            room: budget.bytes.min(budget.tokens).min(budget.lines.saturating_mul(64)),
        };
        let (shown, tokens) = match view.whole_text().map(count_tokens) {
            Some(tokens) => (tokens, tokens),
            None => (text_tokens(&view.parts), count_tokens(&view.joined_text())),
        };
        view.tokens = tokens;
        view.original_tokens = original_tokens(&view.counts, shown);
        Ok(view)
    }

    fn choose(&self, options: &ViewOptions, found: &mut Found) -> io::Result<Vec<Unit>> {
        let choice = Making { reader: self, options, notice: OnceCell::new() };
        let direction = match options.shape {
            Shape::Tail => Direction::Backwards,
            _ => Direction::Forwards,
        };
        let budget = &options.budget;
        let whole = usize::try_from(budget.line_bytes).unwrap_or(usize::MAX);
        let gather = |longest| choice.gather(direction, self.range(), Meter::new(budget), longest);
        let mut all = gather(whole)?;
        if !all.complete && choice.longest() < whole {
            all = gather(choice.longest())?;
        }
        if !all.complete {
            let mut meter = Meter::new(&options.budget);
            meter.spend(choice.notice().times(if self.scope.gap().is_some() { 3 } else { 1 }));
            all.units = match options.shape {
                Shape::Head | Shape::Tail => choice.fitting(all.units, &mut meter),
                Shape::HeadTailErrors if !options.fold => choice.two_ends(all.units, meter)?,
                Shape::Middle => choice.two_ends(all.units, meter)?,
                Shape::HeadTailErrors => choice.explaining(meter, found)?,
            };
        }
        if direction == Direction::Backwards {
            all.units.reverse();
        }
        Ok(all.units)
    }
}

/// What the search found, if there was one.
#[derive(Default)]
struct Found {
    errors: Option<ErrorScan>,
    /// Where lines are that are unlike all that is shown.
    unlike: Option<Vec<Range<u64>>>,
}

/// Units in the order of a walk.
struct Gathered {
    units: Vec<Unit>,
    complete: bool,
}

/// The making of one view.
struct Making<'r, 'm, 'o, S> {
    reader: &'r Reader<'m, S>,
    options: &'o ViewOptions,
    /// What a notice costs at most, which a view of everything never asks.
    notice: OnceCell<Cost>,
}

impl<S: Source> Making<'_, '_, '_, S> {
    fn notice(&self) -> Cost {
        *self.notice.get_or_init(|| notice_cost(self.reader.range().end, &self.options.budget))
    }

    /// The longest line where not all lines fit: one that leaves room for another.
    fn longest(&self) -> usize {
        let share = match self.options.shape {
            Shape::HeadTailErrors | Shape::Middle => 50,
            Shape::Head | Shape::Tail => 100,
        };
        self.options.budget.longest_line(share)
    }

    /// Units from one end of `range` as far as the meter goes.
    fn gather(
        &self,
        direction: Direction,
        range: Range<u64>,
        mut meter: Meter,
        longest: usize,
    ) -> io::Result<Gathered> {
        let mut walk = Walk::new(self.reader, direction, range, longest);
        if self.options.minimize {
            walk = walk.folding();
        }
        let limit = READ_LIMIT.max(self.options.budget.bytes.saturating_mul(4));
        let mut units = Vec::new();
        while let Some(step) = walk.next()? {
            let fits = match step {
                Step::Gap(_) => meter.take(self.notice()),
                Step::Unit(unit) => {
                    let fits = meter.take(unit_cost(&unit, &self.options.budget));
                    if fits {
                        units.push(unit);
                    }
                    fits
                }
            };
            if !fits || walk.read() > limit {
                return Ok(Gathered { units, complete: false });
            }
        }
        Ok(Gathered { units, complete: true })
    }

    /// The first of `units`, as far as the meter goes.
    fn fitting(&self, units: Vec<Unit>, meter: &mut Meter) -> Vec<Unit> {
        units
            .into_iter()
            .take_while(|unit| meter.take(unit_cost(unit, &self.options.budget)))
            .collect()
    }

    fn two_ends(&self, all: Vec<Unit>, mut meter: Meter) -> io::Result<Vec<Unit>> {
        let mut half = meter.share(50);
        let mut units = self.fitting(all, &mut half);
        for unit in &units {
            meter.spend(unit_cost(unit, &self.options.budget));
        }
        let start = units.last().map_or(self.reader.range().start, |unit| unit.range.end);
        let rest = start..self.reader.range().end;
        let tail = self.gather(Direction::Backwards, rest, meter, self.longest())?;
        units.extend(tail.units.into_iter().rev());
        Ok(units)
    }

    /// The lines that explain the log.
    fn explaining(&self, mut meter: Meter, found: &mut Found) -> io::Result<Vec<Unit>> {
        let budget = self.options.budget;
        let range = self.reader.range();
        if budget.notices() == Notices::Told {
            let end = range.end;
            let most =
                ErrorScan { kinds: end, next: end, scanned_bytes: end, ..ErrorScan::default() };
            meter.take(Cost::of(&format!("[umbo-9999: {}]\n", most.notice())));
        }
        let survey = Survey::of(self.reader, range, self.options.scan_bytes)?;
        let choice = Choice::new(self.reader, &survey, budget, meter, self.notice());
        let chosen = choice.choose()?;
        found.errors = Some(ErrorScan {
            shown: chosen.errors,
            kinds: chosen.kinds,
            next: chosen.next,
            scanned_bytes: survey.scanned,
            complete: survey.skipped.is_none(),
        });
        found.unlike = Some(chosen.unlike);
        Ok(chosen.units)
    }
}

fn text_tokens(parts: &[Part]) -> u64 {
    let tokens = parts.iter().map(|part| match part {
        Part::Text { text, .. } => count_tokens(text),
        _ => 0,
    });
    tokens.sum()
}

/// What the whole log would have cost, in proportion to the part that is shown, of so many tokens.
fn original_tokens(counts: &Counts, shown: u64) -> u64 {
    let seen = counts.shown_bytes;
    if seen == counts.total_bytes {
        return shown + counts.clamped_bytes / 3;
    }
    let total = u128::from(counts.total_bytes - counts.lost_bytes);
    if seen == 0 {
        return u64::try_from(total / 3).unwrap_or(u64::MAX);
    }
    let whole = u128::from(shown + counts.clamped_bytes / 3) * total / u128::from(seen);
    u64::try_from(whole).unwrap_or(u64::MAX)
}
