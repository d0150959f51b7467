//! A reader's side of a log, wherever its bytes are.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use super::file::FileLog;
use super::{Mark, Run, Stream};
use crate::clock;
use crate::follow::run_at;

/// How far one look at the index goes when one stream is read.
const LOOK_AHEAD_BYTES: u64 = 256 << 10;

/// Where the bytes of a log are: a directory of this machine, or elsewhere.
pub trait LogSource: std::fmt::Debug + Send + Sync {
    /// How many bytes the job has written so far.
    fn length(&self) -> io::Result<u64>;

    /// The range of bytes that was not kept, if any.
    fn omitted(&self) -> Option<Range<u64>>;

    /// Reads kept bytes at `offset`: never a byte of the omitted range, never across it. Returns
    /// the offset of the first byte read, later than asked if that one was omitted.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)>;

    /// The index entries that describe bytes in `range`, in order, the first starting at or before
    /// it.
    fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>>;

    /// The job is over: what was not kept is known once and for all.
    fn settle(&self) {}
}

/// What a job wrote. As [`Read`] it gives the kept bytes from its position on, of all streams or of
/// [one](Log::only), and nothing where the log ends now; a log that has grown is read on. As
/// [`Seek`] its positions are offsets in the whole log.
#[derive(Debug, Clone)]
pub struct Log {
    source: Arc<dyn LogSource>,
    position: u64,
    only: Option<Stream>,
}

impl Log {
    /// Opens the log in a job's directory.
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self::new(FileLog::open(directory)?))
    }

    /// A log whose bytes are elsewhere.
    pub fn new(source: impl LogSource + 'static) -> Self {
        Self { source: Arc::new(source), position: 0, only: None }
    }

    /// The same log, of which [`Read`] gives the bytes of one stream only.
    #[must_use]
    pub fn only(mut self, stream: Stream) -> Self {
        self.only = Some(stream);
        self
    }

    /// How many bytes the job has written so far.
    pub fn length(&self) -> io::Result<u64> {
        self.source.length()
    }

    /// For a log of a job that is known to be over: what was not kept is looked up once from now on.
    pub fn settle(&self) {
        self.source.settle();
    }

    /// The range of bytes that was not kept, if any.
    pub fn omitted(&self) -> Option<Range<u64>> {
        self.source.omitted()
    }

    /// Reads kept bytes at `offset`: never a byte of the omitted range, never across it.
    ///
    /// Returns the offset of the first byte read, later than asked if that one was omitted.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
        self.source.read_at(offset, buffer)
    }

    /// The index entries that describe bytes in `range`, in order, the first starting at or before
    /// it. Where the index is damaged, bytes without an entry count as standard output.
    pub fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        self.source.runs(range)
    }

    /// When the last bytes came.
    pub fn last_written(&self) -> io::Result<Option<SystemTime>> {
        Ok(self.last_at()?.map(clock::time))
    }

    /// When the last bytes came, in microseconds since 1970.
    pub(crate) fn last_at(&self) -> io::Result<Option<u64>> {
        let length = self.length()?;
        if length == 0 {
            return Ok(None);
        }
        // By the index, not by the time of the file, which a write that a full disk refused changes.
        let is_bytes = |run: &&Run| matches!(run.mark, Mark::Bytes(_));
        let runs = self.runs(length - 1..length)?;
        Ok(runs.iter().rfind(is_bytes).map(|run| run.at))
    }

    /// The range from the position on in which all bytes are of one stream, and which one.
    fn run_here(&self, length: u64) -> io::Result<(Stream, u64)> {
        let end = length.min(self.position + LOOK_AHEAD_BYTES);
        let runs = self.source.runs(self.position..end)?;
        Ok(run_at(&runs, self.position, end))
    }
}

impl Read for Log {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.source.length()?;
            if buffer.is_empty() || self.position >= length {
                return Ok(0);
            }
            let mut most = buffer.len();
            if let Some(only) = self.only {
                let (stream, end) = self.run_here(length)?;
                if stream != only {
                    self.position = end;
                    continue;
                }
                most = most.min(usize::try_from(end - self.position).unwrap_or(usize::MAX));
            }
            let (at, count) = self.source.read_at(self.position, &mut buffer[..most])?;
            if at > self.position && self.only.is_some() {
                // What comes after the omitted range may be of another stream.
                self.position = at;
                continue;
            }
            self.position = at + count as u64;
            return Ok(count);
        }
    }
}

impl Seek for Log {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length()?.checked_add_signed(by),
        };
        self.position = position.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "that is before the first byte")
        })?;
        Ok(self.position)
    }
}
