//! A job's output on disk: `output` holds the exact bytes in the order they came, `index` says
//! which stream each run of bytes came from and when.
//!
//! An index record is written *before* the bytes it describes, so every byte in `output` has one,
//! whenever the writer dies. Offsets never change. When an output is longer than its limit the
//! middle is punched out of the file as a hole: offsets stay, the disk space returns, and `gap`
//! (written before the hole is) says which range reads as nothing.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, openat};
use serde::{Deserialize, Serialize};

use crate::request::{OutputLimit, OutputPolicy, Size};

/// The name of the file with the bytes.
pub(crate) const OUTPUT: &str = "output";
/// The name of the file with the runs.
pub(crate) const INDEX: &str = "index";
/// The name of the file with the omitted range.
pub(crate) const GAP: &str = "gap";
/// The first bytes of an index: its format and version.
pub(crate) const INDEX_MAGIC: &[u8; 24] = b"umbo index 1\n\0\0\0\0\0\0\0\0\0\0\0";

const RECORD: usize = 24;
/// Runs of one stream closer together than this share a record.
const SAME_RUN_US: u64 = 1000;

/// Where bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A terminal, which merges the two.
    Pty,
}

/// What one index record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Bytes of a stream begin here.
    Bytes(Stream),
    /// The terminal had a new size from here on.
    Resized(Size),
}

/// One entry of the index: from `start` until the next entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The offset of its first byte.
    pub start: u64,
    /// When it came, in microseconds since 1970.
    pub at: u64,
    /// What it is.
    pub mark: Mark,
}

impl Run {
    fn encode(self) -> [u8; RECORD] {
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&self.start.to_le_bytes());
        record[8..16].copy_from_slice(&self.at.to_le_bytes());
        let (kind, size) = match self.mark {
            Mark::Bytes(Stream::Stdout) => (1, None),
            Mark::Bytes(Stream::Stderr) => (2, None),
            Mark::Bytes(Stream::Pty) => (3, None),
            Mark::Resized(size) => (4, Some(size)),
        };
        record[16] = kind;
        if let Some(size) = size {
            record[20..22].copy_from_slice(&size.columns.to_le_bytes());
            record[22..24].copy_from_slice(&size.rows.to_le_bytes());
        }
        record
    }

    fn decode(record: &[u8]) -> Option<Self> {
        let number = |range: Range<usize>| -> Option<u64> {
            Some(u64::from_le_bytes(record.get(range)?.try_into().ok()?))
        };
        let short = |range: Range<usize>| -> Option<u16> {
            Some(u16::from_le_bytes(record.get(range)?.try_into().ok()?))
        };
        let mark = match record.get(16)? {
            1 => Mark::Bytes(Stream::Stdout),
            2 => Mark::Bytes(Stream::Stderr),
            3 => Mark::Bytes(Stream::Pty),
            4 => Mark::Resized(Size { columns: short(20..22)?, rows: short(22..24)? }),
            _ => return None,
        };
        Some(Self { start: number(0..8)?, at: number(8..16)?, mark })
    }
}

/// The supervisor's side: appends.
pub(crate) struct LogWriter {
    output: File,
    index: File,
    /// Where the file that names the omitted range is made, once there is one.
    directory: OwnedFd,
    gap: Option<File>,
    length: u64,
    omitted: Range<u64>,
    last: Option<Run>,
    limit: Option<OutputLimit>,
}

impl LogWriter {
    /// Over files that are new and empty, the index with its magic.
    pub(crate) fn new(
        output: File,
        index: File,
        directory: OwnedFd,
        limit: Option<OutputLimit>,
    ) -> Self {
        let (gap, last, omitted) = (None, None, 0..0);
        Self { output, index, directory, gap, length: 0, omitted, last, limit }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn omitted(&self) -> u64 {
        self.omitted.end - self.omitted.start
    }

    /// Whether the job has written as much as it may and is to be stopped for it.
    pub(crate) fn is_over(&self) -> bool {
        self.limit
            .is_some_and(|limit| limit.policy == OutputPolicy::Stop && self.length >= limit.bytes)
    }

    /// Appends bytes of a stream; returns how many are in the file, fewer only with an error.
    pub(crate) fn append(
        &mut self,
        stream: Stream,
        bytes: &[u8],
        at: u64,
    ) -> (usize, io::Result<()>) {
        if let Err(error) = self.mark(Mark::Bytes(stream), at) {
            return (0, Err(error));
        }
        let mut done = 0;
        let mut result = Ok(());
        while done < bytes.len() {
            match rustix::io::write(&self.output, &bytes[done..]) {
                Ok(count) => {
                    done += count;
                    self.length += count as u64;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    result = Err(error.into());
                    break;
                }
            }
        }
        self.omit(Slack::Allowed);
        (done, result)
    }

    /// Notes a new size of the terminal.
    pub(crate) fn resized(&mut self, size: Size, at: u64) -> io::Result<()> {
        self.mark(Mark::Resized(size), at)
    }

    fn mark(&mut self, mark: Mark, at: u64) -> io::Result<()> {
        let run = Run { start: self.length, at, mark };
        // Of the same moment, or of bytes that a full disk has not taken yet.
        let is_same = |last: Run| {
            last.mark == mark && (at < last.at + SAME_RUN_US || last.start == self.length)
        };
        if self.last.is_some_and(is_same) {
            return Ok(());
        }
        let record = run.encode();
        let written = rustix::io::write(&self.index, &record)?;
        if written < record.len() {
            // A full disk took a part: the next record must begin where records begin.
            let length = self.index.metadata()?.len();
            self.index.set_len(length.saturating_sub(written as u64))?;
            return Err(rustix::io::Errno::NOSPC.into());
        }
        self.last = Some(run);
        Ok(())
    }

    /// Punches out the middle, exactly at the end of the job and in larger steps before.
    pub(crate) fn omit(&mut self, slack: Slack) {
        let Some(limit) = self.limit else { return };
        if limit.policy != OutputPolicy::KeepEnds || self.length <= limit.bytes {
            return;
        }
        let half = limit.bytes / 2;
        let wanted = half..self.length - (limit.bytes - half);
        let step = match slack {
            Slack::Allowed => (limit.bytes / 8).max(1 << 16),
            Slack::None => 1,
        };
        if wanted.end < self.omitted.end + step {
            return;
        }
        let mut record = [0; 16];
        record[..8].copy_from_slice(&wanted.start.to_le_bytes());
        record[8..].copy_from_slice(&wanted.end.to_le_bytes());
        if self.gap.is_none() {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            let mode = Mode::RUSR | Mode::WUSR;
            self.gap = openat(&self.directory, GAP, flags, mode).ok().map(File::from);
        }
        let is_told = self.gap.as_ref().is_some_and(|gap| gap.write_all_at(&record, 0).is_ok());
        if !is_told {
            return;
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let from = self.omitted.end.max(wanted.start);
        // A file system without holes keeps the bytes; the range is omitted all the same.
        let _ = fallocate(&self.output, flags, from, wanted.end - from);
        self.omitted = wanted;
    }
}

/// Whether a bound may be exceeded a little, to save system calls.
#[derive(Clone, Copy)]
pub(crate) enum Slack {
    Allowed,
    None,
}

/// A reader's side: any number of them, at any time, in any process.
#[derive(Debug)]
pub struct Log {
    output: File,
    index: Option<File>,
    /// Opened when first seen: a log has none until it is too long.
    gap: OnceLock<File>,
    gap_path: PathBuf,
}

impl Log {
    /// Opens the log in a job's directory.
    pub fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            output: File::open(directory.join(OUTPUT))?,
            index: File::open(directory.join(INDEX)).ok(),
            gap: OnceLock::new(),
            gap_path: directory.join(GAP),
        })
    }

    /// How many bytes the job has written so far.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.output.metadata()?.len())
    }

    /// The range of bytes that was not kept, if any.
    pub fn omitted(&self) -> Option<Range<u64>> {
        if self.gap.get().is_none() {
            let _ = self.gap.set(File::open(&self.gap_path).ok()?);
        }
        let mut record = [0; 16];
        self.gap.get()?.read_exact_at(&mut record, 0).ok()?;
        let (start, end) = record.split_at(8);
        let range =
            u64::from_le_bytes(start.try_into().ok()?)..u64::from_le_bytes(end.try_into().ok()?);
        (!range.is_empty()).then_some(range)
    }

    /// Reads kept bytes at `offset`: never a byte of the omitted range, never across it.
    ///
    /// Returns the offset of the first byte read, later than asked if that one was omitted.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
        let mut start = offset;
        loop {
            let mut wanted = buffer.len();
            if let Some(omitted) = self.omitted() {
                if omitted.contains(&start) {
                    start = omitted.end;
                } else if start < omitted.start {
                    let before = usize::try_from(omitted.start - start).unwrap_or(usize::MAX);
                    wanted = wanted.min(before);
                }
            }
            let count = self.output.read_at(&mut buffer[..wanted], start)?;
            // The hole may have grown over these bytes while they were read.
            match self.omitted() {
                Some(omitted) if omitted.contains(&start) => {}
                Some(omitted) if start < omitted.start => {
                    let before = usize::try_from(omitted.start - start).unwrap_or(usize::MAX);
                    return Ok((start, count.min(before)));
                }
                _ => return Ok((start, count)),
            }
        }
    }

    /// The index entries that describe bytes in `range`, in order, the first starting at or before
    /// it. Where the index is damaged, bytes without an entry count as standard output.
    pub fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        let mut runs = self.recorded_runs(range.clone())?;
        // Entries only ever go forward; one that does not was never written by us.
        let mut last = 0;
        runs.retain(|run| {
            let is_forward = run.start >= last;
            last = last.max(run.start);
            is_forward
        });
        let covered =
            runs.iter().any(|run| run.start <= range.start && matches!(run.mark, Mark::Bytes(_)));
        if !covered && !range.is_empty() {
            let mark = Mark::Bytes(Stream::Stdout);
            runs.insert(0, Run { start: range.start, at: 0, mark });
        }
        Ok(runs)
    }

    fn recorded_runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        let count = index.metadata()?.len().saturating_sub(RECORD as u64) / RECORD as u64;
        let first = first_run(index, count, range.start)?;
        let mut runs = Vec::new();
        let mut buffer = vec![0; 1 << 14];
        let mut number = first;
        while number < count {
            let read = index
                .read_at(&mut buffer[..usable(count - number)], (number + 1) * RECORD as u64)?;
            for record in buffer[..read].chunks_exact(RECORD) {
                number += 1;
                // A record that decodes to nothing is of a newer version or damaged: skipped.
                let Some(run) = Run::decode(record) else { continue };
                if run.start >= range.end {
                    return Ok(runs);
                }
                runs.push(run);
            }
            if read < RECORD {
                break;
            }
        }
        Ok(runs)
    }

    /// When the last bytes came, in microseconds since 1970.
    pub(crate) fn last_at(&self) -> io::Result<Option<u64>> {
        let length = self.length()?;
        if length == 0 {
            return Ok(None);
        }
        // Not the file's own time, which a write that a full disk refused changes too.
        let is_bytes = |run: &&Run| matches!(run.mark, Mark::Bytes(_));
        if let Some(run) = self.runs(length - 1..length)?.iter().rfind(is_bytes) {
            return Ok(Some(run.at));
        }
        let modified = self.output.metadata()?.modified()?;
        Ok(modified
            .duration_since(std::time::UNIX_EPOCH)
            .ok()
            .and_then(|since| u64::try_from(since.as_micros()).ok()))
    }
}

/// How many bytes to read for the records that are left, whole ones and at most a buffer full.
fn usable(left: u64) -> usize {
    let full = (1 << 14) / RECORD;
    usize::try_from(left).unwrap_or(full).min(full) * RECORD
}

/// The number of the last record that starts at or before `offset`.
fn first_run(index: &File, count: u64, offset: u64) -> io::Result<u64> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = u64::midpoint(low, high);
        let mut start = [0; 8];
        index.read_exact_at(&mut start, (middle + 1) * RECORD as u64)?;
        if u64::from_le_bytes(start) <= offset {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    fn new_log(directory: &Path, limit: Option<OutputLimit>) -> LogWriter {
        let create = |name| {
            fs::OpenOptions::new().create(true).append(true).open(directory.join(name)).unwrap()
        };
        let mut index = create(INDEX);
        index.write_all(INDEX_MAGIC).unwrap();
        let directory = File::open(directory).unwrap().into();
        LogWriter::new(create(OUTPUT), index, directory, limit)
    }

    #[test]
    fn every_byte_has_a_stream_and_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = new_log(dir.path(), None);
        writer.append(Stream::Stdout, b"out", 1_000).1.unwrap();
        writer.append(Stream::Stderr, b"err", 1_001).1.unwrap();
        writer.append(Stream::Stdout, b"more", 9_000).1.unwrap();
        let log = Log::open(dir.path()).unwrap();
        assert_eq!(log.length().unwrap(), 10);
        let marks: Vec<_> =
            log.runs(0..10).unwrap().iter().map(|run| (run.start, run.mark)).collect();
        assert_eq!(
            marks,
            [
                (0, Mark::Bytes(Stream::Stdout)),
                (3, Mark::Bytes(Stream::Stderr)),
                (6, Mark::Bytes(Stream::Stdout)),
            ]
        );
        assert_eq!(log.runs(4..5).unwrap().len(), 1);
        assert_eq!(log.runs(7..9).unwrap()[0].start, 6);
    }

    #[test]
    fn a_torn_index_loses_only_its_last_record() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = new_log(dir.path(), None);
        for number in 0..20 {
            let stream = if number % 2 == 0 { Stream::Stdout } else { Stream::Stderr };
            writer.append(stream, b"x", number * 5_000).1.unwrap();
        }
        let whole = fs::read(dir.path().join(INDEX)).unwrap();
        for cut in 0..=24 {
            fs::write(dir.path().join(INDEX), &whole[..whole.len() - cut]).unwrap();
            let runs = Log::open(dir.path()).unwrap().runs(0..20).unwrap();
            assert_eq!(runs.len(), if cut == 0 { 20 } else { 19 }, "cut by {cut}");
        }
    }

    #[test]
    fn the_middle_is_omitted_and_both_ends_keep_their_offsets() {
        let dir = tempfile::tempdir().unwrap();
        let limit = OutputLimit { bytes: 1 << 20, policy: OutputPolicy::KeepEnds };
        let mut writer = new_log(dir.path(), Some(limit));
        let block: Vec<u8> = (0..1 << 16).map(|n: u32| u8::try_from(n % 251).unwrap()).collect();
        for number in 0..160 {
            writer.append(Stream::Stdout, &block, number * 2_000).1.unwrap();
        }
        writer.omit(Slack::None);
        let log = Log::open(dir.path()).unwrap();
        let omitted = log.omitted().unwrap();
        assert_eq!(omitted, (1 << 19)..(10 << 20) - (1 << 19));
        let mut buffer = vec![0; 4096];
        for offset in [0, (1 << 19) - 100, omitted.end, (10 << 20) - 4096] {
            let (start, count) = log.read_at(offset, &mut buffer).unwrap();
            assert_eq!(start, offset);
            for (number, byte) in buffer[..count].iter().enumerate() {
                let position = usize::try_from(offset).unwrap() + number;
                assert_eq!(*byte, block[position % block.len()]);
            }
        }
        assert_eq!(log.read_at(1 << 20, &mut buffer).unwrap().0, omitted.end);
        let used = fs::metadata(dir.path().join(OUTPUT)).unwrap().blocks() * 512;
        assert!(used <= (1 << 20) + (1 << 18), "{used} bytes on disk");
    }
}
