//! The only place that prints: the lints of this crate forbid every other way to standard output and
//! standard error. Data goes to standard output, messages to standard error.
//!
//! Everything that is printed passes here and is made visible first: a command, a name, a path or an
//! error that somebody chose cannot move the cursor, change the terminal or add lines to a list. Only this is
//! written as it is: the bytes of a job for who asked for them ([`job_bytes`]), the content of a file where
//! no terminal is ([`content`]), and the control sequences of umbo's own drawings ([`draw`]), which are
//! constants.

#![expect(clippy::disallowed_methods, reason = "the one place that prints")]

mod links;
mod table;

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use umbo_view::{is_treacherous, visible, visible_line};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(crate) use self::table::{Cell, Tone, file, table, wrapped};
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

/// Prints a line of data. A line end inside of it is shown as one.
pub(crate) fn line(text: impl fmt::Display) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{}", visible_line(&text.to_string()))?;
    Ok(())
}

/// Prints a text that on a terminal goes on below itself, so far to the right; its first line begins there
/// too, or at the left for 0.
pub(crate) fn paragraph(text: &str, indent: usize) -> Result<(), Failure> {
    let gap = " ".repeat(indent);
    let Some(columns) = width() else { return line(format_args!("{gap}{text}")) };
    let below = " ".repeat(indent.max(8));
    for (at, part) in
        table::wrap(text, columns.saturating_sub(below.len()).max(1)).iter().enumerate()
    {
        let gap = if at > 0 && indent == 0 { &below } else { &gap };
        line(format_args!("{gap}{part}"))?;
    }
    Ok(())
}

/// Prints lines of data, as they are ended.
pub(crate) fn text(text: impl fmt::Display) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(visible(&text.to_string()).as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Prints what is in a file that was asked for: as it is where no person reads, so that a copy is one.
pub(crate) fn content(content: &str) -> Result<(), Failure> {
    if is_terminal() {
        return text(content);
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(content.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Where the bytes of a job go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Errors,
}

/// Prints bytes that a job wrote, as they are: `exec` and `run` in the foreground stand in the place of
/// the command, `attach` in that of its terminal, and `output --raw` was asked for them.
pub(crate) fn job_bytes(stream: Stream, bytes: &[u8]) -> Result<(), Failure> {
    let write = |out: &mut dyn Write| out.write_all(bytes).and_then(|()| out.flush());
    match stream {
        Stream::Output => write(&mut io::stdout().lock())?,
        Stream::Errors => write(&mut io::stderr().lock())?,
    }
    Ok(())
}

/// A part of a drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stroke<'a> {
    /// A control sequence of ours.
    Control(&'static str),
    /// So many lines up.
    Up(usize),
    /// So many columns to the right.
    Right(usize),
    /// What is read.
    Text(&'a str),
}

/// Draws on the terminal that a person looks at.
pub(crate) fn draw(strokes: &[Stroke<'_>]) {
    let mut picture = String::new();
    for stroke in strokes {
        match stroke {
            Stroke::Control(sequence) => picture.push_str(sequence),
            Stroke::Up(0) | Stroke::Right(0) => {}
            Stroke::Up(lines) => {
                let _ = write!(picture, "\x1b[{lines}A");
            }
            Stroke::Right(columns) => {
                let _ = write!(picture, "\x1b[{columns}C");
            }
            Stroke::Text(text) => picture.push_str(&visible_line(text)),
        }
    }
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(picture.as_bytes()).and_then(|()| stderr.flush());
}

/// Draws a frame of the agent's terminal: sequences of ours between lines that were made visible when they
/// were made lines.
pub(crate) fn frame(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Prints a message to a program that drives this one: a line of JSON. A program that is gone closes its
/// end, and that is heard elsewhere.
pub(crate) fn message(value: &serde_json::Value) {
    let mut stdout = io::stdout().lock();
    let line = escape_json(&value.to_string());
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// Asks a person for a line.
pub(crate) fn prompt(text: &'static str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Prints a value for programs: one line of JSON, no secret in any of its texts.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut value = serde_json::to_value(value).map_err(Failure::new)?;
    mask(&mut value, crate::secrets::shared()?);
    print_json(&value.to_string())
}

/// Prints a value as it is, for somebody who asked to see the secrets in it.
pub(crate) fn json_unmasked(value: &impl Serialize) -> Result<(), Failure> {
    print_json(&serde_json::to_string(value).map_err(Failure::new)?)
}

/// Prints JSON in which nothing but strings can hold what a terminal obeys, and those escape it: the
/// value stays the same.
fn print_json(json: &str) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{}", escape_json(json))?;
    Ok(())
}

fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_treacherous(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
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
/// secret is in it. Lines after the first are indented: what is quoted cannot pass for a message of
/// its own.
pub(crate) fn talk(text: impl fmt::Display) {
    let text = crate::secrets::hidden(&text.to_string());
    say(&visible(&text).replace('\n', "\n  ").replace("\n  \n", "\n\n"));
}

/// Says several lines that were laid out with care: no line of them is all of somebody else's.
pub(crate) fn talk_lines(text: impl fmt::Display) {
    say(&visible(&crate::secrets::hidden(&text.to_string())));
}

fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Where the log of umbo's own work goes, line by line: standard error, made visible.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        io::stderr().lock().write_all(visible(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

/// Whether a person reads standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Whether a person reads standard error.
pub(crate) fn is_error_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether what a person reads on standard output has colours.
pub(crate) fn has_colour() -> bool {
    if anstyle_query::no_color() {
        return false;
    }
    anstyle_query::clicolor_force()
        || (is_terminal()
            && anstyle_query::term_supports_color()
            && anstyle_query::clicolor() != Some(false))
}

/// A text of at most so many columns; one that was longer ends with `…`.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.width() <= longest {
        return text.to_owned();
    }
    let mut left = longest.saturating_sub(1);
    let mut shown = String::new();
    for character in text.chars() {
        let width = character.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        shown.push(character);
    }
    if longest > 0 {
        shown.push('…');
    }
    shown
}

/// The width of the terminal, if a person reads.
pub(crate) fn width() -> Option<usize> {
    if !is_terminal() {
        return None;
    }
    size(Stream::Output).map(|(columns, _)| columns)
}

/// Columns and rows of the terminal that a stream goes to, if it has any.
pub(crate) fn size(stream: Stream) -> Option<(usize, usize)> {
    let size = match stream {
        Stream::Output => rustix::termios::tcgetwinsize(io::stdout()),
        Stream::Errors => rustix::termios::tcgetwinsize(io::stderr()),
    };
    let size = size.ok()?;
    (size.ws_col > 0 && size.ws_row > 0)
        .then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_escapes_what_a_terminal_obeys_and_stays_the_same_value() {
        let value = serde_json::json!({"name": "a\u{1b}]0;x\u{7}\u{9b}\u{202e}\u{e0041}\n✓"});
        let escaped = escape_json(&value.to_string());
        assert!(escaped.chars().all(|character| !is_treacherous(character)), "{escaped}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }
}
