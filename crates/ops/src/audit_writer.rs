//! Writes to the audit what became of commands. Nobody's answer waits for it: the hash of a long
//! output takes its time.

use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

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
    entries: Sender<Entry>,
    handle: JoinHandle<()>,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A job runs, by leave of a record.
    Started { job: String, verdict: u64 },
    /// A job is over.
    Ended(JobHandle, Box<Outcome>),
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
            let (entries, received) = channel::<Entry>();
            let handle = thread::spawn(move || {
                while let Ok(first) = received.recv() {
                    thread::park_timeout(PAUSE);
                    let mut entries = std::iter::once(first).chain(received.try_iter());
                    loop {
                        let next = entries.by_ref().take(MOST_AT_ONCE);
                        let events: Vec<Event> = next.map(|entry| entry.event()).collect();
                        if events.is_empty() {
                            break;
                        }
                        let _ = audit.append_all(&events, clock.now());
                    }
                }
            });
            *writer = Some(WriterThread { entries, handle });
        }
        if let Some(writer) = &*writer {
            let _ = writer.entries.send(entry);
        }
    }
}

impl AuditWriter {
    /// Returns when all that was taken is written.
    pub(crate) fn flush(&self) {
        let writer = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(WriterThread { entries, handle }) = writer {
            drop(entries);
            handle.thread().unpark();
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
            Self::Ended(job, outcome) => ended(job, outcome),
        }
    }
}

fn ended(job: &JobHandle, outcome: &Outcome) -> Event {
    Event::Outcome {
        job: job.id().to_string(),
        state: outcome.end.name().to_owned(),
        exit_code: outcome.exit_code(),
        log: job.log().ok().and_then(|log| {
            log.settle();
            Digest::of_reader(log).ok()
        }),
        denied: outcome.denied.iter().map(in_words).collect(),
        misread: misread(outcome).then(|| job.summary().map(|summary| summary.command)).flatten(),
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
                Ok(Status::Ended(outcome)) => ended(&job, &outcome),
                _ => continue,
            },
        };
        audit.append(&event, now())?;
        recorded += 1;
    }
    Ok(recorded)
}
