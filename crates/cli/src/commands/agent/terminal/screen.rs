//! What is drawn: finished lines go into the terminal's own scrollback, once; below them a live area
//! is drawn over again. Nothing else of the terminal is touched: no alternate screen, no mouse.

use std::fmt::Write as _;
use std::io;

use super::lines::Line;
use crate::output::{self, Stream};

/// Whole frames appear at once.
const BEGIN_FRAME: &str = "\x1b[?2026h";
const END_FRAME: &str = "\x1b[?2026l";
/// Pasted text is marked, and keys are told with what was held, where a terminal can.
const ENTER: &str = "\x1b[?2004h\x1b[>1u";
const LEAVE: &str = "\x1b[<u\x1b[?2004l";
/// A terminal that does not say how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// The terminal.
pub(super) struct Screen {
    has_colour: bool,
    /// The columns of each line of the live area, as it was drawn.
    drawn: Vec<usize>,
    /// The line of the live area in which the cursor is.
    cursor_line: usize,
    /// And where in that line.
    cursor_column: usize,
    size: (usize, usize),
}

/// The live area: its lines, and where the cursor is in them.
pub(super) struct Live {
    pub(super) lines: Vec<Line>,
    pub(super) cursor: (usize, usize),
}

impl Screen {
    pub(super) fn open(has_colour: bool) -> io::Result<Self> {
        output::frame(ENTER)?;
        Ok(Self { has_colour, drawn: Vec::new(), cursor_line: 0, cursor_column: 0, size: size() })
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Looks how large the terminal is now; whether that changed.
    pub(super) fn has_resized(&mut self) -> bool {
        let now = size();
        let has_changed = now != self.size;
        if has_changed {
            // The terminal has wrapped what was drawn anew, and the cursor is where it was in it.
            let rows = |columns: &usize| columns.div_ceil(now.0).max(1);
            let above: usize = self.drawn.iter().take(self.cursor_line).map(rows).sum();
            self.cursor_line = above + self.cursor_column / now.0;
            self.cursor_column %= now.0;
            self.size = now;
        }
        has_changed
    }

    /// Prints finished lines above, and draws the live area anew.
    pub(super) fn draw(&mut self, finished: &[Line], live: &Live) -> io::Result<()> {
        let mut out = String::from(BEGIN_FRAME);
        self.erase(&mut out);
        for line in finished.iter().flat_map(|line| line.wrap(self.size.0)) {
            out.push_str(&line.render(self.has_colour));
            out.push_str("\r\n");
        }
        for (at, line) in live.lines.iter().enumerate() {
            if at > 0 {
                out.push_str("\r\n");
            }
            out.push_str(&line.render(self.has_colour));
        }
        let (cursor_line, column) = live.cursor;
        let below = live.lines.len().saturating_sub(1).saturating_sub(cursor_line);
        if below > 0 {
            let _ = write!(out, "\x1b[{below}A");
        }
        out.push('\r');
        if column > 0 {
            let _ = write!(out, "\x1b[{column}C");
        }
        out.push_str(END_FRAME);
        self.drawn = live.lines.iter().map(Line::width).collect();
        (self.cursor_line, self.cursor_column) = (cursor_line, column);
        output::frame(&out)
    }

    fn erase(&self, out: &mut String) {
        out.push('\r');
        if self.cursor_line > 0 {
            let _ = write!(out, "\x1b[{}A", self.cursor_line);
        }
        out.push_str("\x1b[J");
    }

    /// Leaves the terminal as it was, below what was printed.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.erase(&mut out);
        out.push_str(LEAVE);
        self.drawn.clear();
        self.cursor_line = 0;
        output::frame(&out)
    }
}

fn size() -> (usize, usize) {
    output::size(Stream::Output).unwrap_or(USUAL_SIZE)
}
