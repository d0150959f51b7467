//! Waiting for the first of several things to be true.
//!
//! The job's supervisor tells of output and of the end, the kernel of files. Only a TCP port has
//! nobody to tell of it; it is tried again at growing intervals.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::error::{Error, Result};
use crate::job::{Job, Status};
use crate::line::Line;
use crate::log::Log;
use crate::sys::procfs;
use crate::sys::watch::Watch;

/// Something to wait for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Condition {
    /// The job is over.
    Exit,
    /// Its output matches, from an offset on.
    Match {
        /// What is looked for.
        #[serde(with = "pattern")]
        pattern: Regex,
        /// From where on.
        from: u64,
    },
    /// A TCP port of this machine accepts connections; for a job with a network of its own, one in there.
    Port(SocketAddr),
    /// A file exists. Its path must be absolute.
    File(PathBuf),
    /// It has written nothing for so long.
    Quiet(Duration),
}

/// Which condition was met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Met {
    /// The job is over.
    Exit,
    /// Its output matched.
    Match {
        /// Where the match begins.
        offset: u64,
        /// The bytes that matched, at most 4 KiB of them.
        text: Vec<u8>,
    },
    /// The port accepts.
    Port(SocketAddr),
    /// The file exists.
    File(PathBuf),
    /// It has been quiet.
    Quiet,
    /// Nothing was met in the time given.
    Deadline,
    /// The job is over, so that what was waited for will not come any more.
    Ended,
}

/// The longest match across two reads that is sure to be found.
const OVERLAP: usize = 64 << 10;
/// How much output is searched at once.
const CHUNK: usize = 256 << 10;
/// The first pause between two tries of a port, doubled up to the last.
const PORT_PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));
/// How long a port may take to answer.
const PORT_TIMEOUT: Duration = Duration::from_millis(250);

pub(crate) fn wait(job: &Job, conditions: &[Condition], timeout: Option<Duration>) -> Result<Met> {
    let mut waiting = Waiting::new(job, conditions, timeout)?;
    loop {
        if let Some(met) = waiting.look()? {
            return Ok(met);
        }
        waiting.sleep();
    }
}

/// A wait under way.
pub(crate) struct Waiting {
    job: Job,
    deadline: Option<Instant>,
    line: Line,
    /// For files that are waited for.
    watch: Option<Watch>,
    conditions: Vec<Pending>,
    log: Log,
}

enum Pending {
    Exit,
    Match(Search),
    Port { address: SocketAddr, pause: Duration, next: Instant },
    File(PathBuf),
    Quiet { span: Duration, until: Instant },
}

impl Waiting {
    pub(crate) fn new(
        job: &Job,
        conditions: &[Condition],
        timeout: Option<Duration>,
    ) -> Result<Self> {
        let line = Line::open(job);
        let log = job.log()?;
        let mut watch = None;
        let now = Instant::now();
        let mut pending = Vec::new();
        for condition in conditions {
            pending.push(match condition {
                Condition::Exit => Pending::Exit,
                Condition::Match { pattern, from } => {
                    Pending::Match(Search::new(pattern.clone(), *from))
                }
                Condition::Port(address) => {
                    Pending::Port { address: *address, pause: PORT_PAUSES.0, next: now }
                }
                Condition::File(file) => {
                    if watch.is_none() {
                        watch = Some(Watch::new().map_err(Error::file("watch", file))?);
                    }
                    Pending::File(file.clone())
                }
                Condition::Quiet(span) => Pending::Quiet { span: *span, until: now },
            });
        }
        let deadline = timeout.and_then(|timeout| now.checked_add(timeout));
        Ok(Self { job: job.clone(), deadline, line, watch, conditions: pending, log })
    }

    /// Whether something is true now.
    pub(crate) fn look(&mut self) -> Result<Option<Met>> {
        let status = self.job.status()?;
        let is_over = matches!(status, Status::Ended(_));
        let pid = if let Status::Started { pid, .. } = status { Some(pid) } else { None };
        for pending in &mut self.conditions {
            let met = match pending {
                Pending::Exit => is_over.then_some(Met::Exit),
                Pending::Match(search) => search.find(&self.log)?,
                Pending::Port { address, pause, next } => try_port(*address, pid, pause, next),
                Pending::File(path) => try_file(path, self.watch.as_ref()),
                Pending::Quiet { span, until } => {
                    *until = quiet_until(&self.log, &self.job, *span);
                    (*until <= Instant::now()).then_some(Met::Quiet)
                }
            };
            if met.is_some() {
                return Ok(met);
            }
        }
        if is_over {
            // Files and ports may still come, but nothing of this job will make them.
            return Ok(Some(Met::Ended));
        }
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        Ok(is_late.then_some(Met::Deadline))
    }

    /// Sleeps until the kernel or a clock wakes it.
    fn sleep(&mut self) {
        self.line.sleep(self.next_time(), self.watch.as_ref());
    }

    /// When to look again though nothing happens.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        let timers = self.conditions.iter().filter_map(|pending| match pending {
            Pending::Port { next, .. } => Some(*next),
            Pending::Quiet { until, .. } => Some(*until),
            Pending::Exit | Pending::Match(_) | Pending::File(_) => None,
        });
        timers.chain(self.deadline).min()
    }
}

#[cfg(feature = "tokio")]
impl Waiting {
    /// Whether a look may take as long as a port takes to answer.
    pub(crate) fn tries_ports(&self) -> bool {
        self.conditions.iter().any(|pending| matches!(pending, Pending::Port { .. }))
    }

    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    /// Takes what woke the one who waits.
    pub(crate) fn take_wakeups(&mut self) {
        self.line.take_wakeups();
        if let Some(watch) = &self.watch {
            watch.drain();
        }
    }
}

/// A search through a log that grows.
struct Search {
    pattern: Regex,
    /// Bytes read but perhaps part of a match that goes on.
    carried: Vec<u8>,
    /// The offset of the first of them.
    start: u64,
    next: u64,
}

impl Search {
    fn new(pattern: Regex, from: u64) -> Self {
        Self { pattern, carried: Vec::new(), start: from, next: from }
    }

    fn find(&mut self, log: &Log) -> Result<Option<Met>> {
        let mut buffer = vec![0; CHUNK];
        loop {
            let (at, count) = log
                .read_at(self.next, &mut buffer)
                .map_err(|source| Error::File { action: "read", path: "output".into(), source })?;
            if at != self.next {
                // Bytes between were not kept: no match spans them.
                self.carried.clear();
                self.start = at;
            }
            if count == 0 {
                return Ok(None);
            }
            self.next = at + count as u64;
            self.carried.extend_from_slice(&buffer[..count]);
            if let Some(found) = self.pattern.find(&self.carried) {
                let text = found.as_bytes();
                return Ok(Some(Met::Match {
                    offset: self.start + found.start() as u64,
                    text: text[..text.len().min(4096)].to_vec(),
                }));
            }
            let surplus = self.carried.len().saturating_sub(OVERLAP);
            self.carried.drain(..surplus);
            self.start += surplus as u64;
        }
    }
}

/// Whether a port accepts: one of this machine, or of the job's own network if it has one (`pid` is in it).
fn try_port(
    address: SocketAddr,
    pid: Option<i32>,
    pause: &mut Duration,
    next: &mut Instant,
) -> Option<Met> {
    if Instant::now() < *next {
        return None;
    }
    let accepts = match pid.and_then(|pid| procfs::listens_in_own_network(pid, address.port())) {
        Some(listens) => listens,
        None => TcpStream::connect_timeout(&address, PORT_TIMEOUT).is_ok(),
    };
    if accepts {
        return Some(Met::Port(address));
    }
    *next = Instant::now() + *pause;
    *pause = (*pause * 2).min(PORT_PAUSES.1);
    None
}

/// Whether a file exists; if not, its nearest existing directory is watched.
fn try_file(path: &Path, watch: Option<&Watch>) -> Option<Met> {
    // Watching first: a file that comes between the two is seen by the second look.
    let nearest = path.ancestors().skip(1).find(|ancestor| ancestor.is_dir());
    if let (Some(watch), Some(nearest)) = (watch, nearest) {
        let _ = watch.names_in(nearest);
    }
    fs::symlink_metadata(path).is_ok().then(|| Met::File(path.to_owned()))
}

/// When the silence will have lasted long enough.
fn quiet_until(log: &Log, job: &Job, span: Duration) -> Instant {
    let last = last_activity(log, job).unwrap_or_default();
    let since = Duration::from_micros(clock::now_us().saturating_sub(last));
    Instant::now() + span.saturating_sub(since)
}

/// When it last wrote, or else when it began.
fn last_activity(log: &Log, job: &Job) -> io::Result<u64> {
    if let Some(at) = log.last_at()? {
        return Ok(at);
    }
    let (record, started) = job.directory().record()?;
    Ok(started.map_or(record.created_at, |started| started.at))
}

/// A pattern as its text.
mod pattern {
    use regex::bytes::Regex;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(
        pattern: &Regex,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(pattern.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Regex, D::Error> {
        Regex::new(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
