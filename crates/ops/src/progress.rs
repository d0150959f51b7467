//! How a job stands that somebody waits for.

use std::time::{Duration, Instant};

use umbo_engine::JobHandle;
use umbo_view::{Progress, Reader, Tick};

use crate::caller::Caller;
use crate::clock::now;
use crate::job_log::JobLog;
use crate::ticket::Ticket;

/// How long a job may be silent before its caller is told that it still runs.
const SIGN_OF_LIFE_INTERVAL: Duration = Duration::from_secs(5);

/// Tells whoever waits how a job stands.
pub(crate) struct Watch<'a> {
    caller: &'a Caller,
    ticket: &'a Ticket,
    job: JobHandle,
    progress: Option<(Progress, JobLog)>,
    told: Instant,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(caller: &'a Caller, ticket: &'a Ticket, job: &JobHandle) -> Self {
        Self { caller, ticket, job: job.clone(), progress: None, told: Instant::now() }
    }

    /// A tail if it wrote something, a sign of life if it has not for long. What cannot be
    /// told is left out: nothing depends on it.
    pub(crate) fn look(&mut self) {
        if !self.ticket.wants_progress() {
            return;
        }
        if self.progress.is_none() {
            let Ok(log) = JobLog::open(&self.job) else { return };
            let started = self.job.summary().and_then(|summary| summary.started_at());
            self.progress = Some((Progress::new(started.unwrap_or_else(now), 3), log));
        }
        let Some((progress, log)) = &mut self.progress else { return };
        let reader = Reader::new(&*log).mask(&self.caller.masker);
        let mut tick = progress.tick(&reader, now()).ok().flatten();
        if tick.is_none() && self.told.elapsed() >= SIGN_OF_LIFE_INTERVAL {
            tick = progress.last_tick(&reader, now()).ok();
        }
        if let Some(tick) = tick {
            self.told = Instant::now();
            self.ticket.tell(&Tick { elapsed: tick.elapsed.max(1), ..tick });
        }
    }
}
