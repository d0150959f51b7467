//! What a command may touch.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::Start;
use crate::complete;

/// The words about a command's sandbox.
#[derive(Debug, Default, ClapArgs)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct Sandbox {
    /// Its sandbox: off, read-only, workspace, workspace+net, or an own profile
    #[arg(id = "sandbox", long = "sandbox", value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Let it write this file or directory too
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// Show it this file or directory, which would be hidden
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// Let it reach this host, and no others: example.com, *.example.com, 10.0.0.0/8, with or without :port
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
}

/// What there is to know about sandboxes.
#[derive(Debug, Subcommand)]
pub(crate) enum SandboxVerb {
    /// Say what a command would be allowed, without running it
    Explain(Box<Start>),
    /// Run a command in a sandbox and say the smallest one that it needs
    Try(Box<Start>),
    /// Reach a port that a job opened in its sandbox, on this machine, until the job ends
    Port(SandboxPort),
}

/// A port of a job.
#[derive(Debug, ClapArgs)]
pub(crate) struct SandboxPort {
    /// An id, a unique prefix of one, a name, or @last
    #[arg(value_name = "JOB", add = complete::running_jobs())]
    pub(crate) job: String,
    /// The port that it opened
    #[arg(value_name = "PORT")]
    pub(crate) port: u16,
    /// The port of this machine, 0 for any that is free [default: the same]
    #[arg(long, value_name = "PORT")]
    pub(crate) at: Option<u16>,
}
