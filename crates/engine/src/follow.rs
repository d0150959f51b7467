//! Reading a job's output as it grows.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::backend::{BackendJob, JobHandle, JobWatch};
use crate::error::{Error, Result};
use crate::job::{Job, Status};
use crate::log::{Log, Mark, Run, Stream};

/// How much is read at once.
const CHUNK: u64 = 256 << 10;

/// A reader that is always at the end of what it has read. As an [`Iterator`] it waits for the next
/// bytes and ends with the job.
#[derive(Debug)]
pub struct Follower {
    job: JobHandle,
    log: Log,
    /// None of a job that is over.
    watch: Option<Box<dyn JobWatch>>,
    position: u64,
    is_over: bool,
}

/// What a follower found.
#[derive(Debug, PartialEq, Eq)]
pub enum Followed {
    /// Bytes of one stream.
    Bytes {
        /// The offset of the first.
        offset: u64,
        /// Where they came from.
        stream: Stream,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A range that was not kept.
    Omitted(Range<u64>),
    /// Nothing within the time given.
    Nothing,
    /// The job is over and all was read.
    Ended,
}

impl Job {
    /// Reads its output from `offset` on, and on.
    pub fn follow(&self, offset: u64) -> Result<Follower> {
        BackendJob::follow(self, offset)
    }
}

impl Follower {
    /// A reader of a job's output from `offset` on.
    pub(crate) fn new(job: JobHandle, offset: u64) -> Result<Self> {
        // Before the first look: what happens between the two is not slept through.
        let watch = job.watch();
        let log = job.log()?;
        Ok(Self { job, log, watch: Some(watch), position: offset, is_over: false })
    }

    /// A reader of the output of a job that is known to be over.
    pub fn of_ended(job: JobHandle, offset: u64) -> Result<Self> {
        let log = job.log()?;
        Ok(Self { job, log, watch: None, position: offset, is_over: true })
    }

    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next bytes, waited for at most for `timeout`.
    pub fn next(&mut self, timeout: Option<Duration>) -> Result<Followed> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            match self.look()? {
                Some(found) => return Ok(found),
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Ok(Followed::Nothing);
                }
                // Nothing more comes of a job that is over: then `look` has said so.
                None => {
                    if let Some(watch) = &mut self.watch {
                        watch.sleep(deadline);
                    }
                }
            }
        }
    }

    /// What is there to read now; `None` if nothing is, but may come.
    pub(crate) fn look(&mut self) -> Result<Option<Followed>> {
        // Asked before reading: what comes after the last read is then still to come.
        self.is_over = self.is_over || matches!(self.job.status()?, Status::Ended(_));
        let failed = |source| Error::File { action: "read", path: "output".into(), source };
        match self.read().map_err(failed)? {
            None if self.is_over => Ok(Some(Followed::Ended)),
            found => Ok(found),
        }
    }

    fn read(&mut self) -> io::Result<Option<Followed>> {
        let length = self.log.length()?;
        if self.position >= length {
            return Ok(None);
        }
        let end = length.min(self.position + CHUNK);
        let runs = self.log.runs(self.position..end)?;
        let (stream, end) = run_at(&runs, self.position, end);
        let mut bytes = vec![0; usize::try_from(end - self.position).unwrap_or(0)];
        let (at, count) = self.log.read_at(self.position, &mut bytes)?;
        if at > self.position {
            let omitted = self.position..at;
            self.position = at;
            return Ok(Some(Followed::Omitted(omitted)));
        }
        bytes.truncate(count);
        self.position += count as u64;
        Ok((count > 0).then_some(Followed::Bytes { offset: at, stream, bytes }))
    }
}

impl Iterator for Follower {
    type Item = Result<Followed>;

    /// The next bytes or the next omitted range, waited for; `None` once the job is over and all
    /// was read.
    fn next(&mut self) -> Option<Self::Item> {
        match Self::next(self, None) {
            Ok(Followed::Ended | Followed::Nothing) => None,
            found => Some(found),
        }
    }
}

/// The stream of the byte at `position`, and where its run ends, at most at `end`.
pub(crate) fn run_at(runs: &[Run], position: u64, end: u64) -> (Stream, u64) {
    let mut stream = Stream::Stdout;
    for run in runs {
        let Mark::Bytes(found) = run.mark else { continue };
        if run.start <= position {
            stream = found;
        } else if found != stream {
            return (stream, run.start.min(end));
        }
    }
    (stream, end)
}
