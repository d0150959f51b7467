//! Calls that are made once: what became of one whose caller was killed while it ran.

use umbo_engine::{Scope, Status, Summary};
use umbo_ops::{Call, Ticket, Whose, text};

use crate::completed::{Completed, ending};
use crate::toolset::Toolset;

/// What became of a call that was made under a name ([`TicketBuilder::once`](umbo_ops::TicketBuilder)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Made {
    /// It started no job.
    NoJob,
    /// Its job runs on. Its end is among the completions of this caller from here on.
    Running {
        /// The job.
        job: String,
        /// What the tools of the dialect call it.
        name: String,
    },
    /// Its job is over.
    Ended {
        /// The job.
        job: String,
        /// How it ended and what it wrote, for a model.
        text: String,
        /// Whether it ended with code 0.
        is_success: bool,
    },
}

impl Toolset {
    /// What became of a call that was made under a name.
    pub fn made_once(&self, name: &str) -> umbo_engine::Result<Made> {
        let Some(job) = self.backend.job_by_key(name)? else { return Ok(Made::NoJob) };
        let Some(summary) = job.summary() else { return Ok(Made::NoJob) };
        let id = summary.job.to_string();
        let Status::Ended(outcome) = &summary.status else {
            self.adopt(&job);
            return Ok(Made::Running { job: id.clone(), name: summary.name.unwrap_or(id) });
        };
        let ticket = Ticket::default();
        let call = Call::new(self, &ticket);
        let written = match call.whole_view(&job, self.budget) {
            Ok(view) => text(&view),
            Err(error) => format!("(its output cannot be read: {})", error.message),
        };
        call.told(&job);
        let text = format!("{}\n{written}", ending(&summary));
        let is_success = outcome.exit_code() == Some(0);
        Ok(Made::Ended { job: id, text: self.mask(text.trim_end()), is_success })
    }

    /// The job of a call that was made under a name.
    pub fn job_made_once(&self, name: &str) -> Option<String> {
        let job = self.backend.job_by_key(name).ok()??;
        Some(job.id().to_string())
    }

    /// Expects the ends of jobs that an earlier process of this caller left running; how many they
    /// are.
    pub fn expect_running(&self) -> usize {
        let ticket = Ticket::default();
        let jobs = Call::new(self, &ticket).jobs(Whose::Mine, Scope::Recent).unwrap_or_default();
        let runs = |summary: &&Summary| !matches!(summary.status, Status::Ended(_));
        let running = jobs.iter().filter(runs);
        running.map(|summary| self.completions.expect(&summary.job)).count()
    }

    /// What there is to tell of all jobs of this caller that have ended, in the order in which they
    /// did: for one that was killed and knows itself which of them it has heard of.
    pub fn ended_before(&self) -> Vec<Completed> {
        let ticket = Ticket::default();
        let call = Call::new(self, &ticket);
        let mut ended: Vec<(u64, Summary)> = call
            .jobs(Whose::Mine, Scope::All)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|summary| match &summary.status {
                Status::Ended(outcome) => Some((outcome.ended_at, summary)),
                _ => None,
            })
            .collect();
        ended.sort_by_key(|(at, _)| *at);
        let told = ended.iter().filter_map(|(_, summary)| self.told(&call, summary));
        told.map(|told| self.masked_completion(told)).collect()
    }

    /// Whether this job was handed back running, and nobody was told of its end yet.
    pub fn expects(&self, job: &str) -> bool {
        job.parse().is_ok_and(|job| self.completions.expects(&job))
    }
}
