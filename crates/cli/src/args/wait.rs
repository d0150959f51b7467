//! What `umbo wait` waits for.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::complete;
use crate::time::parse_duration;

#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// Ids, unique prefixes, names, or @last
    #[arg(value_name = "JOB", required = true, add = complete::jobs())]
    pub(crate) jobs: Vec<String>,
    /// Until its output matches
    #[arg(long = "match", value_name = "REGEX")]
    pub(crate) pattern: Option<String>,
    /// Look for that only from this byte on
    #[arg(long, value_name = "OFFSET", default_value_t = 0)]
    pub(crate) from: u64,
    /// Until this TCP port accepts (8080, or 127.0.0.1:8080)
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<String>,
    /// Until this file exists
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Until it has written nothing for this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) quiet: Option<Duration>,
    /// At most this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
}
