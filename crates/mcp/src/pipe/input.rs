//! Lines from the client, one at a time.

use std::io::{self, BufRead, BufReader, Read};
use std::mem;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// The longest line that is read as a message.
pub(crate) const LONGEST_LINE_BYTES: usize = 16 << 20;
/// As much as one read takes.
const READ_BYTES: usize = 64 << 10;

/// What a line turned out to be.
#[derive(Debug)]
pub(crate) enum Line {
    /// A line with its end.
    Whole(Vec<u8>),
    /// One that is longer than a message may be.
    TooLong,
}

/// Where lines are read.
pub(crate) struct Lines<R> {
    read: BufReader<R>,
    /// The line so far.
    line: Vec<u8>,
    /// The rest of a line that was too long is still to come.
    is_skipping: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(read: R) -> Self {
        Self {
            read: BufReader::with_capacity(READ_BYTES, read),
            line: Vec::new(),
            is_skipping: false,
        }
    }

    /// Whether the next line is there already.
    pub(crate) fn has_next(&self) -> bool {
        memchr::memchr(b'\n', self.read.buffer()).is_some()
    }

    /// The next line, waited for; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.read.fill_buf()?;
            if available.is_empty() {
                return Ok(None);
            }
            let newline = memchr::memchr(b'\n', available);
            let taken = newline.map_or(available.len(), |end| end + 1);
            if self.line.len() + taken > LONGEST_LINE_BYTES {
                self.line = Vec::new();
                self.is_skipping = true;
            } else if !self.is_skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            if newline.is_some() {
                let line = mem::take(&mut self.line);
                let is_whole = !mem::take(&mut self.is_skipping);
                return Ok(Some(if is_whole { Line::Whole(line) } else { Line::TooLong }));
            }
        }
    }
}

/// Standard input, without a buffer of its own, whether or not somebody made it non-blocking.
pub(crate) struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let stdin = rustix::stdio::stdin();
        loop {
            match rustix::io::read(stdin, &mut *buffer) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let _ = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its bytes in pieces of this size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn lines_are_the_same_in_whatever_pieces_they_come() {
        let text = b"one\n\ntwo and \xff\nthe rest that has no end";
        for size in 1..text.len() {
            let mut lines = Lines::new(Pieces(text, size));
            let mut whole = Vec::new();
            while let Some(line) = lines.next().unwrap() {
                let Line::Whole(line) = line else { panic!("{line:?}") };
                whole.push(line);
            }
            assert_eq!(whole, [&b"one\n"[..], b"\n", b"two and \xff\n"], "{size}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let text = [&vec![b'x'; LONGEST_LINE_BYTES + 1][..], b"\nnext\n"].concat();
        let mut lines = Lines::new(&text[..]);
        assert!(matches!(lines.next().unwrap(), Some(Line::TooLong)));
        assert!(matches!(lines.next().unwrap(), Some(Line::Whole(line)) if line == b"next\n"));
        assert!(lines.next().unwrap().is_none());
    }
}
