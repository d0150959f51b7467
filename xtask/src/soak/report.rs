//! What a run found.

use std::collections::BTreeMap;
use std::time::Duration;

use umbo_engine::{Status, Summary};

use super::seed::Seed;
use crate::failure::{Done, Failure};
use crate::workspace::say;

/// Wrong results that are shown; the rest is counted.
const SHOWN: usize = 20;

/// What a run found.
pub(super) struct Report {
    seed: Seed,
    /// What was done to processes and disk.
    chaos: BTreeMap<String, u64>,
    /// Jobs of the model.
    pub(super) jobs: usize,
    /// How those on disk ended.
    ends: BTreeMap<&'static str, usize>,
    /// Events that the journal lost.
    pub(super) missed: u64,
    problems: Vec<String>,
}

impl Report {
    pub(super) fn new(seed: Seed, chaos: BTreeMap<String, u64>) -> Self {
        Self { seed, chaos, jobs: 0, ends: BTreeMap::new(), missed: 0, problems: Vec::new() }
    }

    pub(super) fn wrong(&mut self, what: String) {
        self.problems.push(what);
    }

    /// A job on disk and how many ends the journal has of it.
    pub(super) fn look_at(&mut self, summary: &Summary, ends: usize) {
        *self.ends.entry(summary.status.name()).or_default() += 1;
        let id = &summary.job;
        if !matches!(summary.status, Status::Ended(_)) {
            self.wrong(format!("{id}: {} when all is over", summary.status.name()));
        } else if ends != 1 {
            self.wrong(format!("{id}: {ends} ends in the journal"));
        }
    }

    pub(super) fn print(&self, took: Duration) {
        say(format!("\nseed {}, {:.0} s, {} jobs", self.seed, took.as_secs_f64(), self.jobs));
        for (what, count) in &self.chaos {
            say(format!("  {what:<20} {count}"));
        }
        say("on disk:");
        for (end, count) in &self.ends {
            say(format!("  {end:<20} {count}"));
        }
        say(format!("events lost: {}", self.missed));
        say(format!("against the model: {}", self.problems.len()));
        for problem in self.problems.iter().take(SHOWN) {
            say(format!("  {problem}"));
        }
    }

    pub(super) fn verdict(&self) -> Done {
        match self.problems.len() {
            0 => Ok(()),
            count => Err(Failure::new(format!("{count} jobs are against the model"))),
        }
    }
}
