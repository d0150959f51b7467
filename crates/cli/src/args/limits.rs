//! What a job may use at most: the same words wherever one is started.

use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use crate::time::{TimeLimit, parse_bytes, parse_duration, parse_limit};

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Stop it when it has run this long (30, 1.5s, 2m), or none; waiting for its turn does not count
    #[arg(long, value_name = "TIME", value_parser = parse_limit)]
    pub(crate) timeout: Option<TimeLimit>,
    /// Stop it when it has written nothing for this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,
    /// At most this much memory (64k, 10M, 1G) for it and its descendants
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// At most so many processes
    #[arg(long, value_name = "NUMBER")]
    pub(crate) pids: Option<u64>,
    /// At most this share of one processor
    #[arg(long, value_name = "PERCENT")]
    pub(crate) cpu: Option<u32>,
    /// Its niceness, -20 to 19
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) nice: Option<i32>,
    /// At most this much output
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) max_output: Option<u64>,
    /// What happens there
    #[arg(long, value_name = "WHAT", default_value = "keep-ends")]
    pub(crate) on_max_output: OnMaxOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnMaxOutput {
    /// It runs on; the first and last half are kept
    KeepEnds,
    /// It is stopped
    Stop,
}
