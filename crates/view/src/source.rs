//! Where bytes come from: the log of a job, seen as stable offsets.
//!
//! The engine implements [`Source`] over its files; [`Memory`] implements it over a vector, for
//! tests and for callers that hold a short output already. Nothing here interprets bytes.

use std::fmt;
use std::io;
use std::ops::Range;

/// Which pipe a run of bytes came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The terminal of a PTY job, where the two cannot be told apart.
    Pty,
}

/// A run of bytes of one stream that arrived together. It ends where the next run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Offset of the run's first byte in the log.
    pub start: u64,
    /// The stream it came through.
    pub stream: Stream,
    /// When it arrived, in microseconds; never smaller than the run before it.
    pub time: u64,
}

/// A job's exact output: bytes in arrival order at offsets that never change.
pub trait Source {
    /// Bytes in the log so far, those of the gap included.
    fn len(&self) -> u64;

    /// Reads at `offset`, like `pread`. Short reads are allowed; zero means the end.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// The runs that overlap `from..to`, in order. The first may start before `from`.
    fn runs(&self, from: u64, to: u64) -> io::Result<Vec<Run>>;

    /// The hole of bytes that were not kept, if there is one. It is never read.
    fn gap(&self) -> Option<Range<u64>> {
        None
    }

    /// Whether more bytes may still arrive. While they may, pages leave an unfinished last line
    /// to the next page.
    fn is_open(&self) -> bool {
        false
    }

    /// Whether nothing was ever written.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<S: Source + ?Sized> Source for &S {
    fn len(&self) -> u64 {
        (**self).len()
    }
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buf)
    }
    fn runs(&self, from: u64, to: u64) -> io::Result<Vec<Run>> {
        (**self).runs(from, to)
    }
    fn gap(&self) -> Option<Range<u64>> {
        (**self).gap()
    }
    fn is_open(&self) -> bool {
        (**self).is_open()
    }
}

/// A log in memory.
#[derive(Clone, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    runs: Vec<Run>,
    gap: Option<Range<u64>>,
    open: bool,
}

impl Memory {
    /// A finished log of one stdout run.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let mut memory = Self::default();
        memory.append(Stream::Stdout, 0, &bytes.into());
        memory
    }

    /// Adds a run at the end.
    pub fn append(&mut self, stream: Stream, time: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.runs.push(Run { start: self.bytes.len() as u64, stream, time });
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// The same log, still being written.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// Marks the log as finished.
    pub fn close(&mut self) {
        self.open = false;
    }

    /// The same log with a hole: the bytes of `gap` count, and cannot be read.
    #[must_use]
    pub fn with_gap(mut self, gap: Range<u64>) -> Self {
        self.gap = Some(gap);
        self
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("len", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Source for Memory {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.bytes.get(at..)).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn runs(&self, from: u64, to: u64) -> io::Result<Vec<Run>> {
        if from >= to {
            return Ok(Vec::new());
        }
        let first = self.runs.partition_point(|run| run.start <= from).saturating_sub(1);
        let last = self.runs.partition_point(|run| run.start < to);
        Ok(self.runs[first.min(last)..last].to_vec())
    }

    fn gap(&self) -> Option<Range<u64>> {
        self.gap.clone()
    }

    fn is_open(&self) -> bool {
        self.open
    }
}
