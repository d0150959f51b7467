//! What a command may touch.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// The words about a command's sandbox.
#[derive(Debug, ClapArgs)]
pub(crate) struct Sandbox {
    /// What it may touch: off, read-only, workspace or workspace+net
    #[arg(id = "sandbox", long = "sandbox", value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Let it write this file or directory too
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// Show it this file or directory, which would be hidden
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// Let it reach this host, and no others: example.com, *.example.com, 10.0.0.0/8, with or without :port
    #[arg(long, value_name = "HOST", requires = "sandbox")]
    pub(crate) allow_host: Vec<String>,
}
