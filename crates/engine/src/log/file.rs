//! A log in a job's directory on this machine.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::reader::LogSource;
use super::short::covering;
use super::{GAP, INDEX, OUTPUT, RECORD, Run};
use crate::files;

/// So many entries in a row that make no sense end an index: the rest is damage, or a hole.
const MOST_DAMAGED: u64 = 1 << 14;

/// The files. Any number of readers, at any time, in any process.
#[derive(Debug)]
pub(crate) struct FileLog {
    output: File,
    index: Option<File>,
    /// Opened when first seen: a log has none until it is too long.
    gap: OnceLock<File>,
    gap_path: PathBuf,
    /// What was not kept of a job that is over.
    settled: OnceLock<Option<Range<u64>>>,
}

impl FileLog {
    /// Opens the log in a job's directory.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            output: files::open(&directory.join(OUTPUT))?,
            index: files::open(&directory.join(INDEX)).ok(),
            gap: OnceLock::new(),
            gap_path: directory.join(GAP),
            settled: OnceLock::new(),
        })
    }

    fn read_gap(&self) -> Option<Range<u64>> {
        if self.gap.get().is_none() {
            let _ = self.gap.set(files::open(&self.gap_path).ok()?);
        }
        let mut record = [0; 16];
        self.gap.get()?.read_exact_at(&mut record, 0).ok()?;
        let (start, end) = record.split_at(8);
        let range =
            u64::from_le_bytes(start.try_into().ok()?)..u64::from_le_bytes(end.try_into().ok()?);
        (!range.is_empty()).then_some(range)
    }

    fn recorded_runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        let count = index.metadata()?.len().saturating_sub(RECORD as u64) / RECORD as u64;
        let first = first_run(index, count, range.start)?;
        let mut runs = Vec::new();
        let mut buffer = vec![0; 1 << 14];
        let mut number = first;
        let mut damaged = 0;
        while number < count {
            let read = index
                .read_at(&mut buffer[..usable(count - number)], (number + 1) * RECORD as u64)?;
            for record in buffer[..read].chunks_exact(RECORD) {
                number += 1;
                // A record that decodes to nothing is of a newer version or damaged: skipped.
                let Some(run) = Run::decode(record) else {
                    damaged += 1;
                    if damaged > MOST_DAMAGED {
                        return Ok(runs);
                    }
                    continue;
                };
                damaged = 0;
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
}

impl LogSource for FileLog {
    fn length(&self) -> io::Result<u64> {
        Ok(self.output.metadata()?.len())
    }

    fn omitted(&self) -> Option<Range<u64>> {
        match self.settled.get() {
            Some(settled) => settled.clone(),
            None => self.read_gap(),
        }
    }

    fn settle(&self) {
        let _ = self.settled.set(self.read_gap());
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
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

    fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        Ok(covering(self.recorded_runs(range.clone())?, &range))
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
    use std::fs;
    use std::io::{Read, Seek, SeekFrom};
    use std::os::unix::fs::MetadataExt;

    use super::super::{Log, Mark, Slack, Stream, new_log};
    use super::*;
    use crate::request::{OutputLimit, OutputPolicy};

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

    #[test]
    fn a_log_is_read_like_a_file_whole_or_one_stream_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = new_log(dir.path(), None);
        for number in 0..500_u64 {
            let stream = if number % 3 == 0 { Stream::Stderr } else { Stream::Stdout };
            writer.append(stream, format!("{number}\n").as_bytes(), number * 5_000).1.unwrap();
        }
        let lines = |wanted: fn(u64) -> bool| -> String {
            let numbers =
                (0..500).filter(|number| wanted(*number)).map(|number| number.to_string());
            numbers.collect::<Vec<_>>().join("\n") + "\n"
        };
        let log = Log::open(dir.path()).unwrap();
        let text = |mut log: Log| {
            let mut text = String::new();
            log.read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(text(log.clone()), lines(|_| true));
        assert_eq!(text(log.clone().only(Stream::Stderr)), lines(|number| number % 3 == 0));
        assert_eq!(text(log.clone().only(Stream::Stdout)), lines(|number| number % 3 != 0));
        assert_eq!(text(log.clone().only(Stream::Pty)), "");
        let mut log = log;
        log.seek(SeekFrom::End(-4)).unwrap();
        assert_eq!(text(log.clone()), "499\n");
        writer.append(Stream::Stdout, b"more", 9_000_000).1.unwrap();
        log.seek(SeekFrom::Current(4)).unwrap();
        assert_eq!(text(log.clone()), "more", "a log that grew is read on");
        assert!(log.seek(SeekFrom::Current(-100_000)).is_err());
    }

    #[test]
    fn a_stream_is_read_around_what_was_omitted() {
        let dir = tempfile::tempdir().unwrap();
        let limit = OutputLimit { bytes: 1 << 20, policy: OutputPolicy::KeepEnds };
        let mut writer = new_log(dir.path(), Some(limit));
        for number in 0..64_u64 {
            let (stream, byte) =
                if number % 2 == 0 { (Stream::Stdout, b'o') } else { (Stream::Stderr, b'e') };
            writer.append(stream, &vec![byte; 1 << 16], number * 2_000).1.unwrap();
        }
        writer.omit(Slack::None);
        for (stream, byte) in [(Stream::Stdout, b'o'), (Stream::Stderr, b'e')] {
            let mut bytes = Vec::new();
            Log::open(dir.path()).unwrap().only(stream).read_to_end(&mut bytes).unwrap();
            assert_eq!(bytes.len(), 1 << 19, "half of what was kept");
            assert!(bytes.iter().all(|found| *found == byte));
        }
    }

    #[test]
    fn an_index_that_is_one_huge_hole_ends_a_read_and_does_not_hold_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = new_log(dir.path(), None);
        writer.append(Stream::Stderr, b"text", 1_000).1.unwrap();
        let index = fs::OpenOptions::new().write(true).open(dir.path().join(INDEX)).unwrap();
        index.set_len(1 << 42).unwrap();
        let runs = Log::open(dir.path()).unwrap().runs(0..4).unwrap();
        assert!(!runs.is_empty());
    }
}
