//! What is done to jobs that are there: `restart`, `pause`, `resume`, `signal`, `groups`, `shells`, `top`; and `watch`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::Start;
use crate::complete;
use crate::time::parse_duration;

#[derive(Debug, Args)]
pub(crate) struct Restart {
    /// Ids, unique ends of them, names, or @last
    #[arg(value_name = "JOB", required = true, add = complete::jobs())]
    pub(crate) jobs: Vec<String>,
    /// Set a variable: no record has the values of those it had
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// What it reads: TEXT or @FILE
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) stdin: Option<String>,
    /// If it runs: from SIGTERM to SIGKILL
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub(crate) grace: Duration,
}

#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// Ids, unique ends of them, names, or @last
    #[arg(value_name = "JOB", required = true, add = complete::running_jobs())]
    pub(crate) jobs: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Signal {
    /// An id, a unique end of one, a name, or @last
    #[arg(value_name = "JOB", add = complete::running_jobs())]
    pub(crate) job: String,
    /// The signal: HUP, SIGUSR1, 15
    #[arg(value_name = "SIGNAL")]
    pub(crate) name: String,
    /// Which of its processes get it
    #[arg(long, value_name = "WHICH", default_value = "group")]
    pub(crate) to: SignalTo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SignalTo {
    /// The process group of its command, as a terminal does it
    Group,
    /// The first process alone
    First,
    /// Every process
    All,
}

#[derive(Debug, Args)]
pub(crate) struct Groups {
    /// Only this group
    #[arg(value_name = "GROUP", add = complete::groups())]
    pub(crate) group: Option<String>,
    /// Let so many of its jobs run at once; a new group runs one
    #[arg(long, short, value_name = "NUMBER", requires = "group")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    /// All that are on disk, not only those that run or ended a moment ago
    #[arg(long, short)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Shells {
    #[command(subcommand)]
    pub(crate) action: Option<ShellsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ShellsAction {
    /// List the persistent shells of `--session`
    List,
    /// Forget directory, variables and functions: the next command begins anew
    Reset(ShellNames),
    /// Forget the shell altogether
    End(ShellNames),
}

#[derive(Debug, Args)]
pub(crate) struct ShellNames {
    /// The names, as given to `--session`
    #[arg(value_name = "NAME", required = true, add = complete::shells())]
    pub(crate) names: Vec<String>,
    /// Stop a job that runs in it
    #[arg(long)]
    pub(crate) stop: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Which files, as '*.rs' or 'src/**/*.ts'; not what git ignores
    #[arg(value_name = "GLOB")]
    pub(crate) glob: String,
    /// How long files must be quiet before
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = parse_duration)]
    pub(crate) quiet: Duration,
    #[command(flatten)]
    pub(crate) start: Start,
}
