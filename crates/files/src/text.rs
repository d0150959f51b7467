//! Bytes as lines of text, and back without changing what nobody changed.
//!
//! Lines end at `\n`, as for ripgrep; a `\r` before it belongs to the ending. A line that is not
//! UTF-8 is read as windows-1252 (which has a character for each byte) and written back as it was.

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// How the characters of a file are written.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-8 behind a byte order mark.
    Utf8Bom,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
    /// windows-1252, which contains Latin-1: some line is not UTF-8.
    Windows1252,
}

/// How the lines of a file end.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LineEnding {
    /// `\n`, or the file has no line break.
    Lf,
    /// `\r\n`.
    CrLf,
    /// Both occur.
    Mixed,
}

/// How much of a file tells what it is.
pub(crate) const HEAD_BYTES: usize = 8192;
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16LE_MARK: &[u8] = b"\xff\xfe";
const UTF16BE_MARK: &[u8] = b"\xfe\xff";

/// What the beginning of a file says: its encoding, or `None` for one that is no text.
pub(crate) fn detect(head: &[u8]) -> Option<Encoding> {
    if head.starts_with(UTF8_MARK) {
        return Some(Encoding::Utf8Bom);
    }
    // The mark of UTF-32 begins like that of UTF-16.
    if head.starts_with(UTF16LE_MARK) && !head.starts_with(b"\xff\xfe\0\0") {
        return Some(Encoding::Utf16Le);
    }
    if head.starts_with(UTF16BE_MARK) {
        return Some(Encoding::Utf16Be);
    }
    if head.contains(&0) {
        return utf16_without_mark(head);
    }
    let controls = head.iter().filter(|byte| is_control(**byte)).count();
    if controls * 10 > head.len() {
        return None;
    }
    let is_utf8 = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The head may end inside a character.
        Err(error) => error.error_len().is_none() && head.len() >= HEAD_BYTES - 4,
    };
    Some(if is_utf8 { Encoding::Utf8 } else { Encoding::Windows1252 })
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b | 0x08) || byte == 0x7f
}

/// Latin text in UTF-16 has a zero in every other byte.
fn utf16_without_mark(head: &[u8]) -> Option<Encoding> {
    let zeros = |start: usize| head.iter().skip(start).step_by(2).filter(|b| **b == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
    if pairs < 2 {
        None
    } else if odd * 10 >= pairs * 7 && even * 20 <= pairs {
        Some(Encoding::Utf16Le)
    } else if even * 10 >= pairs * 7 && odd * 20 <= pairs {
        Some(Encoding::Utf16Be)
    } else {
        None
    }
}

/// A line as text, and whether it was UTF-8.
pub(crate) fn decode_line(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), true),
        Err(_) => (WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(), false),
    }
}

/// Why bytes are no document that can be edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotText {
    Binary,
    /// Decoding loses something.
    Lossy,
}

/// A text file in memory.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) encoding: Encoding,
    has_mark: bool,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    text: String,
    /// What was in the file, where that is not the text in the document's encoding.
    raw: Option<Vec<u8>>,
    ending: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Lf,
    CrLf,
    /// The last line, without a line break.
    None,
}

impl Ending {
    fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::None => "",
        }
    }
}

impl Document {
    /// A file that does not exist yet.
    pub(crate) fn empty() -> Self {
        Self { encoding: Encoding::Utf8, has_mark: false, lines: Vec::new() }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, NotText> {
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        match detect(head).ok_or(NotText::Binary)? {
            encoding @ (Encoding::Utf16Le | Encoding::Utf16Be) => {
                Self::parse_utf16(bytes, encoding)
            }
            Encoding::Utf8Bom => Ok(Self::parse_bytes(&bytes[UTF8_MARK.len()..], true)),
            Encoding::Utf8 | Encoding::Windows1252 => Ok(Self::parse_bytes(bytes, false)),
        }
    }

    fn parse_bytes(bytes: &[u8], has_mark: bool) -> Self {
        let mut encoding = if has_mark { Encoding::Utf8Bom } else { Encoding::Utf8 };
        let mut lines = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (content, ending) = split_ending(line);
            let (text, is_utf8) = decode_line(content);
            if !is_utf8 {
                encoding = Encoding::Windows1252;
            }
            let raw = (!is_utf8).then(|| content.to_vec());
            lines.push(Line { text, raw, ending });
        }
        Self { encoding, has_mark, lines }
    }

    fn parse_utf16(bytes: &[u8], encoding: Encoding) -> Result<Self, NotText> {
        let decoder = if encoding == Encoding::Utf16Le { UTF_16LE } else { UTF_16BE };
        let has_mark = bytes.starts_with(UTF16LE_MARK) || bytes.starts_with(UTF16BE_MARK);
        let (text, _) = decoder.decode_without_bom_handling(&bytes[if has_mark { 2 } else { 0 }..]);
        let lines = text.split_inclusive('\n').map(|line| {
            let (content, ending) = split_ending(line.as_bytes());
            Line { text: line[..content.len()].to_owned(), raw: None, ending }
        });
        let document = Self { encoding, has_mark, lines: lines.collect() };
        if document.encode_utf16(&document.exact_text()) == bytes {
            Ok(document)
        } else {
            Err(NotText::Lossy)
        }
    }

    /// All of it, with `\n` at the end of lines whatever the file has.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
            if line.ending != Ending::None {
                text.push('\n');
            }
        }
        text
    }

    /// All of it, with the ends of lines as they are.
    pub(crate) fn exact_text(&self) -> String {
        self.lines.iter().flat_map(|line| [line.text.as_str(), line.ending.text()]).collect()
    }

    /// The bytes of a file with this text, in the file's encoding and with its line endings. Lines
    /// that were there before keep their bytes. An error is a character the encoding lacks.
    pub(crate) fn with_text(&self, text: &str) -> Result<Vec<u8>, char> {
        let new = lines(text);
        let origins = self.origins(&new);
        let common = self.common_ending();
        let ending = |at: usize| match origins[at].map(|own| self.lines[own].ending) {
            _ if at + 1 == new.len() && !text.ends_with('\n') => Ending::None,
            None | Some(Ending::None) => common,
            Some(ending) => ending,
        };
        let endings: Vec<Ending> = (0..new.len()).map(ending).collect();
        self.encode(&new, &endings, &origins)
    }

    /// The same with the line endings that the text has.
    pub(crate) fn with_exact_text(&self, text: &str) -> Result<Vec<u8>, char> {
        let split = text.split_inclusive('\n').map(|line| {
            let (content, ending) = split_ending(line.as_bytes());
            (&line[..content.len()], ending)
        });
        let (new, endings): (Vec<&str>, Vec<Ending>) = split.unzip();
        self.encode(&new, &endings, &self.origins(&new))
    }

    fn encode(
        &self,
        new: &[&str],
        endings: &[Ending],
        origins: &[Option<usize>],
    ) -> Result<Vec<u8>, char> {
        if self.is_wide() {
            let pairs = new.iter().zip(endings);
            let text: String = pairs.flat_map(|(line, ending)| [*line, ending.text()]).collect();
            return Ok(self.encode_utf16(&text));
        }
        let mut bytes = if self.has_mark { UTF8_MARK.to_vec() } else { Vec::new() };
        for (at, line) in new.iter().enumerate() {
            let origin = origins[at].map(|own| &self.lines[own]);
            match origin.and_then(|own| own.raw.as_deref()) {
                Some(raw) => bytes.extend_from_slice(raw),
                None => bytes.extend_from_slice(&self.encode_new(line, origin.is_some())?),
            }
            bytes.extend_from_slice(endings[at].text().as_bytes());
        }
        Ok(bytes)
    }

    fn is_wide(&self) -> bool {
        matches!(self.encoding, Encoding::Utf16Le | Encoding::Utf16Be)
    }

    /// For each new line the old line it is, where both have the same text. Needed only where old
    /// lines differ in more than their text.
    fn origins(&self, new: &[&str]) -> Vec<Option<usize>> {
        let old: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        let mut origins = vec![None; new.len()];
        if self.encoding != Encoding::Windows1252 && self.line_ending() != LineEnding::Mixed {
            return origins;
        }
        for op in capture_diff_slices(Algorithm::Myers, &old, new) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for step in 0..len {
                    origins[new_index + step] = Some(old_index + step);
                }
            }
        }
        origins
    }

    /// A line in the document's encoding. In a file that mixes UTF-8 with other bytes, what was
    /// UTF-8 stays so.
    fn encode_new(&self, line: &str, was_there: bool) -> Result<Vec<u8>, char> {
        if self.encoding != Encoding::Windows1252 || was_there || line.is_ascii() {
            return Ok(line.as_bytes().to_vec());
        }
        let (bytes, _, has_unmappable) = WINDOWS_1252.encode(line);
        if !has_unmappable {
            return Ok(bytes.into_owned());
        }
        let lacks = |c: &char| WINDOWS_1252.encode(c.encode_utf8(&mut [0; 4])).2;
        Err(line.chars().find(lacks).unwrap_or('\u{fffd}'))
    }

    fn encode_utf16(&self, text: &str) -> Vec<u8> {
        let mark = if self.has_mark { "\u{feff}" } else { "" };
        let units = mark.encode_utf16().chain(text.encode_utf16());
        if self.encoding == Encoding::Utf16Le {
            units.flat_map(u16::to_le_bytes).collect()
        } else {
            units.flat_map(u16::to_be_bytes).collect()
        }
    }

    fn common_ending(&self) -> Ending {
        let count = |ending: Ending| self.lines.iter().filter(|l| l.ending == ending).count();
        if count(Ending::CrLf) > count(Ending::Lf) { Ending::CrLf } else { Ending::Lf }
    }

    pub(crate) fn line_ending(&self) -> LineEnding {
        let has = |ending: Ending| self.lines.iter().any(|line| line.ending == ending);
        match (has(Ending::Lf), has(Ending::CrLf)) {
            (true, true) => LineEnding::Mixed,
            (false, true) => LineEnding::CrLf,
            _ => LineEnding::Lf,
        }
    }
}

fn split_ending(line: &[u8]) -> (&[u8], Ending) {
    if let Some(content) = line.strip_suffix(b"\r\n") {
        (content, Ending::CrLf)
    } else if let Some(content) = line.strip_suffix(b"\n") {
        (content, Ending::Lf)
    } else {
        (line, Ending::None)
    }
}

/// The lines of text with `\n`; a last `\n` ends the last line and begins no other.
pub(crate) fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(detect(b"plain"), Some(Encoding::Utf8));
        assert_eq!(detect("h\u{e9}".as_bytes()), Some(Encoding::Utf8));
        assert_eq!(detect(b"h\xe9 there"), Some(Encoding::Windows1252));
        assert_eq!(detect(b"\xff\xfeh\0i\0"), Some(Encoding::Utf16Le));
        assert_eq!(detect(b"h\0i\0\n\0"), Some(Encoding::Utf16Le));
        assert_eq!(detect(b"\0h\0i\0\n"), Some(Encoding::Utf16Be));
        assert_eq!(detect(b"\x7fELF\x02\x01\x01\0\0\0"), None);
        assert_eq!(detect(b"\xff\xfe\0\0h\0\0\0"), None);
    }

    #[test]
    fn a_latin_1_file_stays_one() {
        let document = Document::parse(b"caf\xe9\nx\n").unwrap();
        assert_eq!(document.text(), "caf\u{e9}\nx\n");
        assert_eq!(document.with_text("caf\u{e9}\n\u{fc}\n").unwrap(), b"caf\xe9\n\xfc\n");
        assert_eq!(document.with_text("\u{4e2d}\n"), Err('\u{4e2d}'));
    }

    #[test]
    fn mixed_line_endings_stay_where_they_are() {
        let document = Document::parse(b"a\r\nb\nc\r\nd").unwrap();
        assert_eq!(document.line_ending(), LineEnding::Mixed);
        assert_eq!(document.with_text("a\nnew\nb\nc\nd").unwrap(), b"a\r\nnew\r\nb\nc\r\nd");
    }

    proptest! {
        #[test]
        fn any_text_is_written_back_as_it_was(bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\n'), Just(b'\r'), 32u8..127], 0..200)) {
            if let Ok(document) = Document::parse(&bytes) {
                prop_assert_eq!(document.with_text(&document.text()), Ok(bytes));
            }
        }

        #[test]
        fn utf16_is_written_back_as_it_was(text in "[^\0]*", little in any::<bool>()) {
            let encode = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
            let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(encode).collect();
            let document = Document::parse(&bytes).unwrap();
            prop_assert_eq!(document.with_text(&document.text()), Ok(bytes));
        }
    }
}
