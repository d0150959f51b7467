//! A page of lines out of anything that can be read, in constant memory.

use std::fmt::Write as _;
use std::io::{self, BufRead};

use memchr::memchr;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::anchor::Anchor;
use crate::call::Stop;
use crate::select::LineRange;
use crate::text::{self, Encoding, LineEnding};

/// What the lines of a page are made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// A text file; its lines can be edited by their anchors.
    File,
    /// A notebook as text; its lines can be edited by their anchors.
    Notebook,
    /// A document that was converted; its format.
    Document(String),
    /// A file in an archive.
    ArchiveMember,
    /// Rows of a database.
    Database,
    /// A web page; where it came from in the end.
    Url(String),
    /// A file's bytes in hexadecimal, 16 a line.
    Hex,
    /// Something the caller resolved.
    Resource,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TextLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its anchor for edits, where it can be edited.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub anchor: Option<Anchor>,
    /// Its text, without line break.
    pub text: String,
}

/// Lines, and what is said about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TextPage {
    /// What the lines are made from.
    pub source: TextSource,
    /// The lines.
    pub lines: Vec<TextLine>,
    /// How many lines there are in all; unknown for what is too large to be counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total_lines: Option<u64>,
    /// The line to go on with, if there are more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_line: Option<u64>,
    /// How its characters are written.
    pub encoding: Encoding,
    /// How its lines end, as far as was read.
    pub line_ending: LineEnding,
    /// Whether the last line ends with a line break; unknown unless the end was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub final_newline: Option<bool>,
    /// Lines whose end was cut off because they are longer than the whole budget.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub clamped_lines: Vec<u64>,
    /// Somebody wrote to the file while it was read.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub changed_while_read: bool,
    /// Spans that a summary left out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub folded: Vec<LineRange>,
    /// What else is to be known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStyle {
    /// `41th|text`, where lines have anchors.
    Anchors,
    /// `41|text`.
    Numbers,
    /// The text alone.
    Plain,
}

impl TextPage {
    /// The lines as text; `…` stands for what is left out between them.
    pub fn text(&self, style: LineStyle) -> String {
        let mut text = String::new();
        let mut last = None;
        for line in &self.lines {
            if last.is_some_and(|last| line.number > last + 1) {
                text.push_str("…\n");
            }
            last = Some(line.number);
            match (style, &line.anchor) {
                (LineStyle::Plain, _) => {}
                (LineStyle::Anchors, Some(anchor)) => {
                    let _ = write!(text, "{anchor}|");
                }
                _ => {
                    let _ = write!(text, "{}|", line.number);
                }
            }
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }
}

/// What a page may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLimits {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// Lines are counted to the end of what is read if no more than this is left.
const COUNTED_BYTES: u64 = 64 << 20;

/// Lines as they come in.
pub(crate) struct Collected {
    pub(crate) lines: Vec<(u64, String)>,
    pub(crate) total: Option<u64>,
    pub(crate) next: Option<u64>,
    pub(crate) final_newline: Option<bool>,
    pub(crate) clamped: Vec<u64>,
    pub(crate) has_crlf: bool,
    pub(crate) has_lf: bool,
    pub(crate) has_legacy: bool,
}

impl Collected {
    pub(crate) fn line_ending(&self) -> LineEnding {
        match (self.has_lf, self.has_crlf) {
            (true, true) => LineEnding::Mixed,
            (false, true) => LineEnding::CrLf,
            _ => LineEnding::Lf,
        }
    }
}

/// Reads the lines of a range, as far as the limits go. `size` is how much there is to read.
pub(crate) fn collect(
    reader: &mut dyn BufRead,
    size: u64,
    range: LineRange,
    limits: PageLimits,
    stop: &Stop,
) -> Result<Result<Collected, io::Error>, Error> {
    let mut collector = Collector::new(range, limits);
    loop {
        stop.check()?;
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        if chunk.is_empty() {
            collector.end();
            break;
        }
        let used = chunk.len();
        collector.chunk(chunk);
        reader.consume(used);
        if collector.is_full() && size.saturating_sub(collector.read) > COUNTED_BYTES {
            break;
        }
    }
    Ok(Ok(collector.collected))
}

struct Collector {
    range: LineRange,
    limits: PageLimits,
    collected: Collected,
    /// The line that is being read, and what of it was read.
    number: u64,
    line: Vec<u8>,
    is_clamped: bool,
    /// Something of the line was read.
    is_begun: bool,
    bytes: usize,
    full: bool,
    read: u64,
}

impl Collector {
    fn new(range: LineRange, limits: PageLimits) -> Self {
        let collected = Collected {
            lines: Vec::new(),
            total: None,
            next: None,
            final_newline: None,
            clamped: Vec::new(),
            has_crlf: false,
            has_lf: false,
            has_legacy: false,
        };
        Self {
            range,
            limits,
            collected,
            number: 1,
            line: Vec::new(),
            is_clamped: false,
            is_begun: false,
            bytes: 0,
            full: false,
            read: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.full || self.range.end.is_some_and(|end| self.number > end)
    }

    fn is_wanted(&self) -> bool {
        self.number >= self.range.start && !self.is_full()
    }

    fn chunk(&mut self, mut chunk: &[u8]) {
        self.read += chunk.len() as u64;
        while !chunk.is_empty() {
            let end = memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            self.is_begun = true;
            if self.is_wanted() {
                let room = self.limits.bytes.saturating_sub(self.line.len());
                self.line.extend_from_slice(&part[..part.len().min(room)]);
                self.is_clamped |= part.len() > room;
            }
            let Some(end) = end else { return };
            self.finish_line(true);
            chunk = &chunk[end + 1..];
        }
    }

    fn finish_line(&mut self, ended: bool) {
        if self.is_wanted() {
            let bytes = std::mem::take(&mut self.line);
            let is_crlf = ended && !self.is_clamped && bytes.ends_with(b"\r");
            let content = if is_crlf { &bytes[..bytes.len() - 1] } else { &bytes[..] };
            self.collected.has_crlf |= is_crlf;
            self.collected.has_lf |= ended && !is_crlf;
            let cost = content.len() + 1;
            let is_first = self.collected.lines.is_empty();
            let too_many = self.collected.lines.len() >= self.limits.lines;
            if !is_first && (too_many || self.bytes + cost > self.limits.bytes) {
                self.full = true;
                self.collected.next = Some(self.number);
            } else {
                self.bytes += cost;
                let (text, is_utf8) = text::decode_line(content);
                self.collected.has_legacy |= !is_utf8 && !self.is_clamped;
                if self.is_clamped {
                    self.collected.clamped.push(self.number);
                }
                self.collected.lines.push((self.number, text));
            }
        }
        self.is_clamped = false;
        self.is_begun = false;
        self.number += 1;
    }

    fn end(&mut self) {
        let ended = !self.is_begun;
        if self.is_begun {
            self.finish_line(false);
        }
        self.collected.total = Some(self.number - 1);
        self.collected.final_newline = Some(ended);
    }
}
