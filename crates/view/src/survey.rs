//! The survey of a log: one pass that says which templates it has, how often, where, and which of
//! its lines look like errors.
//!
//! Lines are told apart at first sight by a quick key; only lines that were never seen so are
//! split into words. What is kept is bounded: of each shape its first places, and so many shapes.
//! When there are more, the words that are frequent by then are taken as those that belong to
//! messages, the shapes become templates, and later lines are counted by template. The result is a
//! function of the bytes alone.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use crate::detect::{self, Finding, RULE_COUNT};
use crate::reader::Reader;
use crate::sanitize::sanitize;
use crate::slab::{BLOCK, Slab};
use crate::source::Source;
use crate::template::{ByKey, LONGEST_START, Shape, Words, first_sight};

/// The most shapes that are kept before they become templates, and the most templates after.
const MOST_SHAPES: usize = 16 * 1024;
/// The most quick keys that are remembered.
const MOST_KEYS: usize = 64 * 1024;
/// How many places of a template are shown.
pub(crate) const SHOWN_OF_TEMPLATE: usize = 2;
/// How many places of a template that looks like an error are shown.
pub(crate) const SHOWN_OF_ERROR: usize = 6;
/// The last lines are shown whatever they say.
const LAST_LINES: usize = 10;
/// But not more of a template than this.
const LAST_OF_TEMPLATE: usize = 4;
/// An error says so early in its line.
const LONGEST_JUDGED: usize = 16 * 1024;

/// Where a line is in the log.
pub(crate) type Place = Range<u64>;

/// Lines that say the same.
#[derive(Debug, Clone)]
struct Kind {
    shape: Shape,
    count: u64,
    first: Vec<Place>,
    /// Where the last one ends.
    end: u64,
    /// The kinds of the lines before and after the first one.
    before: Option<usize>,
    after: Option<usize>,
    /// Whether its lines have to be judged one by one.
    is_candidate: bool,
    found: Option<Found>,
}

/// Lines of a kind that look like errors.
#[derive(Debug, Clone)]
struct Found {
    finding: Finding,
    count: u64,
    places: Vec<Place>,
}

/// A template of a log, and where its lines are.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// How many lines it has.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) first: Vec<Place>,
    /// Where the last of them ends.
    pub(crate) end: u64,
    /// Those that match a rule, and which.
    pub(crate) errors: Vec<(Place, Finding)>,
    /// How many look like errors.
    pub(crate) error_count: u64,
    /// How common the lines around the first one are.
    pub(crate) crowd: u64,
    /// How many words of the first one are rare in the log, beyond what is usual.
    pub(crate) unusual_words: u64,
    /// Whether it has words.
    pub(crate) has_words: bool,
}

/// What a survey found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) templates: Vec<Template>,
    /// The last lines, oldest first.
    pub(crate) last: Vec<Place>,
    /// How often each rule was met.
    pub(crate) rules: Vec<u64>,
    /// Where lines begin and end that belong to no template, for lack of room.
    pub(crate) others: Option<Range<u64>>,
    /// What was not read.
    pub(crate) skipped: Option<Range<u64>>,
    /// Bytes that were read.
    pub(crate) scanned: u64,
}

impl Survey {
    /// Surveys the lines of `range`. If it has more than `limit` bytes, half of them are read at
    /// its beginning and half at its end, where programs say why they stop.
    pub(crate) fn of<S: Source>(
        reader: &Reader<'_, S>,
        range: Range<u64>,
        limit: u64,
    ) -> io::Result<Self> {
        let mut pass = Pass::default();
        if range.end - range.start <= limit {
            pass.region(reader, range)?;
            return Ok(pass.finish());
        }
        let first = pass.region(reader, range.start..range.start + limit / 2)?;
        pass.previous = None;
        let second = reader.border_near(range.end - limit / 2)?.max(first.end);
        pass.region(reader, second..range.end)?;
        let mut survey = pass.finish();
        survey.skipped = Some(first.end..second).filter(|skipped| !skipped.is_empty());
        Ok(survey)
    }
}

/// A survey under way.
struct Pass {
    kinds: Vec<Kind>,
    by_sight: ByKey<usize>,
    by_key: ByKey<usize>,
    /// The words that belong to messages, once there are too many shapes.
    words: Option<Words>,
    others: Option<Range<u64>>,
    rules: Vec<u64>,
    lines: u64,
    scanned: u64,
    /// The last lines and their kinds.
    last: Vec<(Place, Option<usize>)>,
    /// Where the next of them goes.
    oldest: usize,
    /// The kind of the line before, and whether this one is to be its neighbour.
    previous: Option<(usize, bool)>,
}

impl Default for Pass {
    fn default() -> Self {
        Self {
            kinds: Vec::new(),
            by_sight: ByKey::default(),
            by_key: ByKey::default(),
            words: None,
            others: None,
            rules: vec![0; RULE_COUNT],
            lines: 0,
            scanned: 0,
            last: Vec::with_capacity(LAST_LINES),
            oldest: 0,
            previous: None,
        }
    }
}

/// What a line is known as.
enum Known {
    Blank,
    Kind(usize),
    /// One of too many.
    Other,
}

impl Pass {
    /// Reads the lines of a range; tells what was read.
    fn region<S: Source>(
        &mut self,
        reader: &Reader<'_, S>,
        range: Range<u64>,
    ) -> io::Result<Range<u64>> {
        let scope = &reader.scope;
        let mut slab = Slab::default();
        let mut at = range.start;
        while at < range.end {
            let span = scope.span(at);
            if at < span.start {
                at = span.start;
                continue;
            }
            let target = (at + BLOCK).min(span.end).min(range.end);
            let stop = scope.border_after(&span, target)?;
            scope.read_into(at..stop, &mut slab)?;
            self.lines_of(&slab, at..stop);
            self.scanned += stop - at;
            at = stop;
        }
        Ok(range.start..at)
    }

    fn lines_of(&mut self, slab: &Slab, range: Range<u64>) {
        let mut from = 0;
        let mut start = range.start;
        while from < slab.bytes.len() {
            let newline = memchr::memchr(b'\n', &slab.bytes[from..]);
            let to = newline.map_or(slab.bytes.len(), |index| from + index);
            let next = (to + 1).min(slab.bytes.len());
            let end = if next < slab.bytes.len() { slab.end_of(next - 1) } else { range.end };
            self.line(&slab.bytes[from..to], start..end);
            start = end;
            from = next;
        }
    }

    fn line(&mut self, raw: &[u8], place: Place) {
        let raw = raw.strip_suffix(b"\r").unwrap_or(raw);
        let known = self.known(raw);
        let id = if let Known::Kind(id) = known { Some(id) } else { None };
        if self.last.len() < LAST_LINES {
            self.last.push((place.clone(), id));
        } else {
            self.last[self.oldest] = (place.clone(), id);
            self.oldest = (self.oldest + 1) % LAST_LINES;
        }
        let id = match known {
            Known::Blank => return,
            Known::Kind(id) => id,
            Known::Other => {
                self.lines += 1;
                self.other(raw, place);
                return;
            }
        };
        self.lines += 1;
        if let Some((before, true)) = self.previous {
            self.kinds[before].after = Some(id);
        }
        let before = self.previous.map(|(before, _)| before);
        let kind = &mut self.kinds[id];
        kind.count += 1;
        kind.end = place.end;
        if kind.count == 1 {
            kind.before = before;
        }
        self.previous = Some((id, kind.count == 1));
        if kind.first.len() < SHOWN_OF_TEMPLATE {
            kind.first.push(place.clone());
        }
        let must_judge = kind.is_candidate
            || (raw.len() > LONGEST_START && detect::is_candidate(&raw[LONGEST_START..]));
        if must_judge && let Some(finding) = judge(raw) {
            self.rules[finding.index()] += 1;
            let found = self.kinds[id].found.get_or_insert_with(|| Found {
                finding,
                count: 0,
                places: Vec::new(),
            });
            found.count += 1;
            if found.places.len() < SHOWN_OF_ERROR {
                found.places.push(place);
            }
        }
    }

    /// The kind of a line, a new one if need be.
    fn known(&mut self, raw: &[u8]) -> Known {
        // What a long line shows may stand far behind, after a carriage return.
        let is_rewritten = raw.len() > LONGEST_START && memchr::memchr(b'\r', raw).is_some();
        if is_rewritten {
            return self.look(raw, None);
        }
        let sight = first_sight(raw);
        if let Some(&id) = self.by_sight.get(&sight) {
            return Known::Kind(id);
        }
        self.look(raw, Some(sight))
    }

    fn look(&mut self, raw: &[u8], sight: Option<u64>) -> Known {
        let start = if sight.is_some() { &raw[..raw.len().min(LONGEST_START)] } else { raw };
        let shape = Shape::of(&clean(start));
        if shape.is_blank() {
            return Known::Blank;
        }
        if self.words.is_none() && self.kinds.len() >= MOST_SHAPES {
            self.settle();
        }
        let key = match &self.words {
            None => shape.key(),
            Some(words) => shape.template(words),
        };
        let id = match self.by_key.get(&key) {
            Some(&id) => id,
            None if self.kinds.len() >= MOST_SHAPES => return Known::Other,
            None => self.kind_by(key, shape),
        };
        // Lines of a template may differ in a word that matters.
        self.kinds[id].is_candidate |= detect::is_candidate(raw);
        if let Some(sight) = sight {
            if self.by_sight.len() >= MOST_KEYS {
                self.by_sight.clear();
            }
            self.by_sight.insert(sight, id);
        }
        Known::Kind(id)
    }

    /// The kind with this key, a new one if need be.
    fn kind_by(&mut self, key: u64, shape: Shape) -> usize {
        let next = self.kinds.len();
        let id = *self.by_key.entry(key).or_insert(next);
        if id == next {
            self.kinds.push(Kind {
                shape,
                count: 0,
                first: Vec::new(),
                end: 0,
                before: None,
                after: None,
                is_candidate: false,
                found: None,
            });
        }
        id
    }

    /// A line for whose template there is no room is judged all the same.
    fn other(&mut self, raw: &[u8], place: Place) {
        self.previous = None;
        let all = self.others.get_or_insert(place.clone());
        all.end = place.end;
        if detect::is_candidate(raw)
            && let Some(finding) = judge(raw)
        {
            self.rules[finding.index()] += 1;
            // Its rule stands for its template.
            let key = finding.index() as u64;
            let id = self.kind_by(key, Shape::default());
            let kind = &mut self.kinds[id];
            kind.count += 1;
            kind.end = place.end;
            let found = kind.found.get_or_insert(Found { finding, count: 0, places: Vec::new() });
            found.count += 1;
            if found.places.len() < SHOWN_OF_ERROR {
                found.places.push(place);
            }
        }
    }

    /// Makes templates of the shapes so far.
    fn settle(&mut self) {
        let words = Words::count(self.kinds.iter().map(|k| (&k.shape, k.count)), self.lines);
        let (kinds, by_key, now) = merged(std::mem::take(&mut self.kinds), &words);
        self.kinds = kinds;
        self.by_key = by_key;
        self.by_sight.clear();
        self.previous = self.previous.map(|(id, first)| (now[id], first));
        for (_, id) in &mut self.last {
            *id = id.and_then(|id| now.get(id).copied());
        }
        self.words = Some(words);
    }

    fn finish(mut self) -> Survey {
        if self.words.is_none() {
            self.settle();
        }
        let words = self.words.take().unwrap_or_default();
        let rare = |kind: &Kind| kind.shape.rare_words(&words);
        let all: u64 = self.kinds.iter().map(|kind| kind.count * rare(kind)).sum();
        let usual = all.div_ceil(self.lines.max(1));
        let counts: Vec<u64> = self.kinds.iter().map(|kind| kind.count).collect();
        let common = |id: Option<usize>| id.and_then(|id| counts.get(id)).copied().unwrap_or(1);
        self.last.rotate_left(self.oldest);
        let last = last_lines(&self.last);
        let templates = self
            .kinds
            .into_iter()
            .map(|kind| Template {
                count: kind.count,
                end: kind.end,
                errors: kind
                    .found
                    .iter()
                    .flat_map(|found| found.places.iter().map(|p| (p.clone(), found.finding)))
                    .collect(),
                error_count: kind.found.as_ref().map_or(0, |found| found.count),
                crowd: common(kind.before).saturating_mul(common(kind.after)),
                unusual_words: rare(&kind).saturating_sub(usual),
                has_words: kind.shape.has_words(),
                first: kind.first,
            })
            .collect();
        Survey {
            templates,
            last,
            rules: self.rules,
            others: self.others,
            skipped: None,
            scanned: self.scanned,
        }
    }
}

/// The last lines, without those that are followed by enough others of their kind.
fn last_lines(lines: &[(Place, Option<usize>)]) -> Vec<Place> {
    let is_wanted = |index: usize, id: Option<usize>| {
        let later = &lines[index + 1..];
        id.is_none() || later.iter().filter(|(_, other)| *other == id).count() < LAST_OF_TEMPLATE
    };
    let wanted = lines.iter().enumerate().filter(|(index, (_, id))| is_wanted(*index, *id));
    wanted.map(|(_, (place, _))| place.clone()).collect()
}

/// The kinds joined by template, the index by key, and for each old kind its new one.
fn merged(kinds: Vec<Kind>, words: &Words) -> (Vec<Kind>, ByKey<usize>, Vec<usize>) {
    let mut by_key = ByKey::default();
    let mut now = Vec::with_capacity(kinds.len());
    let mut joined: Vec<Kind> = Vec::new();
    for kind in kinds {
        let id = *by_key.entry(kind.shape.template(words)).or_insert(joined.len());
        now.push(id);
        match joined.get_mut(id) {
            Some(into) => into.join(kind),
            None => joined.push(kind),
        }
    }
    for kind in &mut joined {
        kind.before = kind.before.and_then(|id| now.get(id).copied());
        kind.after = kind.after.and_then(|id| now.get(id).copied());
    }
    (joined, by_key, now)
}

impl Kind {
    /// Adds the lines of another kind, whose first line comes later.
    fn join(&mut self, other: Kind) {
        self.count += other.count;
        self.end = self.end.max(other.end);
        self.is_candidate |= other.is_candidate;
        earliest(&mut self.first, other.first, SHOWN_OF_TEMPLATE);
        match (&mut self.found, other.found) {
            (Some(found), Some(more)) => {
                found.count += more.count;
                earliest(&mut found.places, more.places, SHOWN_OF_ERROR);
            }
            (found @ None, more) => *found = more,
            _ => {}
        }
    }
}

/// The earliest places of two lists.
fn earliest(places: &mut Vec<Place>, more: Vec<Place>, most: usize) {
    places.extend(more);
    places.sort_by_key(|place| place.start);
    places.truncate(most);
}

/// A raw line as a reader would see it.
fn clean(raw: &[u8]) -> Cow<'_, str> {
    let is_plain = raw.iter().all(|&byte| (byte >= 0x20 && byte != 0x7f) || byte == b'\t');
    match std::str::from_utf8(raw) {
        Ok(text) if is_plain => Cow::Borrowed(text),
        _ => Cow::Owned(sanitize(raw)),
    }
}

fn judge(raw: &[u8]) -> Option<Finding> {
    detect::judge(&clean(&raw[..raw.len().min(LONGEST_JUDGED)]))
}
