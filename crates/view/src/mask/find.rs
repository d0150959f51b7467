//! Finding secrets in sanitised text.
//!
//! Plain values, in all their forms, are found by one pass that reports every occurrence, also
//! overlapping ones, so that the result does not depend on where the text begins; a second one, over
//! lines joined again, finds those that were broken; a third one finds them in dumps of bytes. Well-known
//! formats are found by the literals they start with; patterns of the user are in `pattern.rs`.

use std::ops::Range;

use super::MaskError;
use super::dump;
use super::format::{self, Extent, FORMATS};
use super::pattern::Pattern;
use super::wrap::{self, Joined, NARROWEST};
use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

/// A piece of a secret shorter than this is not masked at the edge of missing text.
const SHORTEST_PIECE: usize = 4;

/// Shorter forms are not looked for across line ends, where they would be met by chance.
const SHORTEST_BROKEN: usize = 8;
/// Values of other lengths are not looked for in dumps.
const DUMPED: std::ops::RangeInclusive<usize> = 8..=512;
/// How much longer a text is in a dump, at most: one byte a line.
const DUMP_REACH: usize = 24;

/// Up to this much text to look for, searching is worth a large table.
const DENSE_LIMIT: usize = 64 * 1024;

/// No format is longer, so nothing has to be held back for longer.
pub(super) const FORMAT_REACH: usize = 8 * 1024;

/// Where text stops although the log went on: what is missing may be the rest of a secret.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Edge {
    pub(crate) start: bool,
    pub(crate) end: bool,
}

/// What comes before a text, as far as it matters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Before {
    /// The last character.
    last: Option<char>,
    /// How many letters of an encoder are there, up to as many as matter.
    run: usize,
}

impl Before {
    /// Whether what follows begins a line.
    fn begins_line(self) -> bool {
        self.last.is_none_or(|last| last == '\n')
    }

    /// The same after more text.
    pub(super) fn then(self, text: &str) -> Self {
        let last = text.chars().next_back().or(self.last);
        Self { last, run: wrap::run_at_end(text, self.run) }
    }
}

/// Everything that is searched for.
pub(super) struct Finder {
    /// Forms of plain values, with the rule each belongs to.
    forms: Vec<(String, usize)>,
    /// Literals that formats start with.
    starts: Vec<Start>,
    /// Finds the forms, then the starts, in the order of the two lists.
    search: Option<AhoCorasick>,
    patterns: Vec<(Pattern, usize)>,
    /// Values that are looked for in dumps, with their rules.
    dumped: Vec<(String, usize)>,
    dump_search: Option<AhoCorasick>,
}

/// A literal that a format starts with.
struct Start {
    literal: &'static str,
    format: usize,
    rule: usize,
}

/// A secret in a text.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    /// Where the text begins that says that this is one: a name before a value, the line of a dump.
    pub(super) context: usize,
    pub(super) rule: usize,
    /// The form's whole text, where only a piece of it is in sight.
    pub(super) whole: Option<String>,
    /// Whether its beginning was covered by the hit before.
    pub(super) joined: bool,
    /// Whether it is only suspected, for the text ends where the rest of it would be.
    pub(super) open: bool,
}

impl Hit {
    /// A secret that says itself that it is one, in sight as a whole.
    fn new(range: Range<usize>, rule: usize) -> Self {
        Self { context: range.start, range, rule, whole: None, joined: false, open: false }
    }
}

impl Finder {
    pub(super) fn new(
        forms: Vec<(String, usize)>,
        values: Vec<(String, usize)>,
        formats: &[(usize, usize)],
        patterns: Vec<(Pattern, usize)>,
    ) -> Result<Self, MaskError> {
        let starts: Vec<Start> = formats
            .iter()
            .flat_map(|&(format, rule)| {
                let literals = FORMATS[format].starts.iter();
                literals.map(move |&literal| Start { literal, format, rule })
            })
            .collect();
        let words = forms.iter().map(|(form, _)| form.as_str());
        let words: Vec<&str> = words.chain(starts.iter().map(|start| start.literal)).collect();
        // The fast automaton takes memory in proportion to all of the text it looks for.
        let size: usize = words.iter().map(|word| word.len()).sum();
        let kind = (size < DENSE_LIMIT).then_some(AhoCorasickKind::DFA);
        let search = if words.is_empty() {
            None
        } else {
            let mut builder = AhoCorasick::builder();
            let builder = builder.match_kind(MatchKind::Standard).kind(kind);
            Some(builder.build(words).map_err(|_| MaskError::TooMany)?)
        };
        let mut dumped = values;
        dumped.retain(|(value, _)| DUMPED.contains(&value.len()));
        let dump_search = if dumped.is_empty() {
            None
        } else {
            let values = dumped.iter().map(|(value, _)| value.as_bytes());
            Some(AhoCorasick::new(values).map_err(|_| MaskError::TooMany)?)
        };
        Ok(Self { forms, starts, search, patterns, dumped, dump_search })
    }

    /// How far a secret can reach over a border.
    pub(super) fn reach(&self) -> usize {
        let forms = self.longest().map_or(0, wrap::reach);
        let formats = if self.starts.is_empty() { 0 } else { FORMAT_REACH };
        let patterns = self.patterns.iter().map(|(pattern, _)| pattern.reach()).max().unwrap_or(0);
        let dumps = self.longest_dumped() * DUMP_REACH;
        forms.max(formats).max(patterns).max(dumps)
    }

    /// The length of the longest form.
    fn longest(&self) -> Option<usize> {
        self.forms.iter().map(|(form, _)| form.len()).max()
    }

    /// The length of the longest value that is looked for in dumps.
    fn longest_dumped(&self) -> usize {
        self.dumped.iter().map(|(value, _)| value.len()).max().unwrap_or(0)
    }

    /// Values in dumps of bytes.
    fn dump_hits(&self, text: &str, begins_line: bool, hits: &mut Vec<Hit>) {
        let Some(search) = &self.dump_search else { return };
        for dump in dump::dumps(text, begins_line) {
            for found in search.find_overlapping_iter(&dump.bytes) {
                let value = self.dumped.get(found.pattern().as_usize());
                if let (Some((value, rule)), Some((context, range))) =
                    (value, dump.range(found.range()))
                {
                    let whole = Some(value.clone());
                    let rule = *rule;
                    hits.push(Hit { context, whole, ..Hit::new(range, rule) });
                }
            }
        }
    }

    /// Lines that belong together, in which forms are to be found.
    fn joined(&self, text: &str, before: Before, edge: Edge) -> Vec<Joined> {
        let Some(longest) = self.longest() else { return Vec::new() };
        // Of what is missing nobody knows how wide it was.
        let run = if edge.start { NARROWEST } else { before.run };
        let mut joined = wrap::join(text, run, longest);
        joined.extend(wrap::unbroken(text));
        joined
    }

    pub(super) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Every hit in `text`, in no order, overlapping ones included.
    pub(super) fn hits(&self, text: &str, before: Before, edge: Edge) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Some(search) = &self.search {
            for found in search.find_overlapping_iter(text) {
                let index = found.pattern().as_usize();
                if let Some((_, rule)) = self.forms.get(index) {
                    hits.push(Hit::new(found.range(), *rule));
                } else if let Some(start) = self.starts.get(index - self.forms.len()) {
                    hits.extend(format_hit(text, found.start(), start, before.last, edge));
                }
            }
        }
        self.pattern_hits(text, &mut hits);
        let joined = self.joined(text, before, edge);
        self.joined_hits(&joined, &mut hits);
        self.dump_hits(text, before.begins_line() && !edge.start, &mut hits);
        if edge.end || edge.start {
            self.edge_hits(text, edge, &mut hits);
            for (start, rule) in self.begun_patterns(text).filter(|_| edge.end) {
                hits.push(Hit { open: true, ..Hit::new(start..text.len(), rule) });
            }
            self.joined_edge_hits(&joined, edge, &mut hits);
        }
        hits
    }

    /// Forms that go over a line end.
    fn joined_hits(&self, joined: &[Joined], hits: &mut Vec<Hit>) {
        let Some(search) = &self.search else { return };
        for group in joined {
            for found in search.find_overlapping_iter(&group.text) {
                let form = self.forms.get(found.pattern().as_usize());
                let form = form.filter(|(form, _)| form.len() >= SHORTEST_BROKEN);
                if let (Some((form, rule)), Some(range)) = (form, group.range(found.range())) {
                    let whole = Some(form.clone());
                    hits.push(Hit { whole, ..Hit::new(range, *rule) });
                }
            }
        }
    }

    /// Beginnings and ends of forms that go over a line end, and over the end of the text.
    fn joined_edge_hits(&self, joined: &[Joined], edge: Edge, hits: &mut Vec<Hit>) {
        let first: Vec<&Joined> =
            joined.iter().filter(|group| edge.start && group.place(0) == 0).collect();
        let last: Vec<&Joined> = joined.iter().filter(|group| edge.end && group.is_open).collect();
        let long = self.forms.iter().filter(|(form, _)| form.len() >= SHORTEST_BROKEN);
        for (form, rule) in long {
            let mut hit = |range: Range<usize>, open| {
                let whole = Some(form.clone());
                hits.push(Hit { whole, open, ..Hit::new(range, *rule) });
            };
            for group in &last {
                let (piece, end) = (partial(&group.text, form), group.text.len());
                if piece >= SHORTEST_PIECE {
                    hit(group.place(end - piece)..group.place(end - 1) + 1, true);
                }
            }
            for group in &first {
                let most = form.len().saturating_sub(1);
                let piece = overlap(form.as_bytes(), group.text.as_bytes(), most);
                if let Some(range) = group.range(0..piece).filter(|_| piece >= SHORTEST_PIECE) {
                    hit(range, false);
                }
            }
        }
    }

    fn pattern_hits(&self, text: &str, hits: &mut Vec<Hit>) {
        for (pattern, rule) in &self.patterns {
            let found = pattern.matches(text).into_iter();
            hits.extend(found.map(|(context, range)| Hit { context, ..Hit::new(range, *rule) }));
        }
    }

    /// Ends of the text that more text could make a match of a pattern.
    fn begun_patterns(&self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        self.patterns.iter().filter_map(|(pattern, rule)| Some((pattern.begun(text)?, *rule)))
    }

    /// Beginnings of values at the end of the text, and ends of values at its beginning.
    fn edge_hits(&self, text: &str, edge: Edge, hits: &mut Vec<Hit>) {
        for (form, rule) in &self.forms {
            let mut hit = |range: Range<usize>, open| {
                if range.len() >= SHORTEST_PIECE {
                    let whole = Some(form.clone());
                    hits.push(Hit { whole, open, ..Hit::new(range, *rule) });
                }
            };
            if edge.end {
                hit(text.len() - partial(text, form)..text.len(), true);
            }
            if edge.start {
                let most = form.len().saturating_sub(1);
                hit(0..overlap(form.as_bytes(), text.as_bytes(), most), false);
                // The missing bytes may have begun an escape sequence that ends here.
                let rest = sequence_rest(text);
                hit(rest..rest + overlap(form.as_bytes(), &text.as_bytes()[rest..], most), false);
            }
            if edge.end && edge.start && text.len() < form.len() && form.contains(text) {
                hit(0..text.len(), true);
            }
        }
    }

    /// Where the part of `text` begins that more text could still turn into a secret.
    pub(super) fn undecided(&self, text: &str, before: Before) -> usize {
        let mut from = text.len();
        let joined = self.joined(text, before, Edge::default());
        let open: Vec<&Joined> = joined.iter().filter(|group| group.is_open).collect();
        for (form, _) in &self.forms {
            from = from.min(text.len() - partial(text, form));
            for group in open.iter().filter(|_| form.len() >= SHORTEST_BROKEN) {
                let piece = partial(&group.text, form);
                if piece > 0 {
                    from = from.min(group.place(group.text.len() - piece));
                }
            }
        }
        for (start, _) in self.begun_patterns(text) {
            from = from.min(start);
        }
        if self.dump_search.is_some() {
            let begins_line = before.begins_line();
            from = from.min(dump::undecided(text, begins_line, self.longest_dumped()));
        }
        for start in &self.starts {
            from = from.min(text.len() - partial(text, start.literal));
        }
        if let Some(search) = &self.search {
            // A format that is still open began within its reach of the end.
            let recent = text.floor_char_boundary(text.len().saturating_sub(FORMAT_REACH));
            for found in search.find_overlapping_iter(Input::new(text).range(recent..)) {
                let index = found.pattern().as_usize().checked_sub(self.forms.len());
                let Some(start) = index.and_then(|index| self.starts.get(index)) else { continue };
                let format = &FORMATS[start.format];
                let rest = &text[found.start()..];
                let open = match format.extent {
                    Extent::Word => !rest[found.len()..].contains(char::is_whitespace),
                    Extent::Line => !rest.contains('\n'),
                    Extent::Lines => rest.matches('\n').count() < format::MOST_LINES,
                    Extent::Block => key_continues(rest),
                };
                let last = text[..found.start()].chars().next_back().or(before.last);
                let word = last.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
                if open && rest.len() < FORMAT_REACH && (format.anywhere || !word) {
                    from = from.min(found.start());
                }
            }
        }
        from
    }
}

fn format_hit(
    text: &str,
    start: usize,
    literal: &Start,
    previous: Option<char>,
    edge: Edge,
) -> Option<Hit> {
    let format = &FORMATS[literal.format];
    let before = text[..start].chars().next_back().or(previous);
    if !format.anywhere && before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
        return None;
    }
    let end = text.floor_char_boundary((start + FORMAT_REACH).min(text.len()));
    let window = &text[start..end];
    let hit = |range: Range<usize>, open| {
        let range = start + range.start..start + range.end;
        let rule = literal.rule;
        Some(Hit { context: start, open, ..Hit::new(range, rule) })
    };
    if let Some(groups) = format::compiled(literal.format)?.captures(window) {
        let group = groups.iter().skip(1).flatten().next().or(groups.get(0));
        let range = group?.range();
        let digit = window[range.clone()].bytes().any(|byte| byte.is_ascii_digit());
        return if digit || !format.digit { hit(range, false) } else { None };
    }
    // The end is missing: what is there of it is masked on suspicion.
    let cut = edge.end && end == text.len() && !window.contains(char::is_whitespace);
    let telling = window.len() >= 8 && format.starts.iter().all(|start| start.len() > 2);
    if cut && telling && !format.anywhere { hit(0..window.len(), true) } else { None }
}

/// Whether all of a private key block so far could be followed by more of it.
fn key_continues(text: &str) -> bool {
    let end = text.find("-----END ").map(|at| &text[at + 9..]);
    !end.is_some_and(|end| end.contains("-----") || end.contains('\n'))
}

/// Length of what may be the end of a control sequence at the start of `text`.
fn sequence_rest(text: &str) -> usize {
    let parameters = text.bytes().take_while(|byte| matches!(byte, b'0'..=b'?' | b'[')).count();
    let letter = text.as_bytes().get(parameters).is_some_and(u8::is_ascii_alphabetic);
    parameters + usize::from(letter)
}

/// The longest end of `text` that `word` begins with and does not end with.
fn partial(text: &str, word: &str) -> usize {
    overlap(text.as_bytes(), word.as_bytes(), word.len().saturating_sub(1))
}

/// How much of the end of `left` is the beginning of `right`, up to `longest` bytes.
fn overlap(left: &[u8], right: &[u8], longest: usize) -> usize {
    let tail = &left[left.len() - left.len().min(longest)..];
    let Some(&first) = right.first() else { return 0 };
    memchr::memchr_iter(first, tail)
        .find(|&at| right.starts_with(&tail[at..]))
        .map_or(0, |at| tail.len() - at)
}

/// Turns overlapping hits into ranges that follow each other and cover them all.
pub(super) fn settle(text: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
    let mut settled: Vec<Hit> = Vec::with_capacity(hits.len());
    let mut covered = 0;
    for mut hit in hits {
        if hit.range.end <= covered {
            if let (true, Some(last)) = (hit.open, settled.last_mut()) {
                last.open = true;
            }
            continue;
        }
        if hit.range.start < covered {
            hit.whole.get_or_insert_with(|| text[hit.range.clone()].to_owned());
            hit.range.start = covered;
            hit.joined = true;
        }
        covered = hit.range.end;
        settled.push(hit);
    }
    settled
}
