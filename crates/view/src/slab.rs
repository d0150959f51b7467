//! Reading: the bytes of a scope of the log, and the borders between its lines.
//!
//! A [`Scope`] is what a reader asked for: a range of offsets, perhaps of one stream, minus the
//! gap. A [`Slab`] is a stretch of its bytes in memory that still knows their offsets.
//!
//! Borders are where text may be cut. There is one after every newline, and one at each multiple
//! of [`BLOCK`] whose block before it has no newline at all. So a line of any length falls into
//! pieces shorter than two blocks, the same pieces for every reader, and finding a border near
//! any offset costs at most two blocks of reading, however large the log is.

use std::io;
use std::ops::Range;

use crate::source::{Source, Stream};

/// The stride of borders in text without newlines.
pub(crate) const BLOCK: u64 = 256 * 1024;

/// Part of a log, as one reader sees it.
#[derive(Debug)]
pub(crate) struct Scope<S> {
    source: S,
    stream: Option<Stream>,
    range: Range<u64>,
    gap: Option<Range<u64>>,
    /// The length of the log when the scope was made.
    len: u64,
}

/// Bytes of a scope in memory.
#[derive(Debug, Default)]
pub(crate) struct Slab {
    pub(crate) bytes: Vec<u8>,
    /// Where each piece starts: index in `bytes`, offset in the log.
    pieces: Vec<(usize, u64)>,
}

impl Slab {
    /// The offset just after the byte at `index`.
    pub(crate) fn end_of(&self, index: usize) -> u64 {
        let piece = self.pieces.partition_point(|&(start, _)| start <= index).saturating_sub(1);
        self.pieces.get(piece).map_or(0, |&(start, offset)| offset + (index - start) as u64 + 1)
    }

    /// The index of the first byte at or after `offset`.
    pub(crate) fn index_at(&self, offset: u64) -> usize {
        let after = self.pieces.partition_point(|&(_, start)| start <= offset);
        let Some(&(start, at)) = after.checked_sub(1).and_then(|piece| self.pieces.get(piece))
        else {
            return 0;
        };
        let end = self.pieces.get(after).map_or(self.bytes.len(), |&(next, _)| next);
        usize::try_from(offset - at).map_or(end, |distance| (start + distance).min(end))
    }
}

impl<S: Source> Scope<S> {
    /// Everything in the log.
    pub(crate) fn new(source: S) -> Self {
        let range = 0..source.len();
        let gap = source
            .gap()
            .map(|gap| gap.start.min(range.end)..gap.end.min(range.end))
            .filter(|gap| gap.start < gap.end);
        Self { source, stream: None, len: range.end, range, gap }
    }

    pub(crate) fn source(&self) -> &S {
        &self.source
    }

    pub(crate) fn set_stream(&mut self, stream: Option<Stream>) {
        self.stream = stream;
    }

    /// Keeps only offsets inside `range`.
    pub(crate) fn narrow(&mut self, range: Range<u64>) {
        let start = self.range.start.max(range.start).min(self.range.end);
        self.range = start..self.range.end.min(range.end).max(start);
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Whether the scope goes on to the end of the log, so that more may still come.
    pub(crate) fn ends_with_log(&self) -> bool {
        self.range.end == self.len
    }

    /// The part of the gap that lies in the scope.
    pub(crate) fn gap(&self) -> Option<Range<u64>> {
        let gap = self.gap.as_ref()?;
        let clipped = gap.start.max(self.range.start)..gap.end.min(self.range.end);
        (clipped.start < clipped.end).then_some(clipped)
    }

    /// The readable stretch of the scope around `at`, or the next one after it.
    pub(crate) fn span(&self, at: u64) -> Range<u64> {
        match self.gap() {
            Some(gap) if at < gap.start => self.range.start..gap.start,
            Some(gap) => gap.end..self.range.end,
            None => self.range.clone(),
        }
    }

    /// The readable stretch of the scope that ends at or around `at`.
    pub(crate) fn span_before(&self, at: u64) -> Range<u64> {
        match self.gap() {
            Some(gap) if at <= gap.end => self.range.start..gap.start,
            Some(gap) => gap.end..self.range.end,
            None => self.range.clone(),
        }
    }

    /// The readable stretch of the whole log around a span, for context outside of the scope.
    pub(crate) fn stretch(&self, span: &Range<u64>) -> Range<u64> {
        match &self.gap {
            Some(gap) if span.end <= gap.start => 0..gap.start,
            Some(gap) => gap.end..self.source.len(),
            None => 0..self.source.len(),
        }
    }

    /// The bytes of `range` that belong to the scope's stream.
    pub(crate) fn slab(&self, range: Range<u64>) -> io::Result<Slab> {
        let mut slab = Slab::default();
        self.read_into(range, &mut slab)?;
        Ok(slab)
    }

    /// Like [`Scope::slab`], into a slab that is used again.
    pub(crate) fn read_into(&self, range: Range<u64>, slab: &mut Slab) -> io::Result<()> {
        slab.bytes.clear();
        slab.pieces.clear();
        if range.start >= range.end {
            return Ok(());
        }
        let Some(stream) = self.stream else {
            return self.read_piece(range, slab);
        };
        let runs = self.source.runs(range.start, range.end)?;
        let mut at = 0;
        while at < runs.len() {
            // Neighbouring runs of the stream are one read.
            let mut end = at + 1;
            while end < runs.len() && runs[end].stream == runs[at].stream {
                end += 1;
            }
            if runs[at].stream == stream {
                let from = runs[at].start.max(range.start);
                let to = runs.get(end).map_or(range.end, |next| next.start.min(range.end));
                if from < to {
                    self.read_piece(from..to, slab)?;
                }
            }
            at = end;
        }
        Ok(())
    }

    fn read_piece(&self, range: Range<u64>, slab: &mut Slab) -> io::Result<()> {
        let start = slab.bytes.len();
        slab.pieces.push((start, range.start));
        let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
        slab.bytes.resize(start + length, 0);
        let mut done = 0;
        while done < length {
            let into = &mut slab.bytes[start + done..];
            match self.source.read_at(range.start + done as u64, into) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        slab.bytes.truncate(start + done);
        Ok(())
    }

    /// The last border at or before `at`, inside `span`.
    pub(crate) fn border_before(&self, span: &Range<u64>, at: u64) -> io::Result<u64> {
        if at <= span.start {
            return Ok(span.start);
        }
        if at >= span.end {
            return Ok(span.end);
        }
        let block = (at - 1) / BLOCK * BLOCK;
        if let Some(border) = self.last_newline(block.max(span.start)..at)? {
            return Ok(border);
        }
        if at.is_multiple_of(BLOCK) {
            return Ok(at);
        }
        if block <= span.start {
            return Ok(span.start);
        }
        let before = block.saturating_sub(BLOCK).max(span.start);
        Ok(self.last_newline(before..block)?.unwrap_or(block))
    }

    /// The first border at or after `at`, inside `span`.
    pub(crate) fn border_after(&self, span: &Range<u64>, at: u64) -> io::Result<u64> {
        let before = self.border_before(span, at)?;
        if before >= at {
            return Ok(before);
        }
        let stop = hard_border(span, before).min(span.end);
        Ok(self.first_newline(at..stop)?.unwrap_or(stop))
    }

    /// Whether from the border `start` on there is nothing but the beginning of a line of a log that
    /// still grows.
    pub(crate) fn is_one_open_line(&self, start: u64) -> io::Result<bool> {
        let span = self.span(start);
        let is_last = span.start <= start && span.end == self.range.end && self.ends_with_log();
        if !is_last || !self.source.is_open() || span.end >= hard_border(&span, start) {
            return Ok(false);
        }
        Ok(self.first_newline(start..span.end)?.is_none())
    }

    /// The offset after the last newline in `range`, reading backwards in growing steps.
    fn last_newline(&self, range: Range<u64>) -> io::Result<Option<u64>> {
        let mut step = 4 * 1024;
        let mut end = range.end;
        while end > range.start {
            let start = end.saturating_sub(step).max(range.start);
            let slab = self.slab(start..end)?;
            if let Some(index) = memchr::memrchr(b'\n', &slab.bytes) {
                return Ok(Some(slab.end_of(index)));
            }
            end = start;
            step *= 4;
        }
        Ok(None)
    }

    fn first_newline(&self, range: Range<u64>) -> io::Result<Option<u64>> {
        let mut step = 4 * 1024;
        let mut start = range.start;
        while start < range.end {
            let end = (start + step).min(range.end);
            let slab = self.slab(start..end)?;
            if let Some(index) = memchr::memchr(b'\n', &slab.bytes) {
                return Ok(Some(slab.end_of(index)));
            }
            start = end;
            step *= 4;
        }
        Ok(None)
    }

    /// Newlines in `range`, plus one if the scope ends there inside a line.
    pub(crate) fn count_lines(&self, range: Range<u64>) -> io::Result<u64> {
        let mut lines = 0;
        let mut slab = Slab::default();
        let mut start = range.start;
        let mut last = None;
        while start < range.end {
            let end = (start + BLOCK).min(range.end);
            self.read_into(start..end, &mut slab)?;
            lines += memchr::memchr_iter(b'\n', &slab.bytes).count() as u64;
            last = slab.bytes.last().copied().or(last);
            start = end;
        }
        let unfinished = range.end == self.range.end && last.is_some_and(|byte| byte != b'\n');
        Ok(lines + u64::from(unfinished))
    }

    /// Where the line of this number starts, counted from 1 in the scope. The lines of a gap do not
    /// count.
    pub(crate) fn line_start(&self, number: u64) -> io::Result<Option<u64>> {
        let mut before = number.saturating_sub(1);
        let mut at = self.range.start;
        let mut slab = Slab::default();
        while before > 0 && at < self.range.end {
            let span = self.span(at);
            at = at.max(span.start);
            let end = (at + BLOCK).min(span.end);
            self.read_into(at..end, &mut slab)?;
            for index in memchr::memchr_iter(b'\n', &slab.bytes) {
                before -= 1;
                if before == 0 {
                    return Ok(Some(slab.end_of(index)).filter(|&start| start < self.range.end));
                }
            }
            at = end;
        }
        Ok(Some(at).filter(|_| before == 0 && at < self.range.end))
    }

    /// The offset at which time reaches `time`: the start of the first run that is not earlier.
    pub(crate) fn offset_at_time(&self, time: u64) -> io::Result<u64> {
        let (mut low, mut high) = (0, self.source.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let runs = self.source.runs(middle, middle + 1)?;
            match runs.first() {
                Some(run) if run.time >= time => high = run.start.min(middle),
                _ => low = middle + 1,
            }
        }
        Ok(low)
    }
}

/// Where a line that starts at the border `start` is cut if no newline comes before.
pub(crate) fn hard_border(span: &Range<u64>, start: u64) -> u64 {
    let block = start / BLOCK;
    // A start inside a block is the end of a newline in that block, which then has no border at
    // its end; the first start of a span is not.
    let whole = start.is_multiple_of(BLOCK) || start == span.start;
    (block + if whole { 1 } else { 2 }) * BLOCK
}
