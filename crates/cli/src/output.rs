//! The only place that prints. Data goes to standard output, talk to standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Whether answers are for programs or for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    /// The format that `--json`, or its absence, asks for.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// Prints a line of data.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{text}")?;
    Ok(())
}

/// Prints raw data.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}

/// Prints raw bytes of a job's standard error.
pub(crate) fn error_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(bytes)?;
    stderr.flush()?;
    Ok(())
}

/// Prints a value for programs: one line of JSON, no secret in any of its texts.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut value = serde_json::to_value(value).map_err(Failure::new)?;
    mask(&mut value, crate::secrets::shared()?);
    line(value)
}

/// Prints a value as it is, for somebody who asked to see the secrets in it.
pub(crate) fn json_unmasked(value: &impl Serialize) -> Result<(), Failure> {
    line(serde_json::to_string(value).map_err(Failure::new)?)
}

fn mask(value: &mut serde_json::Value, masker: &umbo_view::mask::Masker) {
    match value {
        serde_json::Value::String(text) => *text = masker.mask_text(text),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|each| mask(each, masker)),
        serde_json::Value::Object(fields) => {
            fields.values_mut().for_each(|each| mask(each, masker));
        }
        _ => {}
    }
}

/// Says something to the person, who may not be there. It may quote a command or its output; no
/// secret is in it.
pub(crate) fn talk(text: impl fmt::Display) {
    let text = crate::secrets::hidden(&text.to_string());
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The text without anything that could move the cursor, change colours or turn its direction.
pub(crate) fn visible(text: &str) -> String {
    let shown = |c: char| {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        matches!(c, '\n' | '\t') || !(c.is_control() || turns)
    };
    text.chars()
        .map(|c| if shown(c) { c.to_string() } else { c.escape_unicode().to_string() })
        .collect()
}

/// Whether a person reads standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A table without lines: the columns aligned, the last one cut at the width of the terminal. No
/// secret is in it.
pub(crate) fn table(rows: &[Vec<String>], width: Option<usize>) -> Result<(), Failure> {
    let masker = crate::secrets::shared()?;
    let hide = |row: &Vec<String>| row.iter().map(|cell| masker.mask_text(cell)).collect();
    let rows: &[Vec<String>] = &rows.iter().map(hide).collect::<Vec<_>>();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    for row in rows {
        let mut text = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width - cell.chars().count() + 2));
        }
        let text = text.trim_end();
        match width {
            Some(width) => line(cut(text, width))?,
            None => line(text)?,
        }
    }
    Ok(())
}

/// A text of at most so many characters; one that was longer ends with `…`.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// The width of the terminal, if a person reads.
pub(crate) fn width() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col))
}
