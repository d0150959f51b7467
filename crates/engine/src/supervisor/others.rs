//! Waiting for other jobs to end before a job begins. The job exists meanwhile: it is listed, can be
//! stopped, and needs nobody who waits with it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::{RecvFlags, recv};

use super::admission;
use super::report;
use super::supervision::{Supervision, Verdict};
use crate::id::JobId;
use crate::lost::{self, Truth};
use crate::outcome::Outcome;
use crate::state::JobDir;
use crate::sys::socket;
use crate::turns::{After, AfterEnd};
use crate::wire::Report;

/// The variables that tell a command how the job before it ended.
const JOB: &str = "UMBO_AFTER_JOB";
const STATE: &str = "UMBO_AFTER_STATE";
const EXIT_CODE: &str = "UMBO_AFTER_EXIT_CODE";

/// How a job that was waited for is now.
enum Ended {
    Known(Box<Outcome>),
    /// It was deleted before anybody looked.
    Deleted,
}

impl Supervision<'_> {
    /// Waits for all that must have ended first, or until the job has been stopped.
    pub(super) fn await_others(&mut self) {
        let others = std::mem::take(&mut self.assign.after);
        if others.is_empty() {
            return;
        }
        if let Some(caller) = self.caller {
            report(caller, &Report::Queued);
        }
        for After { job, end } in others {
            let Some(ended) = self.await_end(&job) else { return };
            let (state, code) = match &ended {
                Ended::Known(outcome) => (outcome.end.name(), outcome.exit_code()),
                Ended::Deleted => ("deleted", None),
            };
            if end == AfterEnd::Ok && code != Some(0) {
                let code = code.map_or_else(String::new, |code| format!(" {code}"));
                let why = format!("job {job}, which was to end well first, is {state}{code}");
                self.verdict = Some(Verdict::NeverStarted(why));
                return;
            }
            let code = code.map_or_else(String::new, |code| code.to_string());
            let told = [(JOB, job.as_str()), (STATE, state), (EXIT_CODE, &code)];
            let told = told.iter().map(|(name, value)| (*name, value.as_bytes()));
            self.program.add_variables(told);
        }
    }

    /// Waits for the end of a job. None if this one was stopped meanwhile.
    fn await_end(&mut self, job: &JobId) -> Option<Ended> {
        let directory = self.state.job(job);
        let mut is_turned_away = false;
        while self.verdict.is_none() {
            // Before the look: an end after it is heard.
            let line = if is_turned_away { None } else { line(&directory) };
            if !directory.exists() {
                return Some(Ended::Deleted);
            }
            if let Truth::Over(outcome) = lost::truth(self.state, job) {
                return Some(Ended::Known(outcome));
            }
            // A supervisor that hangs, is just ending or has too many callers takes no calls.
            let bell = line.or_else(|| admission::clock().ok());
            self.poll_once(bell.as_ref().map(AsFd::as_fd), &mut []);
            is_turned_away = bell.as_ref().is_some_and(has_hung_up);
        }
        None
    }
}

fn has_hung_up(line: &OwnedFd) -> bool {
    recv(line, &mut [0_u8; 1], RecvFlags::DONTWAIT | RecvFlags::PEEK) == Ok((0, 0))
}

/// A connection to a job's supervisor, which closes when the job ends.
fn line(directory: &JobDir) -> Option<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory.path(), flags, Mode::empty()).ok()?;
    socket::connect_at(&opened, "sock", None).ok()
}
