//! Choosing lines: what a reader should see of a log that does not fit.
//!
//! A [`Survey`] says which templates the log has. Of each template the first lines are worth
//! showing, the rest is like them. So are lines that look like errors, the last lines, and what is
//! rare among the common. If all of that fits, that is the choice. If not, the ends and the errors
//! have shares of the budget, and what is worth most comes first: of an error its own line and the
//! line that ends its block before the lines between. What does not fit is skipped, and the search
//! goes on.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use crate::budget::{Budget, Cost, Meter};
use crate::compose::unit_cost;
use crate::detect::{self, Finding};
use crate::minimize::noise_group;
use crate::reader::{Reader, Unit};
use crate::rule::Worth;
use crate::sanitize::sanitize;
use crate::source::Source;
use crate::survey::{Place, SHOWN_OF_ERROR, SHOWN_OF_TEMPLATE, Survey, Template};
use crate::walk::{Direction, Step, Walk};
use crate::windows::Window;

/// Lines shown before and after a line that looks like an error.
const CONTEXT: usize = 2;
/// Of a long block so many lines from its start are shown, and its last line.
const LONGEST_START: usize = 10;
/// More errors than this help nobody.
const MOST_ERRORS: usize = 200;
/// So many lines that are rare among the common are looked at.
const MOST_STRANGERS: usize = 300;
/// After so many lines in a row that do not fit, none is likely to.
const MOST_MISFITS: usize = 40;

/// How a budget is shared, in percent.
#[derive(Debug, Clone, Copy)]
struct Shares {
    head: u64,
    /// Lines that look like errors, and the ends of their blocks.
    errors: u64,
    /// Lines that are rare among the common.
    strangers: u64,
    /// What stands around errors.
    context: u64,
    tail: u64,
}

/// What a run that went well takes of the budget, in percent.
const PASSING_SHARE: u64 = 30;
/// What the ends of plain data take of the budget, in percent.
const DATA_SHARE: u64 = 25;

impl Shares {
    /// The smaller the budget, the more of it goes to what explains.
    fn of(budget: &Budget) -> Self {
        if budget.tokens <= 2_500 {
            Self { head: 8, errors: 40, strangers: 15, context: 15, tail: 22 }
        } else {
            Self { head: 15, errors: 30, strangers: 15, context: 15, tail: 25 }
        }
    }
}

/// A line that looks like an error, in the order of worth.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(crate) place: Place,
    pub(crate) finding: Finding,
    /// Whether an error of the same template comes before it.
    pub(crate) is_repeat: bool,
    /// How many errors of its template are shown nowhere.
    pub(crate) more: u64,
}

/// The errors of a survey: causes before consequences, what is seldom before what is frequent, the
/// first of each template before its repeats, then by place.
pub(crate) fn errors(survey: &Survey) -> Vec<Error> {
    let mut errors = Vec::new();
    for template in &survey.templates {
        let shown = shown_errors(template);
        for (nth, (place, finding)) in template.errors.iter().take(shown).enumerate() {
            if finding.worth() == Worth::Success {
                continue;
            }
            let often = survey.rules[finding.index()].ilog2() / 3;
            let key =
                (finding.worth(), nth > 0, often, template.error_count.ilog2() / 2, place.start);
            let hidden = template.error_count.saturating_sub(shown as u64);
            let error = Error {
                place: place.clone(),
                finding: *finding,
                is_repeat: nth > 0,
                more: if nth == 0 { hidden } else { 0 },
            };
            errors.push((key, error));
        }
    }
    errors.sort_by_key(|(key, _)| *key);
    errors.into_iter().map(|(_, error)| error).collect()
}

/// How many errors of a template are shown: all, unless they are many.
fn shown_errors(template: &Template) -> usize {
    let is_many = template.error_count > SHOWN_OF_ERROR as u64;
    if is_many { SHOWN_OF_TEMPLATE } else { SHOWN_OF_ERROR }
}

/// Lines that say that all went well.
fn summaries(survey: &Survey) -> Vec<Place> {
    let all = survey.templates.iter().flat_map(|template| &template.errors);
    let mut places: Vec<Place> = all
        .filter(|(_, finding)| finding.worth() == Worth::Success)
        .map(|(place, _)| place.clone())
        .collect();
    places.sort_by_key(|place| std::cmp::Reverse(place.start));
    places
}

/// All places worth showing, in order.
fn worthy(survey: &Survey) -> Vec<Place> {
    let mut places: Vec<Place> = survey
        .templates
        .iter()
        .flat_map(|template| {
            let errors = template.errors.iter().take(shown_errors(template));
            template.first.iter().chain(errors.map(|(place, _)| place)).cloned()
        })
        .chain(survey.last.iter().cloned())
        .collect();
    places.sort_by_key(|place| place.start);
    places.dedup();
    places
}

/// The making of one choice.
pub(crate) struct Choice<'r, 'm, S> {
    reader: &'r Reader<'m, S>,
    survey: &'r Survey,
    budget: Budget,
    meter: Meter,
    notice: Cost,
    /// What is shown, by offset.
    shown: BTreeMap<u64, Unit>,
    /// The longest line of an error, and of anything else.
    longest_error: usize,
    longest: usize,
    /// A line so short fits, whatever it says.
    sure: usize,
}

/// What a choice came to.
pub(crate) struct Chosen {
    /// The lines to show, in order.
    pub(crate) units: Vec<Unit>,
    /// Where lines are that are unlike all of these.
    pub(crate) unlike: Vec<Range<u64>>,
    /// How many lines that look like errors are among them.
    pub(crate) errors: u64,
    /// Errors, in the order of worth, and the place of the first that is not shown.
    pub(crate) kinds: u64,
    pub(crate) next: u64,
}

impl<'r, 'm, S: Source> Choice<'r, 'm, S> {
    /// A choice from what `survey` found, for what the meter holds.
    pub(crate) fn new(
        reader: &'r Reader<'m, S>,
        survey: &'r Survey,
        budget: Budget,
        meter: Meter,
        notice: Cost,
    ) -> Self {
        let shares = Shares::of(&budget);
        let sure = budget.longest_line(shares.errors);
        let bytes = |most: u64| usize::try_from(most.min(budget.line_bytes)).unwrap_or(usize::MAX);
        // Two bytes a token is little; most lines have more.
        let longest_error = bytes(budget.tokens.saturating_mul(shares.errors) / 50).max(sure);
        let longest = bytes((budget.tokens / 8).max(160)).min(longest_error);
        Self {
            reader,
            survey,
            budget,
            meter,
            notice,
            shown: BTreeMap::new(),
            longest_error,
            longest,
            sure,
        }
    }

    /// Chooses.
    pub(crate) fn choose(mut self) -> io::Result<Chosen> {
        let errors = errors(self.survey);
        let worthy = worthy(self.survey);
        let summaries = summaries(self.survey);
        if errors.is_empty() && !summaries.is_empty() {
            self.passing(&worthy, &summaries)?;
        } else {
            self.explaining(&worthy, &errors)?;
        }
        self.bridge()?;
        Ok(self.chosen(&errors))
    }

    /// A run that went well is told in short: how it began, its summaries, its end.
    fn passing(&mut self, worthy: &[Place], summaries: &[Place]) -> io::Result<()> {
        let mut room = self.meter.share(PASSING_SHARE);
        self.offer_last()?;
        self.offer_all(summaries.iter(), &mut room)?;
        let mut end = room.share(40);
        self.offer_all(self.survey.last.iter().rev(), &mut end)?;
        let mut rest = room.share(50);
        self.offer_all(worthy.iter(), &mut rest)
    }

    fn explaining(&mut self, worthy: &[Place], errors: &[Error]) -> io::Result<()> {
        let shares = Shares::of(&self.budget);
        let whole = self.meter;
        let last = &self.survey.last;
        self.offer_last()?;
        let mut tail = whole.share(shares.tail);
        self.offer_all(last.iter().rev(), &mut tail)?;
        let mut head = whole.share(shares.head);
        self.offer_all(worthy.iter(), &mut head)?;
        let mut room = whole.share(shares.errors);
        let windows = self.offer_errors(errors, &mut room)?;
        let mut room = whole.share(shares.strangers);
        let strangers = self.strangers()?;
        self.offer_all(strangers.iter(), &mut room)?;
        let mut room = whole.share(shares.context);
        self.offer_context(windows, &mut room);
        // What the shares did not need goes to what is left, in the same order.
        let mut rest = self.meter;
        let windows = self.offer_errors(errors, &mut rest)?;
        let mut rest = self.meter;
        self.offer_context(windows, &mut rest);
        let mut rest = self.meter.share(50);
        self.offer_all(strangers.iter(), &mut rest)?;
        let mut rest = self.meter.share(50);
        self.offer_all(worthy.iter().rev(), &mut rest)?;
        let mut rest = self.meter;
        self.offer_all(worthy.iter(), &mut rest)?;
        if errors.is_empty() {
            self.ends(whole.share(DATA_SHARE))?;
        }
        Ok(())
    }

    /// Plain data is not noise: where nothing went wrong, more of both ends is shown.
    fn ends(&mut self, room: Meter) -> io::Result<()> {
        let range = self.reader.range();
        for direction in [Direction::Forwards, Direction::Backwards] {
            let mut walk = Walk::new(self.reader, direction, range.clone(), self.longest);
            let mut room = room.share(50);
            while let Some(Step::Unit(unit)) = walk.next()? {
                // What is known is charged all the same: the ends do not depend on it.
                let is_known = self.shown.contains_key(&unit.range.start)
                    && room.take(unit_cost(&unit, &self.budget));
                let is_noise = noise_group(&unit.text).is_some();
                if !is_known && (is_noise || !self.take(vec![unit], Some(&mut room))) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn chosen(self, errors: &[Error]) -> Chosen {
        let is_shown = |place: &Place| self.shown.contains_key(&place.start);
        let unlike = self
            .survey
            .templates
            .iter()
            .filter(|template| {
                let errors = template.errors.iter().map(|(place, _)| place);
                !template.first.iter().chain(errors).any(is_shown)
            })
            .filter_map(|template| {
                let first = template.first.first().or(template.errors.first().map(|(p, _)| p))?;
                Some(first.start..template.end)
            })
            .chain(self.survey.others.clone())
            .chain(self.survey.skipped.clone())
            .collect();
        let next = errors.iter().position(|error| !is_shown(&error.place)).unwrap_or(errors.len());
        Chosen {
            unlike,
            errors: errors.iter().filter(|error| is_shown(&error.place)).count() as u64,
            kinds: errors.len() as u64,
            next: next as u64,
            units: self.shown.into_values().collect(),
        }
    }

    /// The last line is shown, cut if need be.
    fn offer_last(&mut self) -> io::Result<()> {
        let Some(place) = self.survey.last.last() else { return Ok(()) };
        if !self.offer(place, None)? {
            let span = self.reader.scope.span(place.start);
            let units = self.reader.units(&span, place.clone(), self.sure)?;
            self.take(units, None);
        }
        Ok(())
    }

    /// Offers places in turn, until many in a row do not fit.
    fn offer_all<'p>(
        &mut self,
        places: impl Iterator<Item = &'p Place>,
        room: &mut Meter,
    ) -> io::Result<()> {
        let mut misfits = 0;
        for place in places {
            if self.offer(place, Some(room))? {
                misfits = 0;
            } else {
                misfits += 1;
            }
            if misfits > MOST_MISFITS {
                break;
            }
        }
        Ok(())
    }

    /// Shows the line at `place`, if it fits into the room that is given and into the whole.
    fn offer(&mut self, place: &Place, room: Option<&mut Meter>) -> io::Result<bool> {
        if self.shown.contains_key(&place.start) {
            return Ok(true);
        }
        let span = self.reader.scope.span(place.start);
        let units = self.reader.units(&span, place.clone(), self.longest)?;
        Ok(self.take(units, room))
    }

    /// Shows lines that follow each other, if all of them fit.
    fn take(&mut self, units: Vec<Unit>, room: Option<&mut Meter>) -> bool {
        let mut cost = Cost::default();
        let mut fresh = Vec::new();
        for unit in units {
            if !self.shown.contains_key(&unit.range.start) && unit.range.start < unit.range.end {
                cost = cost.plus(unit_cost(&unit, &self.budget));
                fresh.push(unit);
            }
        }
        let (Some(first), Some(last)) = (fresh.first(), fresh.last()) else { return true };
        let notices = self.notices(first.range.start, last.range.end);
        cost = cost.plus(self.notice.times(notices));
        let fits = self.meter.fits(cost) && room.as_ref().is_none_or(|room| room.fits(cost));
        if fits {
            self.meter.spend(cost);
            if let Some(room) = room {
                room.spend(cost);
            }
            self.shown.extend(fresh.into_iter().map(|unit| (unit.range.start, unit)));
        }
        fits
    }

    /// How many notices more there are if `start..end` is shown: the gap it lies in may fall into
    /// two.
    fn notices(&self, start: u64, end: u64) -> u64 {
        let range = self.reader.range();
        let before = self.shown.range(..start).next_back();
        let after = self.shown.range(end..).next();
        let follows = before.map_or(range.start, |(_, unit)| unit.range.end) >= start;
        let precedes = after.map_or(range.end, |(&next, _)| next) <= end;
        u64::from(!follows && !precedes)
    }

    /// Shows errors, each with the line that ends its block. Returns their windows.
    fn offer_errors(&mut self, errors: &[Error], room: &mut Meter) -> io::Result<Vec<Window>> {
        let mut windows = Vec::new();
        let mut misfits = 0;
        for error in errors.iter().take(MOST_ERRORS) {
            if misfits > MOST_MISFITS {
                break;
            }
            let range = self.reader.range();
            let mut window = Window::read(
                self.reader,
                &error.place,
                error.finding,
                range,
                self.longest_error,
                CONTEXT,
            )?;
            if !self.take(window.key.clone(), Some(room)) {
                window.key.iter_mut().for_each(|unit| unit.clamp(self.sure));
                if !self.take(window.key.clone(), Some(room)) {
                    misfits += 1;
                    continue;
                }
            }
            let last = window.block.iter().rfind(|unit| !unit.text.trim().is_empty());
            if let Some(last) = last {
                self.take(vec![last.clone()], Some(room));
            }
            if error.is_repeat || error.finding.worth() == Worth::Consequence {
                continue;
            }
            window.block.truncate(LONGEST_START);
            let longest = self.longest;
            for unit in window.before.iter_mut().chain(&mut window.block).chain(&mut window.after) {
                unit.clamp(longest);
            }
            windows.push(window);
        }
        Ok(windows)
    }

    /// Shows what stands around errors: a part of each block, then the context.
    fn offer_context(&mut self, windows: Vec<Window>, room: &mut Meter) {
        let mut misfits = 0;
        for window in windows {
            let mut fits = true;
            for unit in window.block {
                fits = fits && self.take(vec![unit], Some(room));
            }
            for unit in window.before.into_iter().rev() {
                fits = fits && self.take(vec![unit], Some(room));
            }
            for unit in window.after {
                fits = fits && self.take(vec![unit], Some(room));
            }
            misfits += usize::from(!fits);
            if misfits > MOST_MISFITS / 4 {
                break;
            }
        }
    }

    /// Lines that are rare among the common: those with words of trouble first, then those whose
    /// neighbours are the most common and whose words are the least.
    fn strangers(&self) -> io::Result<Vec<Place>> {
        let mut strangers: Vec<&Template> = self
            .survey
            .templates
            .iter()
            .filter(|template| {
                template.count <= SHOWN_OF_TEMPLATE as u64
                    && (template.crowd >= 4 || template.unusual_words >= 3)
                    && template.has_words
                    && template.errors.is_empty()
            })
            .collect();
        strangers.sort_by_key(|template| {
            let strange = u64::from(template.crowd.ilog2()) + 2 * template.unusual_words.min(8);
            (std::cmp::Reverse(strange), template.first.first().map(|place| place.start))
        });
        strangers.truncate(MOST_STRANGERS);
        let mut calm = Vec::new();
        let mut places = Vec::new();
        for place in strangers.iter().filter_map(|template| template.first.first()) {
            let slab = self.reader.scope.slab(place.clone())?;
            if detect::is_alarming(&sanitize(&slab.bytes[..slab.bytes.len().min(2_048)])) {
                places.push(place.clone());
            } else {
                calm.push(place.clone());
            }
        }
        places.extend(calm);
        Ok(places)
    }

    /// Shows what costs less than the notice that it is missing.
    fn bridge(&mut self) -> io::Result<()> {
        let most = self.notice.bytes.min(256);
        let mut gaps = Vec::new();
        let mut at = self.reader.range().start;
        for unit in self.shown.values() {
            if unit.range.start > at && unit.range.start - at <= most {
                gaps.push(at..unit.range.start);
            }
            at = unit.range.end;
        }
        let end = self.reader.range().end;
        if end > at && end - at <= most {
            gaps.push(at..end);
        }
        for gap in gaps {
            let span = self.reader.scope.span(gap.start);
            if gap.start < span.start || gap.end > span.end {
                continue;
            }
            let units = self.reader.units(&span, gap, self.longest)?;
            let cost = units
                .iter()
                .fold(Cost::default(), |cost, unit| cost.plus(unit_cost(unit, &self.budget)));
            if cost.tokens <= self.notice.tokens {
                // The notice is not needed any more.
                self.meter.give_back(self.notice);
                if !self.take(units, None) {
                    self.meter.spend(self.notice);
                }
            }
        }
        Ok(())
    }
}
