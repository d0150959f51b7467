//! Secrets in dumps of bytes, as `xxd`, `hexdump` and `od` print them: the lines are read back into the
//! bytes they stand for, and values are looked for there.
//!
//! A line of a dump has an offset, or begins with a space, and then cells: numbers in hexadecimal, in the
//! order of the bytes or of the words of this machine; numbers in octal; or characters in columns of four.
//! Beside the cells there may be a column of text, which is masked with them.

use std::ops::Range;

/// How the cells of a line are read.
const DECODERS: [fn(&str, usize) -> Option<Cells>; 4] =
    [hexadecimal, hexadecimal_words, octal, characters];

/// Offsets have so many digits.
const OFFSET_DIGITS: Range<usize> = 6..17;

/// Bytes of a line, each with where its cell begins.
type Cells = Vec<(u8, usize)>;

/// Lines that follow each other, as bytes.
pub(super) struct Dump {
    pub(super) bytes: Vec<u8>,
    /// For each byte, where its cell begins and where its line begins and ends.
    places: Vec<(usize, Range<usize>)>,
    /// Whether more of the text could go on with it.
    is_open: bool,
}

impl Dump {
    /// Where a range of the bytes is in the text: the beginning of its first line, and from its first cell
    /// to the end of its last line, for the column of text repeats it.
    pub(super) fn range(&self, range: Range<usize>) -> Option<(usize, Range<usize>)> {
        let (cell, line) = self.places.get(range.start)?;
        let (_, last) = self.places.get(range.end.checked_sub(1)?)?;
        Some((line.start, *cell..last.end))
    }
}

/// The dumps in a text, by each of the ways to read them. `begins_line` is whether the text begins with the
/// beginning of a line.
pub(super) fn dumps(text: &str, begins_line: bool) -> Vec<Dump> {
    let mut found: Vec<Dump> = Vec::new();
    // For each way, the place of the dump that the line before belongs to.
    let mut current: [Option<usize>; DECODERS.len()] = [None; DECODERS.len()];
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let extent = start..start + body.len();
        let cells_at = cells_begin(body).filter(|_| start > 0 || begins_line);
        for (decode, current) in DECODERS.iter().zip(&mut current) {
            let Some(cells) = cells_at.and_then(|at| decode(body, at)) else {
                *current = None;
                continue;
            };
            let place = *current.get_or_insert_with(|| {
                found.push(Dump { bytes: Vec::new(), places: Vec::new(), is_open: false });
                found.len() - 1
            });
            for (byte, at) in cells {
                found[place].bytes.push(byte);
                found[place].places.push((extent.start + at, extent.clone()));
            }
        }
        start += line.len();
    }
    for place in current.into_iter().flatten() {
        found[place].is_open = true;
    }
    found
}

/// Where the part of a text begins that more text could make part of a dump with a value of so many bytes.
pub(super) fn undecided(text: &str, begins_line: bool, longest: usize) -> usize {
    let last = text.rfind('\n').map_or(0, |at| at + 1);
    let is_line = last > 0 || begins_line;
    let (whole, begun) = text.split_at(last);
    if !is_line || !(begun.is_empty() || could_begin(begun)) {
        return text.len();
    }
    let mut from = last;
    for dump in dumps(whole, begins_line).iter().filter(|dump| dump.is_open) {
        let first = dump.places.len().saturating_sub(longest);
        if let Some((_, line)) = dump.places.get(first) {
            from = from.min(line.start);
        }
    }
    from
}

/// Whether a line that is not whole could become one of a dump.
fn could_begin(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_hexdigit).count();
    let is_offset = OFFSET_DIGITS.contains(&digits) && matches!(&line[digits..], "" | ":");
    if is_offset || digits == line.len() {
        return digits > 0 && digits < OFFSET_DIGITS.end;
    }
    let Some(at) = cells_begin(line) else { return false };
    let (cells, last) = line.split_at(line.rfind(' ').map_or(at, |space| space + 1).max(at));
    // The beginning of a first number, or one character in its column.
    let is_cell = last.bytes().all(|byte| byte.is_ascii_hexdigit()) || last.chars().count() < 4;
    (cells[at..].trim().is_empty() && is_cell)
        || DECODERS.iter().any(|decode| decode(cells, at).is_some())
}

/// Where the cells of a line begin: after an offset, or at once if there is none.
fn cells_begin(line: &str) -> Option<usize> {
    if line.starts_with(' ') {
        return Some(0);
    }
    let digits = line.bytes().take_while(u8::is_ascii_hexdigit).count();
    let rest = &line.as_bytes()[digits..];
    let colon = usize::from(rest.first() == Some(&b':'));
    let is_spaced = rest.get(colon) == Some(&b' ');
    (OFFSET_DIGITS.contains(&digits) && is_spaced).then_some(digits + colon)
}

/// The words of cells, with where each begins; what follows them is a column of text.
fn words(line: &str, at: usize) -> Vec<(usize, &str)> {
    let body = &line[at..];
    let indent = body.len() - body.trim_start_matches(' ').len();
    // `xxd` marks its offsets with a colon and its text by a gap alone; others put it between bars, and
    // have a gap in the middle of the cells.
    let has_colon = line[..at].ends_with(':');
    let bar = if has_colon { None } else { body.find("  |").or_else(|| body.find("  >")) };
    let gap = || body[indent..].find("  ").map(|gap| indent + gap);
    let cells = bar.or_else(gap).map_or(body, |end| &body[..end]);
    let mut words = Vec::new();
    let mut start = 0;
    for word in cells.split(' ') {
        if !word.is_empty() {
            words.push((at + start, word));
        }
        start += word.len() + 1;
    }
    words
}

fn hexadecimal(line: &str, at: usize) -> Option<Cells> {
    let mut cells = Vec::new();
    for (place, word) in words(line, at) {
        if !word.len().is_multiple_of(2) || word.len() > 32 {
            return None;
        }
        for (index, pair) in word.as_bytes().chunks(2).enumerate() {
            let digits = str::from_utf8(pair).ok()?;
            cells.push((u8::from_str_radix(digits, 16).ok()?, place + 2 * index));
        }
    }
    (!cells.is_empty()).then_some(cells)
}

/// The same where each word is a number of this machine, its last byte first.
fn hexadecimal_words(line: &str, at: usize) -> Option<Cells> {
    let mut cells = Vec::new();
    for (place, word) in words(line, at) {
        if !matches!(word.len(), 4 | 8 | 16) {
            return None;
        }
        for pair in word.as_bytes().rchunks(2) {
            let digits = str::from_utf8(pair).ok()?;
            // The cell is the word: its bytes are not in their order.
            cells.push((u8::from_str_radix(digits, 16).ok()?, place));
        }
    }
    (!cells.is_empty()).then_some(cells)
}

fn octal(line: &str, at: usize) -> Option<Cells> {
    let mut cells = Vec::new();
    for (place, word) in words(line, at) {
        let number = u16::from_str_radix(word, 8).ok()?;
        let [low, high] = number.to_le_bytes();
        match (word.len(), high) {
            (3, 0) => cells.push((low, place)),
            (6, _) => cells.extend([(low, place), (high, place)]),
            _ => return None,
        }
    }
    (!cells.is_empty()).then_some(cells)
}

/// One character in each column of four: itself, an escape, or a number in octal.
fn characters(line: &str, at: usize) -> Option<Cells> {
    let mut cells = Vec::new();
    let mut place = at;
    while place < line.len() {
        let end =
            line[place..].char_indices().nth(4).map_or(line.len(), |(length, _)| place + length);
        let cell = &line[place..end];
        let text = cell.trim_start_matches(' ');
        let mut letters = text.chars();
        let byte = match (letters.next(), letters.next(), text.len()) {
            // A space, in the last of the four columns; or a line that is not whole.
            (None, ..) if cell.len() == 4 => b' ',
            (None, ..) => break,
            (Some('\\'), Some(escape), 2) => match escape {
                '0' => 0,
                'a' => 7,
                'b' => 8,
                't' => b'\t',
                'n' => b'\n',
                'v' => 11,
                'f' => 12,
                'r' => b'\r',
                '\\' => b'\\',
                _ => return None,
            },
            (Some(_), Some(_), 3) => u8::from_str_radix(text, 8).ok()?,
            (Some(only), None, 1) if cell.len() == 4 => u8::try_from(only).ok()?,
            _ => return None,
        };
        cells.push((byte, place));
        place = end;
    }
    (!cells.is_empty()).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let dumps = dumps(text, true);
        dumps.iter().map(|dump| String::from_utf8_lossy(&dump.bytes).into_owned()).collect()
    }

    #[test]
    fn dumps_are_read_back() {
        let text = "correct horse bat";
        for dump in [
            "00000000: 636f 7272 6563 7420 686f 7273 6520 6261  correct horse ba\n00000010: 74                                       t\n",
            "00000000  63 6f 72 72 65 63 74 20  68 6f 72 73 65 20 62 61  |correct horse ba|\n00000010  74                                                |t|\n",
            "0000000   c   o   r   r   e   c   t       h   o   r   s   e       b   a\n0000020   t\n0000021\n",
            " 63 6f 72 72 65 63 74 20 68 6f 72 73 65 20 62 61\n 74\n",
            "0000000 067543 071162 061545 020164 067550 071562 020145 060542\n0000020 164\n",
        ] {
            assert!(read(dump).iter().any(|bytes| bytes == text), "{dump}: {:?}", read(dump));
        }
        assert_eq!(read("some words\n2026-11-16 10:00:00 started\n"), [] as [&str; 0]);
    }
}
