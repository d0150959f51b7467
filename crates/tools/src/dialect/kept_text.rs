//! A log in which nothing is overwritten: what a terminal would have wiped out or written over stays
//! text, for some contracts take out control sequences and nothing else.
//!
//! Bytes are exchanged one for one, so offsets stay what they are: a carriage return within a line
//! becomes the end of that line, and a sequence that erases or moves becomes one that only colours,
//! which is taken out like any other.

use std::io;
use std::ops::Range;

use umbo_view::{Run, Source};

/// A sequence begins no farther than this before its last byte.
const LONGEST_SEQUENCE_BYTES: usize = 64;

/// A log whose text is kept.
#[derive(Debug)]
pub(crate) struct KeptText<S>(pub(crate) S);

impl<S: Source> Source for KeptText<S> {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        // What stands before tells whether the first bytes are in a sequence; what stands after,
        // whether a carriage return is half of a line's end.
        let before = usize::try_from(offset).unwrap_or(usize::MAX).min(LONGEST_SEQUENCE_BYTES);
        let mut window = vec![0; before + buf.len() + 1];
        let known = read_all(&self.0, offset - before as u64, &mut window[..before])?;
        // Nobody has what is missing before a gap.
        let before = if known == before { before } else { 0 };
        let read = read_all(&self.0, offset, &mut window[before..])?;
        let is_end = before + read < window.len() && !self.0.is_open();
        rewrite(&mut window[..before + read], is_end);
        let count = read.min(buf.len());
        buf[..count].copy_from_slice(&window[before..before + count]);
        Ok(count)
    }

    fn runs(&self, from: u64, to: u64) -> io::Result<Vec<Run>> {
        self.0.runs(from, to)
    }

    fn gap(&self) -> Option<Range<u64>> {
        self.0.gap()
    }

    fn is_open(&self) -> bool {
        self.0.is_open()
    }
}

/// Reads until the buffer is full or there is no more.
fn read_all(source: &impl Source, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match source.read_at(offset + filled as u64, &mut buf[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Exchanges the bytes that would wipe something out.
fn rewrite(bytes: &mut [u8], is_end: bool) {
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (0x1b, Some(b'[')) => {
                let rest = bytes[at + 2..].iter();
                let Some(length) = rest.clone().position(|byte| (0x40..=0x7e).contains(byte))
                else {
                    return;
                };
                at += 2 + length;
                bytes[at] = b'm';
            }
            (b'\r', Some(next)) if *next != b'\n' => bytes[at] = b'\n',
            (b'\r', None) if is_end => bytes[at] = b'\n',
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use umbo_view::{Reader, ViewOptions};

    use super::*;

    /// Bytes that are all there, read in pieces.
    struct Pieces<'a>(&'a [u8]);

    impl Source for Pieces<'_> {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
            let offset = usize::try_from(offset).unwrap().min(self.0.len());
            let count = buf.len().min(3).min(self.0.len() - offset);
            buf[..count].copy_from_slice(&self.0[offset..offset + count]);
            Ok(count)
        }

        fn runs(&self, _from: u64, _to: u64) -> io::Result<Vec<Run>> {
            Ok(Vec::new())
        }

        fn gap(&self) -> Option<Range<u64>> {
            None
        }

        fn is_open(&self) -> bool {
            false
        }
    }

    fn shown(bytes: &[u8]) -> String {
        let view = Reader::new(KeptText(Pieces(bytes))).view(&ViewOptions::default()).unwrap();
        umbo_ops::text(&view)
    }

    #[test]
    fn only_control_sequences_are_taken_out() {
        for (written, kept) in [
            ("10%\r20%\rdone\n", "10%\n20%\ndone\n"),
            ("abc\u{1b}[2Kdef\n", "abcdef\n"),
            ("abc\u{1b}[1Gdef\u{1b}[K\u{1b}[31m!\u{1b}[0m\n", "abcdef!\n"),
            ("one\u{1b}[1Atwo\u{1b}[Jthree\n", "onetwothree\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("end\r", "end\n"),
        ] {
            assert_eq!(shown(written.as_bytes()), kept, "{written:?}");
        }
    }

    #[test]
    fn every_way_to_read_it_gives_the_same_bytes() {
        let text = "x\r\u{1b}[38;5;12;1mred\u{1b}[2K\r\ny\r\rz\u{1b}[0".repeat(20);
        let source = KeptText(Pieces(text.as_bytes()));
        let mut whole = vec![0; text.len()];
        assert_eq!(source.read_at(0, &mut whole).unwrap(), text.len());
        for offset in 0..text.len() {
            let mut part = [0; 7];
            let count = source.read_at(offset as u64, &mut part).unwrap();
            assert_eq!(part[..count], whole[offset..(offset + 7).min(text.len())], "{offset}");
        }
    }
}
