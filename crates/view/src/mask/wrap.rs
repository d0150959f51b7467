//! Text that was broken into lines: its pieces joined again, so that what goes over a line end can be found.
//!
//! [`unbroken`] joins all lines of a text as they are, and leaves out characters that nobody sees: so text
//! that `fold` broke is found at any width. [`join`] joins what an encoder broke and somebody indented.
//!
//! Joined are a run of letters that reaches up to a line end and the run that begins the next line,
//! indented or not, for as many lines as are nothing but such a run. A run that is not at least as
//! wide as the narrowest lines of an encoder is a word, and the end of its line is the end of it.

/// The narrowest line that counts as broken by an encoder; they make lines of 60 letters and more.
pub(super) const NARROWEST: usize = 16;
/// How far the next line may be indented.
const INDENT: usize = 16;

/// The letters of base64, in both of its alphabets, and of hexadecimal numbers.
pub(super) fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

/// How long a text of `length` letters can be when it is broken into lines, with the run before it
/// that says whether it is.
pub(super) fn reach(length: usize) -> usize {
    let indented = length + (length / NARROWEST + 1) * (1 + INDENT) + NARROWEST;
    // A line end, or a character that nobody sees, after each letter.
    indented.max(length * 4)
}

/// Runs of letters that belong together.
pub(super) struct Joined {
    /// All of them, without what is between.
    pub(super) text: String,
    /// Where each begins: here, and in the text they were taken from.
    pieces: Vec<(usize, usize)>,
    /// Whether more of the text could go on with it.
    pub(super) is_open: bool,
}

impl Joined {
    fn begin(text: &str, piece: std::ops::Range<usize>) -> Self {
        let start = piece.start;
        Self { text: text[piece].to_owned(), pieces: vec![(0, start)], is_open: false }
    }

    fn add(&mut self, text: &str, piece: std::ops::Range<usize>) {
        self.pieces.push((self.text.len(), piece.start));
        self.text.push_str(&text[piece]);
    }

    fn piece_of(&self, at: usize) -> usize {
        self.pieces.partition_point(|(start, _)| *start <= at).saturating_sub(1)
    }

    /// Where a place in the joined text is in the text it was taken from.
    pub(super) fn place(&self, at: usize) -> usize {
        let (here, there) = self.pieces[self.piece_of(at)];
        there + (at - here)
    }

    /// Where a range of the joined text lies in the text it was taken from. `None` if it goes over no
    /// line end.
    pub(super) fn range(&self, range: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
        let last = range.end.checked_sub(1)?;
        (self.piece_of(range.start) < self.piece_of(last))
            .then(|| self.place(range.start)..self.place(last) + 1)
    }
}

/// All of a text without line ends and without characters that nobody sees; `None` if it has neither.
pub(super) fn unbroken(text: &str) -> Option<Joined> {
    let mut group =
        Joined { text: String::with_capacity(text.len()), pieces: vec![], is_open: true };
    for line in text.split('\n') {
        let start = line.as_ptr().addr() - text.as_ptr().addr();
        if line.is_ascii() {
            if !line.is_empty() {
                group.add(text, start..start + line.len());
            }
            continue;
        }
        let mut piece = start;
        for (at, character) in line.char_indices().filter(|(_, character)| is_unseen(*character)) {
            if piece < start + at {
                group.add(text, piece..start + at);
            }
            piece = start + at + character.len_utf8();
        }
        if piece < start + line.len() {
            group.add(text, piece..start + line.len());
        }
    }
    (group.text.len() < text.len() && !group.text.is_empty()).then_some(group)
}

/// Whether a character takes no room.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// What belongs together in `text`. `before` is how many letters come right before it; runs are
/// followed as far as `longest`.
pub(super) fn join(text: &str, before: usize, longest: usize) -> Vec<Joined> {
    let bytes = text.as_bytes();
    let mut found: Vec<Joined> = Vec::new();
    // The end of the last piece of the last group, if it reaches a line end.
    let mut going_on = None;
    for end in memchr::memchr_iter(b'\n', bytes) {
        let is_more = going_on.take() == Some(end);
        let start = match found.last().and_then(|group| group.pieces.last()) {
            Some((_, start)) if is_more => *start,
            _ => run_before(bytes, end, longest),
        };
        let width = end - start + if start == 0 { before } else { 0 };
        if width < NARROWEST {
            continue;
        }
        let rest = &bytes[end + 1..];
        let indent =
            rest.iter().take(INDENT).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let next = end + 1 + indent;
        let run = bytes[next..].iter().take(longest).take_while(|byte| is_letter(**byte)).count();
        if run == 0 && next < bytes.len() {
            continue;
        }
        if !is_more {
            found.push(Joined::begin(text, start..end));
        }
        let Some(group) = found.last_mut() else { continue };
        if run > 0 {
            group.add(text, next..next + run);
        }
        group.is_open = next + run == bytes.len();
        going_on = Some(next + run).filter(|end| bytes.get(*end) == Some(&b'\n'));
    }
    found
}

/// Where the run of letters begins that ends at `end`.
fn run_before(bytes: &[u8], end: usize, longest: usize) -> usize {
    let run = bytes[..end].iter().rev().take(longest).take_while(|byte| is_letter(**byte)).count();
    end - run
}

/// How many letters are at the end of `text`, which follows `before` letters; no more than matter.
pub(super) fn run_at_end(text: &str, before: usize) -> usize {
    let run = text.bytes().rev().take(NARROWEST).take_while(|byte| is_letter(*byte)).count();
    let all = if run == text.len() { run + before } else { run };
    all.min(NARROWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> Vec<String> {
        join(text, 0, 1000).into_iter().map(|group| group.text).collect()
    }

    #[test]
    fn lines_of_an_encoder_are_one_text() {
        let line = "0123456789abcdef";
        assert_eq!(joined(&format!("x {line}\n{line}\nend.")), [format!("{line}{line}end")]);
        assert_eq!(joined(&format!("{line}\n    {line}\n\nend")), [format!("{line}{line}")]);
        assert_eq!(joined(&format!("{line}\n.{line}\n")), [line], "the second could go on");
        assert_eq!(joined("some words\nand others\n"), [] as [&str; 0]);
    }

    #[test]
    fn every_place_is_where_it_was() {
        let text = "key: 0123456789abcdef\n  ghij\nrest";
        let groups = join(text, 0, 1000);
        assert_eq!(groups.len(), 1);
        let group = &groups[0];
        for (at, byte) in group.text.bytes().enumerate() {
            assert_eq!(text.as_bytes()[group.place(at)], byte);
        }
        assert_eq!(group.range(0..8), None);
        assert_eq!(group.range(14..18).map(|range| &text[range]), Some("ef\n  gh"));
    }
}
