//! What is kept of the matches of one file while it is searched.

use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::{SearchOutput, SearchRequest};
use crate::anchor::Anchor;
use crate::text;

/// Longer lines are cut.
const LONGEST_LINE_CHARS: usize = 1024;

/// A line that may be shown.
#[derive(Debug)]
pub(super) struct KeptLine {
    pub(super) number: usize,
    pub(super) anchor: Anchor,
    pub(super) text: String,
    pub(super) is_clamped: bool,
    /// Which match of the file begins here.
    pub(super) ordinal: Option<usize>,
    /// It belongs to the match that began before.
    pub(super) continues: bool,
}

pub(super) struct FileSink {
    output: SearchOutput,
    /// So many matches of the file can be on the page.
    keep: usize,
    after: usize,
    pub(super) matches: u64,
    pub(super) lines: Vec<KeptLine>,
    pub(super) is_binary: bool,
    last_kept_match: usize,
}

impl FileSink {
    pub(super) fn new(request: &SearchRequest, keep: usize) -> Self {
        Self {
            output: request.output,
            keep,
            after: request.after,
            matches: 0,
            lines: Vec::new(),
            is_binary: false,
            last_kept_match: 0,
        }
    }

    fn keeps_more(&self) -> bool {
        self.output == SearchOutput::Lines
            && usize::try_from(self.matches).is_ok_and(|matches| matches < self.keep)
    }

    fn push(&mut self, number: usize, bytes: &[u8], ordinal: Option<usize>, continues: bool) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let (mut text, _) = text::decode_line(bytes);
        let anchor = Anchor::new(number, &text);
        let cut = text.char_indices().nth(LONGEST_LINE_CHARS).map(|(at, _)| at);
        if let Some(at) = cut {
            text.truncate(at);
            text.push('…');
        }
        self.lines.push(KeptLine {
            number,
            anchor,
            text,
            is_clamped: cut.is_some(),
            ordinal,
            continues,
        });
    }
}

fn number(line: Option<u64>) -> usize {
    line.and_then(|line| usize::try_from(line).ok()).unwrap_or_default()
}

impl Sink for FileSink {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.keeps_more() {
            let first = number(found.line_number());
            let ordinal = usize::try_from(self.matches).unwrap_or(usize::MAX);
            let mut last = first;
            for (at, line) in found.lines().enumerate() {
                last = first + at;
                self.push(last, line, (at == 0).then_some(ordinal), at > 0);
            }
            self.last_kept_match = last;
        }
        self.matches += 1;
        Ok(self.output != SearchOutput::Files)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        let at = number(line.line_number());
        if self.keeps_more() || at <= self.last_kept_match + self.after {
            self.push(at, line.bytes(), None, false);
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.is_binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}
