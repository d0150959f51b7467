//! The words of the gate: `umbo rules`, `approvals`, `approve`, `deny`, `trust`, `audit`.

use clap::{Args as ClapArgs, Subcommand};
use umbo_gate::Mode;

use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Rules {
    /// List the rules that hold here, the strictest first
    List,
    /// Check the rule files that hold here
    Check,
    /// Say what would happen to a command, by which rule, and why
    Explain(Explain),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    #[arg(
        long,
        value_name = "MODE",
        help = "The mode: default, accept_edits, auto, guard or open [default: tools.mode, guard, as agents get]"
    )]
    pub(crate) mode: Option<Mode>,
    /// The shell it is written for: sh, bash, zsh, fish, nu or pwsh
    #[arg(long, value_name = "SHELL", default_value = "bash")]
    pub(crate) shell: String,
    /// The command; several words are one line
    #[arg(
        value_name = "COMMAND",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Approvals {
    /// Those that are over too
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Approve {
    /// An id or a unique prefix of one
    #[arg(value_name = "ID", add = complete::questions())]
    pub(crate) id: String,
    /// For how long: once, run, or a time (30m, 2h); what a sandbox holds: once, run or always
    #[arg(long = "for", value_name = "HOW LONG", default_value = "once")]
    pub(crate) lasts: String,
    /// For all commands that begin with the same words; of a path that a sandbox holds, its directory
    #[arg(long)]
    pub(crate) prefix: bool,
    /// For any caller that wants the same, not only the one that asked
    #[arg(long)]
    pub(crate) any_caller: bool,
    /// Reverse the denial it was answered with
    #[arg(long)]
    pub(crate) overturn: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Deny {
    /// An id or a unique prefix of one
    #[arg(value_name = "ID", add = complete::questions())]
    pub(crate) id: String,
    /// Why, for the model to read
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Trust {
    /// Only say what is trusted, what is not, and what that means
    #[arg(long)]
    pub(crate) show: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Print the last records
    Show(AuditShow),
    /// Find out whether records were changed, removed or reordered
    Verify,
    /// Print all records as they are, and the head to keep elsewhere
    Export,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AuditShow {
    /// How many
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(crate) last: usize,
}
