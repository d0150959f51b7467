//! The supervisor's side of a log.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, openat};

use super::short::LONGEST;
use super::{GAP, Mark, Run, Stream};
use crate::request::{OutputLimit, OutputPolicy, Size};

/// Runs of one stream closer together than this share a record.
const SAME_RUN_US: u64 = 1000;

/// The supervisor's side: appends.
pub(crate) struct LogWriter {
    output: Rc<File>,
    index: Rc<File>,
    /// Where the file that names the omitted range is made, once there is one.
    directory: Rc<OwnedFd>,
    gap: Option<File>,
    length: u64,
    omitted: Range<u64>,
    last: Option<Run>,
    limit: Option<OutputLimit>,
    /// What is in the two files, while it is short.
    short: Option<Short>,
}

/// The bytes of a short log, and the entries of its index.
#[derive(Default)]
struct Short {
    output: Vec<u8>,
    index: Vec<u8>,
}

impl LogWriter {
    /// Over files that are new and empty, the index with its magic.
    pub(crate) fn new(
        output: Rc<File>,
        index: Rc<File>,
        directory: Rc<OwnedFd>,
        limit: Option<OutputLimit>,
    ) -> Self {
        let (gap, last, omitted, short) = (None, None, 0..0, Some(Short::default()));
        Self { output, index, directory, gap, length: 0, omitted, last, limit, short }
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn omitted(&self) -> u64 {
        self.omitted.end - self.omitted.start
    }

    /// All of it for [`ShortLog::decode`](super::ShortLog::decode), if it is short; otherwise nothing.
    pub(crate) fn short(&mut self) -> Vec<u8> {
        let short = self.short.take().filter(|_| self.omitted.is_empty());
        short.map(|Short { output, index }| [output, index].concat()).unwrap_or_default()
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
                    self.remember(|short| &mut short.output, &bytes[done..done + count]);
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
        self.remember(|short| &mut short.index, &record);
        self.last = Some(run);
        Ok(())
    }

    /// Keeps what was written, while all of it is short.
    fn remember(&mut self, part: fn(&mut Short) -> &mut Vec<u8>, written: &[u8]) {
        let Some(short) = &mut self.short else { return };
        let part = part(short);
        if part.len() + written.len() > LONGEST {
            self.short = None;
        } else {
            part.extend_from_slice(written);
        }
    }

    /// Punches out the middle, exactly at the end of the job and in larger steps before.
    pub(crate) fn omit(&mut self, slack: Slack) {
        let Some(limit) = self.limit else { return };
        if self.length <= limit.bytes {
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
