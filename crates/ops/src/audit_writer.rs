//! Writes to the audit what became of commands. Nobody's answer waits for it: the hash of a long
//! output takes its time.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use umbo_engine::sandbox::Denied;
use umbo_engine::{Backend, Clock, ErrorKind, JobHandle, Outcome, Status};
use umbo_gate::{Audit, Digest, Error, Event, GatePaths};

use crate::clock::now;
use crate::sandbox::misread;

/// How long the first entry lies before it is written, with all that came meanwhile: the answer to the command
/// goes first, and of many commands in a row each costs only a line. Ends that were not written when this process is
/// killed, [`record_missed_ends`] makes good.
const PAUSE: Duration = Duration::from_millis(50);
/// So many entries are written at once.
const MOST_AT_ONCE: usize = 64;

/// Writes entries on a thread of its own, which begins with the first of them.
#[derive(Debug)]
pub(crate) struct AuditWriter {
    clock: Clock,
    gate_paths: GatePaths,
    thread: Mutex<Option<WriterThread>>,
}

#[derive(Debug)]
struct WriterThread {
    queue: Arc<Queue>,
    handle: JoinHandle<()>,
}

/// What waits to be written. The thread sleeps on a timer that the first entry sets: to wake it for each, only to
/// have it sleep on, would take longer than all else that is done here before the answer.
#[derive(Debug)]
struct Queue {
    waiting: Mutex<Waiting>,
    timer: OwnedFd,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Entry>,
    /// Nothing will be added.
    is_closed: bool,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A job runs, by leave of a record.
    Started { job: String, verdict: u64 },
    /// A job is over.
    Ended(JobHandle, JobEnd),
}

/// What the audit has of the end of a job.
#[derive(Debug)]
pub(crate) struct JobEnd {
    state: &'static str,
    exit_code: Option<i32>,
    denied: Vec<String>,
    is_misread: bool,
}

impl JobEnd {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self {
            state: outcome.end.name(),
            exit_code: outcome.exit_code(),
            denied: outcome.denied.iter().map(in_words).collect(),
            is_misread: misread(outcome),
        }
    }
}

impl Queue {
    fn new() -> rustix::io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        Ok(Self { waiting: Mutex::default(), timer })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread after a time.
    fn wake_in(&self, time: Duration) {
        let nanos = time.subsec_nanos().max(1).into();
        let at = Timespec { tv_sec: time.as_secs().try_into().unwrap_or(0), tv_nsec: nanos };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        // It fails for numbers that are no times, and for what is no timer.
        let _ = timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once);
    }

    fn push(&self, entry: Entry) {
        let mut waiting = self.waiting();
        let is_first = waiting.entries.is_empty();
        waiting.entries.push(entry);
        if is_first {
            self.wake_in(PAUSE);
        }
    }

    fn close(&self) {
        self.waiting().is_closed = true;
        self.wake_in(Duration::ZERO);
    }

    /// Waits for entries; those that there are, and whether they are the last.
    fn take(&self) -> (Vec<Entry>, bool) {
        let mut times = [0; 8];
        let _ = rustix::io::retry_on_intr(|| rustix::io::read(&self.timer, &mut times));
        let mut waiting = self.waiting();
        (std::mem::take(&mut waiting.entries), waiting.is_closed)
    }

    /// Writes what comes until it is closed.
    fn write_all(&self, audit: &Audit, clock: &Clock) {
        loop {
            let (entries, is_last) = self.take();
            for entries in entries.chunks(MOST_AT_ONCE) {
                let events: Vec<Event> = entries.iter().map(Entry::event).collect();
                let _ = audit.append_all(&events, clock.now());
            }
            if is_last {
                return;
            }
        }
    }
}

impl AuditWriter {
    pub(crate) fn new(gate_paths: GatePaths) -> Self {
        Self { gate_paths, thread: Mutex::default(), clock: Clock::default() }
    }

    pub(crate) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Takes an entry; entries are written in their order.
    pub(crate) fn write(&self, entry: Entry) {
        let mut writer = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            // What cannot be written here, `record_missed_ends` makes good.
            let Ok(audit) = self.gate_paths.audit() else { return };
            let clock = self.clock.clone();
            let Ok(queue) = Queue::new().map(Arc::new) else {
                let _ = audit.append(&entry.event(), clock.now());
                return;
            };
            let theirs = Arc::clone(&queue);
            let handle = thread::spawn(move || theirs.write_all(&audit, &clock));
            *writer = Some(WriterThread { queue, handle });
        }
        if let Some(writer) = &*writer {
            writer.queue.push(entry);
        }
    }
}

impl AuditWriter {
    /// Returns when all that was taken is written.
    pub(crate) fn flush(&self) {
        let writer = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(WriterThread { queue, handle }) = writer {
            queue.close();
            let _ = handle.join();
        }
    }
}

impl Drop for AuditWriter {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Entry {
    fn event(&self) -> Event {
        match self {
            Self::Started { job, verdict } => {
                Event::Started { job: job.clone(), verdict: Some(*verdict) }
            }
            Self::Ended(job, end) => ended(job, end),
        }
    }
}

fn ended(job: &JobHandle, end: &JobEnd) -> Event {
    Event::Outcome {
        job: job.id().to_string(),
        state: end.state.to_owned(),
        exit_code: end.exit_code,
        log: job.log().ok().and_then(|log| {
            log.settle();
            Digest::of_reader(log).ok()
        }),
        denied: end.denied.clone(),
        misread: end.is_misread.then(|| job.summary().map(|summary| summary.command)).flatten(),
    }
}

/// A denial as the audit has it.
fn in_words(denied: &Denied) -> String {
    let Denied { operation, target, program, count, .. } = denied;
    format!("{} {target} by {program} ({count})", operation.name())
}

/// Records the end of jobs that ended when nobody was there to record it. How many there were. A
/// broken audit is left as it is, for whoever looks into it.
pub fn record_missed_ends(audit: &Audit, backend: &dyn Backend) -> Result<usize, Error> {
    let mut open = BTreeSet::new();
    let report = audit.read(|record| {
        match record.event {
            Event::Started { job, .. } => {
                open.insert(job);
            }
            Event::Outcome { job, .. } => {
                open.remove(&job);
            }
            _ => {}
        }
        Ok(())
    })?;
    if !report.sound {
        return Ok(0);
    }
    let mut recorded = 0;
    for id in open {
        let event = match backend.job(&id) {
            Err(error) if error.kind() == ErrorKind::UnknownJob => Event::Outcome {
                job: id,
                state: "removed".to_owned(),
                exit_code: None,
                log: None,
                denied: Vec::new(),
                misread: None,
            },
            Err(_) => continue,
            Ok(job) => match job.status() {
                Ok(Status::Ended(outcome)) => ended(&job, &JobEnd::of(&outcome)),
                _ => continue,
            },
        };
        audit.append(&event, now())?;
        recorded += 1;
    }
    Ok(recorded)
}
