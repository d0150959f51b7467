//! What a reader gets: parts of text, and parts that say what is missing.
//!
//! Data and notices never share a part, so no program can print something that a caller of
//! [`Part`] would take for a notice. In the flat text of [`to_text`] a notice is a line of its own
//! that starts with `[umbo: `; if the data itself contains that, the marker changes to `[umbo-2: `
//! and so on, so that it stays unambiguous there too.

use std::fmt::Write as _;
use std::ops::Range;

/// One piece of a view. The `offset` ranges of a view's parts follow each other without a hole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text to read: sanitised, masked, cut at line borders.
    Text {
        /// The bytes of the log it was made from.
        offset: Range<u64>,
        /// The text.
        text: String,
    },
    /// The rest of an overlong line. It follows the line's beginning, whose range covers it.
    Clamped {
        /// The bytes of the log that the whole line was made from.
        offset: Range<u64>,
        /// Bytes of text that were cut.
        bytes: u64,
    },
    /// Bytes that are in the log and not in this view.
    Omitted {
        /// Where to read them.
        offset: Range<u64>,
        /// How many bytes of log that is.
        bytes: u64,
        /// How many lines, if they were counted.
        lines: Option<u64>,
    },
    /// Bytes that are in nobody's reach: the log did not keep them.
    Lost {
        /// Where they were.
        offset: Range<u64>,
        /// How many.
        bytes: u64,
    },
    /// Lines of known noise, counted instead of shown.
    Folded {
        /// Where to read them.
        offset: Range<u64>,
        /// How many bytes of log that is.
        bytes: u64,
        /// How many lines.
        lines: u64,
        /// The rule that folded them.
        rule: &'static str,
    },
}

impl Part {
    /// The bytes of the log that this part stands for.
    pub fn offset(&self) -> Range<u64> {
        match self {
            Self::Text { offset, .. }
            | Self::Clamped { offset, .. }
            | Self::Omitted { offset, .. }
            | Self::Lost { offset, .. }
            | Self::Folded { offset, .. } => offset.clone(),
        }
    }

    /// The notice of a part that is not text.
    pub(crate) fn notice(&self, marker: &str, notices: Notices) -> Option<String> {
        match (self, notices) {
            (Self::Text { .. }, _) | (_, Notices::Silent) => return None,
            (_, Notices::Short) => return Some(format!("[{marker}: cut]")),
            (_, Notices::Dots) => return Some("…".to_owned()),
            (_, Notices::Told) => {}
        }
        let text = match self {
            Self::Text { .. } => return None,
            Self::Clamped { bytes, .. } => format!("[{marker}: {bytes} more bytes in this line]"),
            Self::Omitted { offset, bytes, lines } => {
                let lines = match lines {
                    Some(1) => "1 line, ".to_owned(),
                    Some(lines) => format!("{lines} lines, "),
                    None => "lines not counted, ".to_owned(),
                };
                let Range { start, end } = offset;
                format!("[{marker}: omitted {lines}{bytes} bytes; read offset {start}..{end}]")
            }
            Self::Lost { offset: Range { start, end }, bytes } => {
                format!("[{marker}: {bytes} bytes were not kept; offset {start}..{end}]")
            }
            Self::Folded { lines, rule, offset, .. } => {
                let Range { start, end } = offset;
                format!("[{marker}: folded {lines} lines of {rule}; read offset {start}..{end}]")
            }
        };
        Some(text)
    }
}

/// How notices look in flat text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Notices {
    /// A line each, with all they know.
    #[default]
    Told,
    /// A word each, because the budget is small. The parts have the rest.
    Short,
    /// Three dots each, because the budget is very small.
    Dots,
    /// Left out, because the budget is smaller than a notice. The parts still have them.
    Silent,
}

/// The marker that starts notices: the first that no text contains.
pub(crate) fn marker(parts: &[Part]) -> String {
    let mut marker = "umbo".to_owned();
    let mut number = 1_u64;
    let contains = |marker: &str| {
        let start = format!("[{marker}:");
        let finder = memchr::memmem::Finder::new(&start);
        parts.iter().any(|part| match part {
            Part::Text { text, .. } => finder.find(text.as_bytes()).is_some(),
            _ => false,
        })
    };
    while contains(&marker) {
        number += 1;
        marker.clear();
        let _ = write!(marker, "umbo-{number}");
    }
    marker
}

/// Flat text of parts. Those that begin at an offset in `similar` leave out lines like those that
/// are shown.
pub(crate) fn to_text(parts: &[Part], notices: Notices, similar: &[u64]) -> String {
    let marker = marker(parts);
    let mut out = String::new();
    for part in parts {
        if let Part::Text { text, .. } = part {
            out.push_str(text);
        }
        let Some(mut notice) = part.notice(&marker, notices) else { continue };
        if matches!(part, Part::Omitted { .. }) && similar.contains(&part.offset().start) {
            notice = notice.replacen(" line", " similar line", 1);
        }
        if matches!(part, Part::Clamped { .. }) {
            // Stays on the line that it is about.
            out.push(' ');
            out.push_str(&notice);
        } else {
            push_line(&mut out, &notice);
        }
    }
    out
}

/// Adds a line of its own.
pub(crate) fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(line);
    out.push('\n');
}
