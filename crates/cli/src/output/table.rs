//! Tables without lines, as wide as the terminal.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use umbo_view::visible_line;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::links::{has_links, linked};
use super::{cut, has_colour, width};
use crate::failure::Failure;

/// Between two columns.
const GAP: usize = 2;
/// Less room than this is too little to wrap a text in.
const NARROWEST: usize = 24;

/// What a cell says beside its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Busy,
    Faint,
}

impl Tone {
    /// The sequence that a terminal shows it by.
    pub(crate) fn begin(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Busy => "\x1b[36m",
            Self::Faint => "\x1b[2m",
        }
    }
}

/// A cell of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
    file: Option<PathBuf>,
}

impl Cell {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn tone(&self) -> Tone {
        self.tone
    }

    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self { text: text.into(), tone, file: None }
    }

    /// A text that stands for a file, which a terminal may open.
    pub(crate) fn file(text: impl Into<String>, file: &Path) -> Self {
        let file = std::path::absolute(file).ok();
        Self { text: text.into(), tone: Tone::Plain, file }
    }

    /// As a terminal gets it: no secret, one line.
    fn shown(self) -> Result<Self, Failure> {
        let masked = crate::secrets::shared()?.mask_text(&self.text);
        // A link would say what the mask hides.
        let file = self.file.filter(|_| masked == self.text);
        Ok(Self { text: visible_line(&masked).into_owned(), tone: self.tone, file })
    }

    /// A part of its text, with its colour and its link.
    fn dressed(&self, text: &str, look: Look) -> String {
        let text = match &self.file {
            Some(file) if look.has_links => linked(file, text),
            _ => text.to_owned(),
        };
        match self.tone {
            Tone::Plain => text,
            tone if look.has_colour => format!("{}{text}\x1b[0m", tone.begin()),
            _ => text,
        }
    }
}

/// What the terminal knows.
#[derive(Debug, Clone, Copy)]
struct Look {
    has_colour: bool,
    has_links: bool,
}

impl Look {
    fn here() -> Self {
        Self { has_colour: has_colour(), has_links: has_links() }
    }
}

impl<Text: Into<String>> From<Text> for Cell {
    fn from(text: Text) -> Self {
        Self::toned(text, Tone::Plain)
    }
}

/// Prints a path on a line of its own.
pub(crate) fn file(text: &str, file: &Path) -> Result<(), Failure> {
    let cell = Cell::file(text, file).shown()?;
    writeln!(io::stdout().lock(), "{}", cell.dressed(&cell.text, Look::here()))?;
    Ok(())
}

/// A table: the columns aligned, each line cut at the width of the terminal. No secret is in it, and a
/// cell is one line.
pub(crate) fn table<Item: Into<Cell> + Clone>(
    rows: &[Vec<Item>],
    width: Option<usize>,
) -> Result<(), Failure> {
    let (rows, widths) = prepared(rows)?;
    let look = Look::here();
    for row in &rows {
        let filled = row.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
        let mut left = width.unwrap_or(usize::MAX);
        let mut text = String::new();
        for (column, cell) in row[..filled].iter().enumerate() {
            let shown = cut(&cell.text, left);
            text.push_str(&cell.dressed(&shown, look));
            left = left.saturating_sub(shown.width());
            if column + 1 < filled {
                let gap = (widths[column] - cell.text.width() + GAP).min(left);
                text.extend(std::iter::repeat_n(' ', gap));
                left -= gap;
            }
        }
        writeln!(io::stdout().lock(), "{text}")?;
    }
    Ok(())
}

/// A table whose last column is sentences: on a terminal it goes on below itself instead of being cut.
pub(crate) fn wrapped<Item: Into<Cell> + Clone>(rows: &[Vec<Item>]) -> Result<(), Failure> {
    let Some(columns) = width() else { return table(rows, None) };
    let (rows, widths) = prepared(rows)?;
    let last = widths.len().saturating_sub(1);
    let mut before: usize = widths[..last].iter().map(|width| width + GAP).sum();
    // Where the other columns leave no room, it stands below them.
    let is_below = columns < before + NARROWEST && before > 0;
    if is_below {
        before = GAP * 2;
    }
    let room = columns.saturating_sub(before).max(1);
    let look = Look::here();
    for row in &rows {
        let mut text = String::new();
        for (cell, width) in row.iter().zip(&widths[..last]) {
            text.push_str(&cell.dressed(&cell.text, look));
            text.extend(std::iter::repeat_n(' ', width - cell.text.width() + GAP));
        }
        if let Some(cell) = row.get(last).filter(|cell| !cell.text.is_empty()) {
            for (at, line) in wrap(&cell.text, room).iter().enumerate() {
                if at > 0 || is_below {
                    text.truncate(text.trim_end().len());
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', before));
                }
                text.push_str(&cell.dressed(line, look));
            }
        }
        writeln!(io::stdout().lock(), "{}", text.trim_end())?;
    }
    Ok(())
}

/// The cells as they are shown, and how wide each column is.
fn prepared<Item: Into<Cell> + Clone>(
    rows: &[Vec<Item>],
) -> Result<(Vec<Vec<Cell>>, Vec<usize>), Failure> {
    let row = |row: &Vec<Item>| row.iter().map(|cell| cell.clone().into().shown()).collect();
    let rows: Vec<Vec<Cell>> = rows.iter().map(row).collect::<Result<_, _>>()?;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.width()).max()
    };
    let widths = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    Ok((rows, widths))
}

/// The lines of a text that is to be no wider than this. A longer word is broken.
pub(super) fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let line = lines.last_mut().map_or(0, |line| line.width());
            let gap = usize::from(line > 0);
            if line + gap + word.width() <= room {
                if let Some(line) = lines.last_mut() {
                    line.extend(std::iter::repeat_n(' ', gap));
                    line.push_str(word);
                }
                break;
            }
            if line > 0 {
                lines.push(String::new());
                continue;
            }
            let (head, rest) = word.split_at(fitting(word, room));
            if let Some(line) = lines.last_mut() {
                line.push_str(head);
            }
            word = rest;
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

/// How many bytes of a word there is room for: those of one character at least.
fn fitting(word: &str, room: usize) -> usize {
    let mut width = 0;
    let mut ends = word.char_indices().map(|(at, character)| {
        width += character.width().unwrap_or(0);
        (at + character.len_utf8(), width)
    });
    let first = ends.next().map_or(0, |(end, _)| end);
    ends.take_while(|(_, width)| *width <= room).last().map_or(first, |(end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_there_is_room_and_no_letter_is_lost() {
        let text = "a stop empties even a fork storm, 日本語の長い単語 and/a/path/that/is/longer";
        for room in 4..40 {
            let lines = wrap(text, room);
            assert!(lines.iter().all(|line| line.width() <= room), "{room}: {lines:?}");
            assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""), "{room}");
        }
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(wrap("two words", 9), ["two words"]);
        assert_eq!(wrap("two words", 8), ["two", "words"]);
    }
}
