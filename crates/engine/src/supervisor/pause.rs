//! A job that somebody holds still: by the freezer of its control group where it has one, else by
//! stopping each of its processes. Its time limits stand still as well.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::supervision::Supervision;
use super::tree::Held;
use crate::wire::Reach;

/// The file in a job's directory that says so, for lists.
pub(crate) const PAUSED: &str = "paused";

/// Whether a job is held, and for how long it was.
#[derive(Default)]
pub(super) struct Pause {
    now: Option<(Instant, Held)>,
    before: Duration,
}

impl Pause {
    pub(super) fn is_on(&self) -> bool {
        self.now.is_some()
    }

    /// For how long it was held in all.
    pub(super) fn waited(&self, now: Instant) -> Duration {
        let current = self.now.as_ref().map(|(since, _)| now.saturating_duration_since(*since));
        self.before + current.unwrap_or_default()
    }
}

impl Supervision<'_> {
    pub(super) fn pause(&mut self) -> Result<(), String> {
        if self.climb.is_some() || self.ended.is_some() {
            return Err("it is about to end".into());
        }
        let Some(tree) = &self.tree else {
            return Err("it waits for its turn and has nothing to pause".into());
        };
        if !self.pause.is_on() {
            // Before they stand still: a list that is made meanwhile says it too early, not too late.
            let _ = fs::write(self.state.job(self.job()).file(PAUSED), b"");
            let now = Instant::now();
            self.pause.now = Some((now, tree.hold(now)));
        }
        Ok(())
    }

    pub(super) fn resume(&mut self) -> Result<(), String> {
        let Some((since, held)) = self.pause.now.take() else {
            return Err("it is not paused".into());
        };
        if let Some(tree) = &self.tree {
            tree.let_go(held);
        }
        let now = Instant::now();
        self.pause.before += now.saturating_duration_since(since);
        // The silence was not the command's.
        self.capture.last_output = now;
        let _ = fs::remove_file(self.state.job(self.job()).file(PAUSED));
        Ok(())
    }

    /// Sends a signal that somebody chose.
    pub(super) fn signal(&mut self, number: i32, reach: Reach) -> Result<(), String> {
        let Some(signal) = Signal::from_named_raw(number) else {
            return Err(format!("{number} is no signal that a process can be sent"));
        };
        match &self.tree {
            None => Err("it waits for its turn and has no process yet".into()),
            Some(_) if self.ended.is_some() => Err("its command has ended".into()),
            Some(tree) => tree.send(signal, reach).map_err(|error| error.to_string()),
        }
    }
}
