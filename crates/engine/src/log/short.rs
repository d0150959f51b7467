//! A log so short that it comes with the end of its job: who waited for the end opens no file for it.

use std::io;
use std::ops::Range;

use super::reader::LogSource;
use super::{Mark, RECORD, Run, Stream};

/// No more bytes than this, and of the index no more either.
pub(super) const LONGEST: usize = 4096;

/// A whole log of a job that is over.
#[derive(Debug)]
pub(crate) struct ShortLog {
    output: Vec<u8>,
    runs: Vec<Run>,
}

impl ShortLog {
    /// From what a supervisor sent: `total` bytes of output, and the entries of its index. `None` if it
    /// sent none, as one of an earlier version does.
    pub(crate) fn decode(mut sent: Vec<u8>, total: u64) -> Option<Self> {
        let total = usize::try_from(total).ok().filter(|total| *total <= sent.len())?;
        let index = sent.split_off(total);
        let runs = index.chunks_exact(RECORD).filter_map(Run::decode).collect();
        Some(Self { output: sent, runs })
    }
}

impl LogSource for ShortLog {
    fn length(&self) -> io::Result<u64> {
        Ok(self.output.len() as u64)
    }

    fn omitted(&self) -> Option<Range<u64>> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<(u64, usize)> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.output.len());
        let count = buffer.len().min(self.output.len() - from);
        buffer[..count].copy_from_slice(&self.output[from..from + count]);
        Ok((offset, count))
    }

    fn runs(&self, range: Range<u64>) -> io::Result<Vec<Run>> {
        let first = self.runs.partition_point(|run| run.start <= range.start).saturating_sub(1);
        let runs = self.runs.iter().skip(first).take_while(|run| run.start < range.end);
        Ok(covering(runs.copied().collect(), &range))
    }
}

/// Entries of an index for a range of bytes: bytes without an entry count as standard output.
pub(super) fn covering(mut runs: Vec<Run>, range: &Range<u64>) -> Vec<Run> {
    // Entries only ever go forward; one that does not was never written by us.
    let mut last = 0;
    runs.retain(|run| {
        let is_forward = run.start >= last;
        last = last.max(run.start);
        is_forward
    });
    let is_covered =
        runs.iter().any(|run| run.start <= range.start && matches!(run.mark, Mark::Bytes(_)));
    if !is_covered && !range.is_empty() {
        runs.insert(0, Run { start: range.start, at: 0, mark: Mark::Bytes(Stream::Stdout) });
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Log, Slack, new_log};
    use super::*;
    use crate::request::{OutputLimit, OutputPolicy, Size};

    fn read(mut log: Log) -> Vec<u8> {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut log, &mut bytes).unwrap();
        bytes
    }

    proptest! {
        #[test]
        fn what_is_sent_is_what_is_in_the_files(
            writes in prop::collection::vec((0..4u8, 0..700usize, 0..3000u64), 0..12)
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut writer = new_log(directory.path(), None);
            let mut at = 1;
            for (what, length, later) in writes {
                at += later;
                let bytes = vec![b'a' + what; length];
                match what {
                    0 => writer.resized(Size { columns: 80, rows: 24 }, at).unwrap(),
                    1 => writer.append(Stream::Stderr, &bytes, at).1.unwrap(),
                    _ => writer.append(Stream::Stdout, &bytes, at).1.unwrap(),
                }
            }
            let total = writer.length();
            let kept = Log::open(directory.path()).unwrap();
            let sent = ShortLog::decode(writer.short(), total);
            prop_assert_eq!(sent.is_some(), total <= LONGEST as u64, "{} bytes", total);
            if let Some(sent) = sent.map(Log::new) {
                prop_assert_eq!(sent.length().unwrap(), kept.length().unwrap());
                for from in 0..=total {
                    let here = from..total.min(from + 300);
                    prop_assert_eq!(sent.runs(here.clone()).unwrap(), kept.runs(here).unwrap());
                    let (mut one, mut other) = ([0; 64], [0; 64]);
                    let read = sent.read_at(from, &mut one).unwrap();
                    prop_assert_eq!(read, kept.read_at(from, &mut other).unwrap());
                    prop_assert_eq!(one, other);
                }
                for stream in [Stream::Stdout, Stream::Stderr, Stream::Pty] {
                    prop_assert_eq!(read(sent.clone().only(stream)), read(kept.clone().only(stream)));
                }
                prop_assert_eq!(sent.last_at().unwrap(), kept.last_at().unwrap());
            }
        }
    }

    #[test]
    fn a_log_of_which_a_part_was_not_kept_is_not_sent() {
        let directory = tempfile::tempdir().unwrap();
        let limit = OutputLimit { bytes: 10, policy: OutputPolicy::KeepEnds };
        let mut writer = new_log(directory.path(), Some(limit));
        writer.append(Stream::Stdout, &[b'x'; 100], 1).1.unwrap();
        writer.omit(Slack::None);
        assert!(ShortLog::decode(writer.short(), 100).is_none());
    }
}
