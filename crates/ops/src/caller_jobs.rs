//! The caller's own jobs, by what its dialect wrote on them, and what it has not read of them yet.

use std::time::Duration;

use umbo_engine::{ErrorKind, JobHandle, Listed, Request, Scope, Status, Summary};
use umbo_view::{Budget, Reader, Stream, View, ViewOptions};

use crate::call::{Call, DIALECT};
use crate::error::Error;
use crate::job_log::JobLog;

/// Who reads if nobody in particular does.
const EVERYBODY: &str = "everybody";

/// The label that says how long a command was waited for, in milliseconds.
const WAITED: &str = "waited_ms";

/// Marks a command that is waited for at most so long.
pub fn label_wait(request: &mut Request, wait: Duration) {
    request.labels.insert(WAITED.to_owned(), wait.as_millis().to_string());
}

/// Whether a command goes on, or went on, without a call that waits for it.
pub fn outlasted(summary: &Summary) -> bool {
    let waited = summary.labels.get(WAITED).and_then(|digits| digits.parse::<u128>().ok());
    waited.is_some_and(|waited| match &summary.status {
        Status::Created | Status::Started { .. } => true,
        Status::Ended(outcome) => {
            u128::from(outcome.ended_at.saturating_sub(summary.created_at)) >= waited * 1000
        }
    })
}

impl Call<'_> {
    /// The caller's job with a name that this dialect gave it.
    pub fn named(&self, name: &str) -> Option<JobHandle> {
        let is_it = |summary: &Summary| {
            summary.name.as_deref() == Some(name) && self.is_mine(summary) && self.is_of(summary)
        };
        match self.own_job(name) {
            Ok(job) if job.summary().is_some_and(|summary| is_it(&summary)) => return Some(job),
            Err(error) if error.kind() == ErrorKind::UnknownJob => return None,
            // The caller has used the name in another dialect too.
            Ok(_) | Err(_) => {}
        }
        let jobs = self.caller.backend.jobs(Scope::All).ok()?;
        let newest = jobs.iter().rev().find(|summary| is_it(summary))?;
        self.caller.backend.job(newest.job.as_str()).ok()
    }

    /// The caller's jobs of this dialect that are wanted, oldest first: those that run, and of those
    /// that ended in the last `seconds` the newest `most`.
    pub fn own(
        &self,
        seconds: u64,
        most: usize,
        is_wanted: fn(&Summary) -> bool,
    ) -> Result<Vec<Summary>, Error> {
        let listed = Listed { jobs: most, age: Duration::from_secs(seconds) };
        let mut is_own =
            |summary: &Summary| self.is_mine(summary) && self.is_of(summary) && is_wanted(summary);
        Ok(self.caller.backend.recent(listed, &mut is_own)?)
    }

    fn is_mine(&self, summary: &Summary) -> bool {
        self.caller.owner.is_none() || summary.owner == self.caller.owner
    }

    fn is_of(&self, summary: &Summary) -> bool {
        summary.labels.get(DIALECT).map(String::as_str) == self.caller.dialect
    }

    /// What a job wrote since its caller last asked. The answer survives this process: whoever
    /// calls next under the same name goes on from there.
    pub fn unread(&self, job: &JobHandle, budget: Budget) -> Result<View, Error> {
        self.read_on(job, |from| {
            let view = self.view(job, from, None, budget)?;
            let end = view.parts.last().map_or(from, |part| part.offset().end);
            Ok((view, end))
        })
    }

    /// The same, with the streams apart.
    pub fn unread_streams(&self, job: &JobHandle, budget: Budget) -> Result<(View, View), Error> {
        self.read_on(job, |from| {
            // Both see the log as it is now: what comes later is new to the next reader.
            let log = JobLog::open(job)?;
            let whole = Reader::new(&log).mask(&self.caller.masker).offsets(from..u64::MAX);
            let minimize = self.caller.minimize;
            let options = ViewOptions { budget, minimize, ..ViewOptions::default() };
            let all = whole.view(&options)?;
            let end = all.parts.last().map_or(from, |part| part.offset().end);
            let read = |stream| {
                let reader = Reader::new(&log).mask(&self.caller.masker).stream(stream);
                reader.offsets(from..end).view(&options)
            };
            Ok(((read(Stream::Stdout)?, read(Stream::Stderr)?), end))
        })
    }

    fn read_on<T>(
        &self,
        job: &JobHandle,
        read: impl FnOnce(u64) -> Result<(T, u64), Error>,
    ) -> Result<T, Error> {
        job.read_on(self.caller.owner.as_deref().unwrap_or(EVERYBODY), read)
    }
}
