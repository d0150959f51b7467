//! Terminal bytes to plain text, as a streaming state machine.
//!
//! A line is the unit: every line starts in the ground state, so an escape sequence that never
//! ends hides at most its own line, and any line can be read without the ones before it. Inside a
//! line:
//!
//! - ANSI, OSC, DCS, SOS, PM and APC sequences vanish; `CSI 2 K` empties the line and `CSI G`
//!   counts as a carriage return, because progress bars are drawn with them;
//! - a carriage return starts a new state of the line, and the last state that printed something
//!   is the one that stays (`\r\n` is a line end);
//! - a backspace takes back one character;
//! - `\t` and `\n` stay, other control characters are removed and counted;
//! - characters that reorder or hide text (bidi overrides, tag characters) become `<U+202E>`;
//! - bytes that are not UTF-8 become U+FFFD, counted, by the rule the standard library uses.
//!
//! The result does not depend on how the input is cut into chunks. Plain text is copied in runs.

use std::fmt;

/// A line longer than this is handed on in pieces; a carriage return then only rewrites the piece
/// it is in. It bounds the memory that one line can take.
pub const LINE_PIECE: usize = 256 * 1024;

/// What sanitising changed, so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Invalid UTF-8 sequences replaced by U+FFFD.
    pub invalid_utf8: u64,
    /// Escape sequences removed.
    pub sequences: u64,
    /// Control characters removed.
    pub controls: u64,
    /// Reordering or invisible characters made visible.
    pub hidden: u64,
    /// Earlier states of a line (progress bars) folded into the last one.
    pub folded: u64,
}

impl Changes {
    /// Adds another count to this one.
    pub fn add(&mut self, other: Changes) {
        self.invalid_utf8 += other.invalid_utf8;
        self.sequences += other.sequences;
        self.controls += other.controls;
        self.hidden += other.hidden;
        self.folded += other.folded;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Ground,
    Escape,
    EscapeIntermediate,
    Csi,
    Osc,
    /// DCS, SOS, PM, APC: ended by ESC, CAN or SUB. The 8-bit terminator is not one here, because
    /// in UTF-8 its byte is part of characters.
    Text,
}

/// The streaming sanitiser. Feed it bytes; whole lines come out, the last one with [`finish`].
///
/// [`finish`]: Sanitizer::finish
#[derive(Clone, Default)]
pub struct Sanitizer {
    state: State,
    line: String,
    /// A carriage return was seen; the next printed character starts the line anew.
    rewind: bool,
    partial: [u8; 4],
    partial_len: usize,
    csi: Csi,
    changes: Changes,
}

impl fmt::Debug for Sanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The line is not masked yet.
        f.debug_struct("Sanitizer").field("changes", &self.changes).finish_non_exhaustive()
    }
}

/// The one parameter of a control sequence that matters here.
#[derive(Debug, Clone, Copy, Default)]
struct Csi {
    value: u16,
    /// Something other than one plain number was seen.
    complex: bool,
}

impl Sanitizer {
    /// A sanitiser at the start of a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was changed so far.
    pub fn changes(&self) -> Changes {
        self.changes
    }

    /// The unfinished last line as it stands.
    pub fn pending(&self) -> &str {
        &self.line
    }

    /// Reads `bytes`, appending finished lines to `out`.
    pub fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if self.partial_len > 0 {
                rest = self.complete_character(rest, out);
            } else if self.state == State::Ground {
                rest = self.ground(rest, out);
            } else {
                self.sequence(byte, out);
                rest = &rest[1..];
            }
        }
    }

    /// Ends the input: the last line comes out without a newline, and the state starts over.
    pub fn finish(&mut self, out: &mut String) {
        if self.partial_len > 0 {
            self.partial_len = 0;
            self.invalid(out);
        }
        out.push_str(&self.line);
        self.line.clear();
        self.state = State::Ground;
        self.rewind = false;
    }

    /// Hands on the line so far, and goes on in the middle of whatever was going on.
    pub(crate) fn flush(&mut self, out: &mut String) {
        out.push_str(&self.line);
        self.line.clear();
    }

    /// Handles a run of text, or one control byte.
    fn ground<'b>(&mut self, bytes: &'b [u8], out: &mut String) -> &'b [u8] {
        let ascii = plain_prefix(bytes);
        if ascii > 0 {
            // Plain ASCII is valid UTF-8; the check costs less than the copy.
            self.text(std::str::from_utf8(&bytes[..ascii]).unwrap_or_default(), out);
            return &bytes[ascii..];
        }
        let byte = bytes[0];
        if let [0x1b, b'[', rest @ ..] = bytes {
            return self.whole_csi(rest);
        }
        if byte == 0 {
            // Sparse and binary output has these by the page.
            let run = bytes.iter().take_while(|&&byte| byte == 0).count();
            self.changes.controls += run as u64;
            return &bytes[run..];
        }
        if byte < 0x80 {
            self.control(byte, out);
            return &bytes[1..];
        }
        let run = text_prefix(bytes);
        match std::str::from_utf8(&bytes[..run]) {
            Ok(text) => {
                self.unicode(text, out);
                &bytes[run..]
            }
            Err(error) => {
                let valid = error.valid_up_to();
                self.unicode(std::str::from_utf8(&bytes[..valid]).unwrap_or_default(), out);
                if let Some(len) = error.error_len() {
                    self.invalid(out);
                    return &bytes[valid + len..];
                }
                if run < bytes.len() {
                    // Cut short by a control byte: it can never become a character.
                    self.invalid(out);
                    return &bytes[run..];
                }
                self.partial_len = run - valid;
                self.partial[..self.partial_len].copy_from_slice(&bytes[valid..run]);
                &[]
            }
        }
    }

    /// Reads a control sequence after its introducer, up to its end if that is in sight.
    fn whole_csi<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        self.state = State::Csi;
        self.csi = Csi::default();
        for (index, &byte) in bytes.iter().enumerate() {
            if !matches!(byte, 0x20..=0x7e) {
                return &bytes[index..];
            }
            self.csi(byte);
            if self.state == State::Ground {
                return &bytes[index + 1..];
            }
        }
        &[]
    }

    /// Finishes a character that a chunk border cut.
    fn complete_character<'b>(&mut self, bytes: &'b [u8], out: &mut String) -> &'b [u8] {
        self.partial[self.partial_len] = bytes[0];
        let candidate = self.partial;
        match std::str::from_utf8(&candidate[..=self.partial_len]) {
            Ok(text) => {
                self.partial_len = 0;
                self.unicode(text, out);
                &bytes[1..]
            }
            Err(error) if error.error_len().is_none() => {
                self.partial_len += 1;
                &bytes[1..]
            }
            Err(_) => {
                self.partial_len = 0;
                self.invalid(out);
                bytes
            }
        }
    }

    fn invalid(&mut self, out: &mut String) {
        self.changes.invalid_utf8 += 1;
        self.text("\u{fffd}", out);
    }

    /// Valid text that may hold characters to remove or to make visible.
    fn unicode(&mut self, text: &str, out: &mut String) {
        let mut copied = 0;
        let mut at = 0;
        while let Some(found) = suspicious(&text.as_bytes()[at..]) {
            at += found;
            let Some(character) = text[at..].chars().next() else { break };
            let next = at + character.len_utf8();
            if is_c1(character) || is_hiding(character) {
                self.text(&text[copied..at], out);
                copied = next;
                if is_c1(character) {
                    self.changes.controls += 1;
                } else {
                    self.changes.hidden += 1;
                    self.text(&format!("<U+{:04X}>", u32::from(character)), out);
                }
            }
            at = next;
        }
        self.text(&text[copied..], out);
    }

    /// Text without anything to interpret but newlines and tabs.
    fn text(&mut self, mut text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        if self.rewind {
            self.rewind = false;
            if !text.starts_with('\n') && !self.line.is_empty() {
                self.line.clear();
                self.changes.folded += 1;
            }
        }
        if let Some(end) = memchr::memrchr(b'\n', text.as_bytes()) {
            out.push_str(&self.line);
            self.line.clear();
            out.push_str(&text[..=end]);
            text = &text[end + 1..];
        }
        while self.line.len() + text.len() >= LINE_PIECE {
            // Cut at the same character whatever the chunks were.
            let cut = text.ceil_char_boundary(LINE_PIECE - self.line.len());
            out.push_str(&self.line);
            out.push_str(&text[..cut]);
            self.line.clear();
            text = &text[cut..];
        }
        self.line.push_str(text);
    }

    /// A C0 control or DEL outside of strings.
    fn control(&mut self, byte: u8, out: &mut String) {
        match byte {
            b'\n' => self.text("\n", out),
            b'\t' => self.text("\t", out),
            b'\r' => self.rewind = true,
            0x08 => {
                if !self.rewind {
                    self.line.pop();
                }
            }
            0x1b => self.state = State::Escape,
            _ => self.changes.controls += 1,
        }
    }

    /// One byte inside an escape sequence.
    fn sequence(&mut self, byte: u8, out: &mut String) {
        match byte {
            b'\n' => {
                self.end_sequence();
                self.text("\n", out);
            }
            0x1b => self.state = State::Escape,
            0x18 | 0x1a => {
                self.end_sequence();
                self.changes.controls += 1;
            }
            _ => self.sequence_body(byte, out),
        }
    }

    fn sequence_body(&mut self, byte: u8, out: &mut String) {
        match self.state {
            State::Escape | State::EscapeIntermediate | State::Csi if byte < 0x20 => {
                self.control(byte, out);
            }
            State::Escape => self.escape(byte),
            State::EscapeIntermediate if matches!(byte, 0x30..=0x7e) => self.end_sequence(),
            State::Csi => self.csi(byte),
            State::Osc if byte == 0x07 => self.end_sequence(),
            _ => {}
        }
    }

    fn escape(&mut self, byte: u8) {
        self.state = match byte {
            b'[' => {
                self.csi = Csi::default();
                State::Csi
            }
            b']' => State::Osc,
            b'P' | b'X' | b'^' | b'_' => State::Text,
            0x20..=0x2f => State::EscapeIntermediate,
            0x30..=0x7e => return self.end_sequence(),
            _ => State::Escape,
        };
    }

    fn csi(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                let digit = u16::from(byte - b'0');
                self.csi.value = self.csi.value.saturating_mul(10).saturating_add(digit);
            }
            0x20..=0x3f => self.csi.complex = true,
            0x40..=0x7e => {
                self.end_sequence();
                if !self.csi.complex {
                    self.line_command(byte, self.csi.value);
                }
            }
            _ => {}
        }
    }

    /// The control sequences that progress bars redraw a line with.
    fn line_command(&mut self, command: u8, value: u16) {
        match (command, value) {
            (b'K', 2) => self.erase(),
            // To the end, with the cursor at the start; to the start, with it at the end.
            (b'K', 0) if self.rewind => self.erase(),
            (b'K', 1) if !self.rewind => self.erase(),
            (b'G', 0 | 1) => self.rewind = true,
            _ => {}
        }
    }

    fn erase(&mut self) {
        if !self.line.is_empty() {
            self.line.clear();
            self.changes.folded += 1;
        }
        self.rewind = false;
    }

    fn end_sequence(&mut self) {
        self.state = State::Ground;
        self.changes.sequences += 1;
    }
}

/// Sanitises a whole text at once.
pub fn sanitize(bytes: &[u8]) -> String {
    let mut sanitizer = Sanitizer::new();
    let mut out = String::with_capacity(bytes.len());
    sanitizer.feed(bytes, &mut out);
    sanitizer.finish(&mut out);
    out
}

/// Length of the prefix of printable ASCII, tabs and newlines.
fn plain_prefix(bytes: &[u8]) -> usize {
    const LANES: usize = 32;
    let plain = |b: u8| (0x20..0x7f).contains(&b) || b == b'\n' || b == b'\t';
    let mut at = 0;
    // Whole lanes without a branch per byte, so that the compiler can use vectors.
    for lane in bytes.chunks_exact(LANES) {
        if !lane.iter().fold(true, |all, &b| all & plain(b)) {
            break;
        }
        at += LANES;
    }
    at + bytes[at..].iter().position(|&b| !plain(b)).unwrap_or(bytes.len() - at)
}

/// Length of the prefix without control bytes (tabs and newlines aside).
fn text_prefix(bytes: &[u8]) -> usize {
    const LANES: usize = 32;
    let text = |b: u8| (b >= 0x20 && b != 0x7f) || b == b'\n' || b == b'\t';
    let mut at = 0;
    for lane in bytes.chunks_exact(LANES) {
        if !lane.iter().fold(true, |all, &b| all & text(b)) {
            break;
        }
        at += LANES;
    }
    at + bytes[at..].iter().position(|&b| !text(b)).unwrap_or(bytes.len() - at)
}

/// Where the next character starts that may be one to remove, by its first byte.
fn suspicious(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < bytes.len() {
        let found = at + bytes[at..].iter().position(|b| matches!(b, 0xc2 | 0xd8 | 0xe2 | 0xf3))?;
        let second = bytes.get(found + 1).copied().unwrap_or(0);
        let wanted = match bytes[found] {
            0xc2 => second < 0xa0,
            0xd8 => second == 0x9c,
            0xe2 => second == 0x80 || second == 0x81,
            _ => second == 0xa0,
        };
        if wanted {
            return Some(found);
        }
        at = found + 1;
    }
    None
}

fn is_c1(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}')
}

/// Characters that make text read differently from what it is.
fn is_hiding(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
}
