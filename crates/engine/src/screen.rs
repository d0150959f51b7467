//! What a terminal shows: the log played into a terminal emulator.
//!
//! Nothing of this is in the supervisor. Any process can make the screen of any job, running or
//! over, from the bytes and the sizes the index has noted.

use crate::backend::BackendJob;
use crate::error::{Error, Result};
use crate::id::JobId;
use crate::job::{Job, Summary};
use crate::log::{Log, Mark};
use crate::request::Size;

/// Older bytes than this many are not played; a program redraws its screen long before.
const MOST_PLAYED: u64 = 8 << 20;

/// A terminal's screen.
#[derive(Debug, Clone)]
pub struct Screen {
    /// Its size.
    pub size: Size,
    /// Its rows, without trailing blanks.
    pub rows: Vec<String>,
    /// The cursor's column and row, from 0; `None` while it is hidden.
    pub cursor: Option<(u16, u16)>,
}

impl Job {
    /// What its terminal shows now.
    pub fn screen(&self) -> Result<Screen> {
        BackendJob::screen(self)
    }

    /// The sequences that make another terminal show the same, and the offset they are true at.
    pub fn redraw(&self) -> Result<(String, u64)> {
        BackendJob::redraw(self)
    }

    /// What its terminal has shown so far, line by line: what scrolled away, then the screen.
    pub fn transcript(&self) -> Result<Vec<String>> {
        BackendJob::transcript(self)
    }
}

/// The size a job's terminal had at its start; an error for a job without one.
pub(crate) fn size_of(job: &JobId, summary: Option<Summary>) -> Result<Size> {
    summary.and_then(|summary| summary.terminal).ok_or_else(|| {
        Error::invalid("job", format!("{job} has no terminal; start it with one (pty)"))
    })
}

/// What a terminal that began with a size shows after all of a log.
pub(crate) fn now(log: &Log, size: Size) -> Result<Screen> {
    let (terminal, _) = play(log, size, Some(0))?;
    let (columns, rows) = terminal.size();
    Ok(Screen {
        size: Size { columns: narrow(columns), rows: narrow(rows) },
        rows: terminal.screen().visible_lines().map(text).collect(),
        cursor: terminal.cursor().position().map(|(x, y)| (narrow(x), narrow(y))),
    })
}

/// The sequences that make another terminal show the same, and the offset they are true at.
pub(crate) fn redraw(log: &Log, size: Size) -> Result<(String, u64)> {
    let (terminal, end) = play(log, size, Some(0))?;
    Ok((terminal.dump(), end))
}

/// What it has shown so far, line by line.
pub(crate) fn transcript(log: &Log, size: Size) -> Result<Vec<String>> {
    let (terminal, _) = play(log, size, None)?;
    let mut lines: Vec<String> = terminal.primary_screen().all_lines().map(text).collect();
    let written = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.truncate(written);
    Ok(lines)
}

fn text(line: &avt::Line) -> String {
    line.text().trim_end().to_owned()
}

/// A terminal into which all of a log was played, and the offset that is true for.
fn play(log: &Log, initial: Size, scrollback: Option<usize>) -> Result<(avt::Terminal, u64)> {
    let failed = |source| Error::File { action: "read", path: "output".into(), source };
    let end = log.length().map_err(failed)?;
    let (columns, rows) = (usize::from(initial.columns), usize::from(initial.rows));
    let mut terminal = avt::Terminal::with_scrollback(columns, rows, scrollback)
        .map_err(|error| Error::invalid("job", format!("its record is damaged: {error}")))?;
    let start = end.saturating_sub(MOST_PLAYED);
    let mut decoder = Decoder::default();
    let mut position = start;
    let runs = log.runs(0..end + 1).map_err(failed)?;
    let sizes = runs.iter().filter_map(|run| match run.mark {
        Mark::Resized(size) => Some((run.start, size)),
        Mark::Bytes(_) => None,
    });
    for (at, size) in sizes {
        play_range(&mut terminal, &mut decoder, log, position..at).map_err(failed)?;
        position = position.max(at);
        terminal.resize(usize::from(size.columns), usize::from(size.rows));
    }
    play_range(&mut terminal, &mut decoder, log, position..end).map_err(failed)?;
    Ok((terminal, end))
}

fn play_range(
    terminal: &mut avt::Terminal,
    decoder: &mut Decoder,
    log: &Log,
    range: std::ops::Range<u64>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut position = range.start;
    while position < range.end {
        let wanted = usize::try_from(range.end - position).unwrap_or(usize::MAX).min(buffer.len());
        let (at, count) = log.read_at(position, &mut buffer[..wanted])?;
        if count == 0 || at >= range.end {
            break;
        }
        terminal.feed(decoder.decode(&buffer[..count]));
        position = at + count as u64;
    }
    Ok(())
}

/// Bytes to text, with characters that are cut in two put together again.
#[derive(Default)]
struct Decoder {
    carried: Vec<u8>,
}

impl Decoder {
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.carried.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.carried.len());
        let mut rest: &[u8] = &self.carried;
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(bad) = error.error_len() else {
                        rest = after;
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &after[bad..];
                }
            }
        }
        self.carried = rest.to_vec();
        text
    }
}

fn narrow(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
