//! How a command runs: the words of `exec` and `start`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use umbo_engine::Size;
use umbo_gate::Mode;

use super::{Limits, Sandbox};
use crate::budget::{BudgetArg, parse_budget};
use crate::complete;
use crate::time::parse_size;

const NOTIFY_HELP: &str = "Run this line when it has ended; UMBO_AFTER_* say how";
pub(crate) const MODE_HELP: &str = "What runs unasked: auto, guard, open … [exec.mode]";

/// What `umbo start` takes.
#[derive(Debug, Args)]
pub(crate) struct StartInBackground {
    /// Give it a terminal and sit down at it; ctrl-\ leaves it running
    #[arg(long, short = 'a', conflicts_with = "stdin")]
    pub(crate) attach: bool,
    #[command(flatten)]
    pub(crate) start: Start,
}

/// How a command runs.
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// One word is a line for the shell; several are a program and its
    /// arguments. It begins at the first word that is no option, or after `--`
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
    /// Where to run it
    #[arg(long, short = 'C', value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable
    #[arg(long = "env", short = 'e', value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// What it reads: TEXT, @FILE, or - for umbo's own input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) stdin: Option<String>,
    /// A name to find the job by, which no other live job has
    #[arg(long, short, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Stop the live job of that name first
    #[arg(long, requires = "name")]
    pub(crate) replace: bool,
    /// Run it in a session: cd, variables and functions persist
    #[arg(long, short, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// The same key starts the same job only once
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    /// What happens to descendants that outlive it: kill or leave
    #[arg(long, value_name = "WHAT", default_value = "kill", hide_possible_values = true)]
    pub(crate) leaks: OnLeak,
    /// With --json: how much output the answer may hold
    #[arg(long, value_name = "ROOM", value_parser = parse_budget)]
    pub(crate) budget: Option<BudgetArg>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
    #[command(flatten)]
    pub(crate) turn: Turn,
    #[command(flatten)]
    pub(crate) surroundings: Surroundings,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
}

/// When a command runs, and what follows it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "When it runs")]
pub(crate) struct Turn {
    /// When this job has ended; with :ok, only if it ended well
    #[arg(long, value_name = "JOB[:ok]", add = complete::jobs())]
    pub(crate) after: Vec<String>,
    /// With the others of a group, of which only so many run at once
    #[arg(long, short, value_name = "NAME", add = complete::groups())]
    pub(crate) group: Option<String>,
    /// Fail instead of waiting when as many jobs run as may
    #[arg(long)]
    pub(crate) no_queue: bool,
    #[arg(long, value_name = "LINE", help = NOTIFY_HELP)]
    pub(crate) notify: Option<String>,
}

/// The shell and the terminal of a command.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Shell and terminal")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Surroundings {
    /// sh, bash, zsh, fish, nu, nu|sh (nu if installed), or a path
    #[arg(long, value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Start the shell as a login shell
    #[arg(long)]
    pub(crate) login: bool,
    /// Load the aliases and functions of your interactive bash
    #[arg(long)]
    pub(crate) profile: bool,
    /// Give it a terminal
    #[arg(long, short)]
    pub(crate) pty: bool,
    /// The size of that terminal, as 80x24
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "pty")]
    pub(crate) size: Option<Size>,
    /// Leave PAGER, EDITOR, CI and the like as they are: somebody is there
    #[arg(long)]
    pub(crate) attended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLeak {
    /// They are killed, and listed
    Kill,
    /// They are left alone, and listed
    Leave,
}
