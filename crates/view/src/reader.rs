//! Reading a log as lines of clean text.
//!
//! A [`Reader`] joins a scope of the log with the rules of reading it (masking, the longest line)
//! and turns stretches between borders into [`Unit`]s: one line, or one piece of an overlong line,
//! each with the bytes it was made from. The order is fixed: sanitise, then mask the sanitised
//! text (so that colour codes inside a secret cannot hide it), then clamp.
//!
//! To mask a stretch it also reads a little before and after it, as far as the masker reaches.
//! What is shown is then the same wherever a page happens to begin, and a border that falls into
//! a secret leaks neither half.

use std::io;
use std::ops::Range;

use crate::mask::{Edge, Masker, Match};
use crate::sanitize::{Changes, Sanitizer};
use crate::slab::{BLOCK, Scope, Slab, hard_border};
use crate::source::{Source, Stream};

/// A line, or a piece of an overlong one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The bytes of the log it stands for.
    pub(crate) range: Range<u64>,
    /// Its text, without the line end.
    pub(crate) text: String,
    /// Whether a line end follows the text.
    pub(crate) newline: bool,
    /// How many lines of the log end here.
    pub(crate) lines: u64,
    /// Bytes of text cut off its end.
    pub(crate) clamped: u64,
    /// Whether the log goes on inside this line, or may still do.
    pub(crate) unfinished: bool,
    /// The rule that folded it, if it stands for noise.
    pub(crate) folded: Option<&'static str>,
    pub(crate) changes: Changes,
    pub(crate) masked: u64,
}

/// A log, and how to read it.
#[derive(Debug)]
pub struct Reader<'m, S> {
    pub(crate) scope: Scope<S>,
    masker: Option<&'m Masker>,
}

impl<'m, S: Source> Reader<'m, S> {
    /// A reader of everything in `source`, without masking.
    pub fn new(source: S) -> Self {
        Self { scope: Scope::new(source), masker: None }
    }

    /// Masks the secrets that `masker` knows.
    #[must_use]
    pub fn mask(mut self, masker: &'m Masker) -> Self {
        self.masker = Some(masker);
        self
    }

    /// Reads one stream only.
    #[must_use]
    pub fn stream(mut self, stream: Stream) -> Self {
        self.scope.set_stream(Some(stream));
        self
    }

    /// Reads only bytes with these offsets.
    #[must_use]
    pub fn offsets(mut self, range: Range<u64>) -> Self {
        self.scope.narrow(range);
        self
    }

    /// Reads only what arrived at `time` (in microseconds) or later.
    pub fn since(mut self, time: u64) -> io::Result<Self> {
        let offset = self.scope.offset_at_time(time)?;
        self.scope.narrow(offset..u64::MAX);
        Ok(self)
    }

    /// Reads only what arrived before `time` (in microseconds).
    pub fn until(mut self, time: u64) -> io::Result<Self> {
        let offset = self.scope.offset_at_time(time)?;
        self.scope.narrow(0..offset);
        Ok(self)
    }

    /// The offsets that this reader reads.
    pub fn range(&self) -> Range<u64> {
        self.scope.range()
    }

    /// The units of `range`, whose ends are borders of `span`.
    pub(crate) fn units(
        &self,
        span: &Range<u64>,
        range: Range<u64>,
        longest: usize,
    ) -> io::Result<Vec<Unit>> {
        let Some(masker) = self.masker else {
            let sheet = self.sheet(span, &range)?;
            return Ok(sheet.units(&range, &[], longest));
        };
        let reach = masker.reach() as u64;
        let stretch = self.scope.stretch(span);
        let before = self.context_before(span, &stretch, range.start, reach)?;
        let after = self.context_after(span, &stretch, range.end, reach)?;
        let sheet = self.sheet(span, &(before..after))?;
        let edges = Edge {
            // Beyond these, bytes are missing that may be the rest of a secret.
            start: before == stretch.start && before > 0,
            end: after == stretch.end
                && (after < self.scope.source().len() || self.scope.source().is_open()),
        };
        let mut matches = masker.matches(&sheet.text, edges);
        // Only of the end of the log there may be more to come.
        let is_end = after == self.scope.source().len();
        // A line that has no end yet may still be written over, and what reaches into it with it.
        let settled = if self.scope.source().is_open() { sheet.ended() } else { sheet.text.len() };
        for found in &mut matches {
            found.open = is_end && (found.open || found.range.end > settled);
        }
        Ok(sheet.units(&range, &matches, longest))
    }

    fn context_before(
        &self,
        span: &Range<u64>,
        stretch: &Range<u64>,
        at: u64,
        reach: u64,
    ) -> io::Result<u64> {
        let wanted = at.saturating_sub(reach);
        if wanted >= span.start {
            self.scope.border_before(span, wanted)
        } else {
            self.scope.border_before(stretch, wanted.max(stretch.start))
        }
    }

    fn context_after(
        &self,
        span: &Range<u64>,
        stretch: &Range<u64>,
        at: u64,
        reach: u64,
    ) -> io::Result<u64> {
        let wanted = at.saturating_add(reach);
        if wanted <= span.end {
            self.scope.border_after(span, wanted)
        } else {
            self.scope.border_after(stretch, wanted.min(stretch.end))
        }
    }

    /// Sanitises a stretch, line by line. Parts of it may lie before or after the span.
    fn sheet(&self, span: &Range<u64>, range: &Range<u64>) -> io::Result<Sheet> {
        // Three bytes more, in case a character lies across the end.
        let stretch = self.scope.stretch(span);
        let slab = self.scope.slab(range.start..(range.end + 3).min(stretch.end))?;
        let mut sheet = Sheet { text: String::with_capacity(slab.bytes.len()), lines: Vec::new() };
        let mut sanitizer = Sanitizer::new();
        let mut start = range.start;
        while start < range.end {
            // Text before and after the span is context only; there a line is just a line.
            let section = [span.start, span.end, range.end];
            let section = section.into_iter().find(|&end| end > start).unwrap_or(range.end);
            let limit = if span.contains(&start) { hard_border(span, start) } else { u64::MAX };
            let limit = limit.min(section).min(range.end);
            start = sheet.add_line(&slab, start..limit, span, &mut sanitizer);
            if start == section && start < range.end {
                // Where the scope was cut out of the log, the terminal's state goes on.
                sanitizer.flush(&mut sheet.text);
            } else {
                sanitizer.finish(&mut sheet.text);
            }
            if let Some(line) = sheet.lines.last_mut() {
                line.end = sheet.text.len();
            }
        }
        let end = self.scope.range().end;
        for line in sheet.lines.iter_mut().rev() {
            if line.range.end == end && line.lines == 0 && line.bytes > 0 {
                line.lines = 1;
                line.unfinished = self.scope.ends_with_log();
            }
        }
        Ok(sheet)
    }
}

/// Sanitised text of a stretch, and the lines it is made of.
#[derive(Debug)]
struct Sheet {
    text: String,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    range: Range<u64>,
    /// Where its text ends, line end included.
    end: usize,
    lines: u64,
    bytes: usize,
    unfinished: bool,
    changes: Changes,
}

impl Sheet {
    /// Adds the line, or the piece of one, at the start of `within`; tells where it ends.
    fn add_line(
        &mut self,
        slab: &Slab,
        within: Range<u64>,
        span: &Range<u64>,
        sanitizer: &mut Sanitizer,
    ) -> u64 {
        let mut from = slab.index_at(within.start);
        let limit = slab.index_at(within.end);
        let newline = memchr::memchr(b'\n', &slab.bytes[from..limit]).map(|index| from + index);
        let to = newline.map_or(limit, |index| index + 1);
        let end = newline.map_or(within.end, |index| slab.end_of(index));
        let bytes = to - from;
        // A cut inside a line may go through a character, which belongs to the piece before.
        if within.start != span.start && within.start.is_multiple_of(BLOCK) {
            from += continuation(&slab.bytes[from..to]);
        }
        let earlier = sanitizer.changes();
        sanitizer.feed(&slab.bytes[from..to], &mut self.text);
        if newline.is_none() && end.is_multiple_of(BLOCK) && end < span.end {
            let rest = continuation(&slab.bytes[to..]);
            sanitizer.feed(&slab.bytes[to..to + rest], &mut self.text);
        }
        self.lines.push(Line {
            range: within.start..end,
            end: self.text.len(),
            lines: u64::from(newline.is_some()),
            bytes,
            unfinished: false,
            changes: since(sanitizer.changes(), earlier),
        });
        end
    }

    /// Where the text of the last line begins if that has no end, else where all text ends.
    fn ended(&self) -> usize {
        let last = self.lines.iter().rposition(|line| line.bytes > 0);
        match last.map(|last| (last, self.lines[last].end)) {
            Some((last, end)) if !self.text[..end].ends_with('\n') => {
                last.checked_sub(1).map_or(0, |before| self.lines[before].end)
            }
            _ => self.text.len(),
        }
    }

    /// The lines inside `range` with the matches masked. A secret that goes over a line end takes
    /// the line end with it; its replacement stands where it begins, and nowhere else, so that
    /// pages read one after the other give the same text as all at once.
    fn units(&self, range: &Range<u64>, matches: &[Match], longest: usize) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut start = 0;
        let mut first = 0;
        for line in &self.lines {
            let text = start..line.end;
            start = line.end;
            while matches.get(first).is_some_and(|found| found.range.end <= text.start) {
                first += 1;
            }
            if line.range.start < range.start || line.range.end > range.end {
                continue;
            }
            let mut unit = Unit {
                range: line.range.clone(),
                lines: line.lines,
                unfinished: line.unfinished,
                changes: line.changes,
                ..Unit::default()
            };
            let mut at = text.start;
            for found in matches.iter().skip(first) {
                if found.range.start >= text.end {
                    break;
                }
                unit.text.push_str(&self.text[at..found.range.start.max(at)]);
                unit.unfinished |= found.open;
                if found.range.start >= text.start {
                    unit.text.push_str(&found.replacement);
                    unit.masked += 1;
                }
                at = found.range.end.min(text.end);
            }
            unit.text.push_str(&self.text[at..text.end]);
            unit.newline = at < text.end && unit.text.ends_with('\n');
            if unit.newline {
                unit.text.pop();
            }
            unit.clamp(longest);
            units.push(unit);
        }
        units
    }
}

impl Unit {
    /// Cuts the text to `longest` bytes, at a character.
    pub(crate) fn clamp(&mut self, longest: usize) {
        if self.text.len() > longest {
            let keep = self.text.floor_char_boundary(longest);
            self.clamped += (self.text.len() - keep) as u64;
            self.text.truncate(keep);
            self.text.shrink_to_fit();
        }
    }
}

impl Unit {
    /// Cuts the text to `longest` bytes so that what stands at `at` stays in sight.
    pub(crate) fn clamp_around(&mut self, at: usize, longest: usize) {
        const MARK: &str = "…";
        // What comes before helps to understand it.
        let from = self.text.floor_char_boundary(at.saturating_sub(longest / 4));
        if self.text.len() > longest && at > longest / 2 && longest > 4 * MARK.len() {
            self.text.replace_range(..from, MARK);
            self.clamped += from as u64;
        }
        self.clamp(longest);
    }
}

/// How many bytes at the start cannot start a character.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count()
}

fn since(now: Changes, earlier: Changes) -> Changes {
    Changes {
        invalid_utf8: now.invalid_utf8 - earlier.invalid_utf8,
        sequences: now.sequences - earlier.sequences,
        controls: now.controls - earlier.controls,
        hidden: now.hidden - earlier.hidden,
        folded: now.folded - earlier.folded,
    }
}
