//! Reading a job's output as it grows.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::job::{Job, Status};
use crate::line::Line;
use crate::log::{Log, Mark, Run, Stream};

/// How much is read at once.
const CHUNK: u64 = 256 << 10;

/// A reader that is always at the end of what it has read.
#[derive(Debug)]
pub struct Follower {
    job: Job,
    log: Log,
    line: Line,
    position: u64,
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
        let line = Line::open(self);
        Ok(Follower { job: self.clone(), log: self.log()?, line, position: offset })
    }
}

impl Follower {
    /// The offset of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next bytes, waited for at most for `patience`.
    pub fn next(&mut self, patience: Option<Duration>) -> Result<Followed> {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        loop {
            // Asked before reading: what comes after the last read is then still to come.
            let is_over = matches!(self.job.status()?, Status::Ended(_));
            let found = self.read().map_err(Error::file("read", self.job.output_path()))?;
            match found {
                Some(found) => return Ok(found),
                None if is_over => return Ok(Followed::Ended),
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Ok(Followed::Nothing);
                }
                None => self.line.sleep(deadline, None),
            }
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
