//! Which jobs `umbo jobs` lists.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::time::parse_duration;

#[derive(Debug, Args)]
pub(crate) struct Jobs {
    /// All that are on disk, as with any filter; else those that run or ended lately
    #[arg(long, short)]
    pub(crate) all: bool,
    /// Only those in this state
    #[arg(long, short, value_name = "STATE")]
    pub(crate) state: Option<JobState>,
    /// Only those with this in their name
    #[arg(long, value_name = "TEXT")]
    pub(crate) name: Option<String>,
    /// Only those that this caller asked for
    #[arg(long, value_name = "NAME")]
    pub(crate) owner: Option<String>,
    /// Only those of this group
    #[arg(long, short, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// Only those with this label
    #[arg(long = "label", value_name = "NAME[=VALUE]")]
    pub(crate) labels: Vec<String>,
    /// Only those asked for within this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) newer_than: Option<Duration>,
    /// So many of the newest; 0: all [default: 50 at a terminal]
    #[arg(long, short = 'n', value_name = "NUMBER")]
    pub(crate) limit: Option<usize>,
    /// Draw the list again whenever something happens
    #[arg(long, short)]
    pub(crate) watch: bool,
}

impl Jobs {
    /// Whether it says which jobs are wanted: then old ones are meant, too.
    pub(crate) fn is_choosy(&self) -> bool {
        self.state.is_some_and(|state| !matches!(state, JobState::Queued | JobState::Running))
            || self.name.is_some()
            || self.owner.is_some()
            || self.group.is_some()
            || !self.labels.is_empty()
            || self.newer_than.is_some()
    }
}

/// Where a job is in its life, as one asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobState {
    /// Waits for its turn
    Queued,
    /// Runs
    Running,
    /// Ended, in whatever way
    Ended,
    /// Ended well
    Ok,
    /// Ended otherwise
    Failed,
}
