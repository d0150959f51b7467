//! A job's log as views read it.

use std::io;
use std::ops::Range;

use umbo_engine::{JobHandle, Log, Mark, Status};
use umbo_view::{Run, Source, Stream};

/// The log of a job, and whether more of it may come.
#[derive(Debug)]
pub struct JobLog {
    log: Log,
    is_open: bool,
}

impl JobLog {
    /// The log of `job` as it is now.
    pub fn open(job: &JobHandle) -> umbo_engine::Result<Self> {
        // Asked first: what is written after the answer is then still to come.
        let is_open = !matches!(job.status()?, Status::Ended(_));
        Ok(Self { log: job.log()?, is_open })
    }

    /// The log of a job that is known to be over.
    pub fn whole(job: &JobHandle) -> umbo_engine::Result<Self> {
        let log = job.log()?;
        log.settle();
        Ok(Self { log, is_open: false })
    }
}

impl Source for JobLog {
    fn len(&self) -> u64 {
        self.log.length().unwrap_or(0)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        match self.log.read_at(offset, buf)? {
            (at, count) if at == offset => Ok(count),
            _ => Ok(0),
        }
    }

    fn runs(&self, from: u64, to: u64) -> io::Result<Vec<Run>> {
        let runs = self.log.runs(from..to)?;
        Ok(runs
            .into_iter()
            .filter_map(|run| match run.mark {
                Mark::Bytes(stream) => {
                    Some(Run { start: run.start, stream: same(stream), time: run.at })
                }
                _ => None,
            })
            .collect())
    }

    fn gap(&self) -> Option<Range<u64>> {
        self.log.omitted()
    }

    fn is_open(&self) -> bool {
        self.is_open
    }
}

fn same(stream: umbo_engine::Stream) -> Stream {
    match stream {
        umbo_engine::Stream::Stdout => Stream::Stdout,
        umbo_engine::Stream::Stderr => Stream::Stderr,
        umbo_engine::Stream::Pty => Stream::Pty,
    }
}
