//! Which part of a job's output `umbo output` prints, and how.

use clap::{Args, ValueEnum};

use crate::budget::{BudgetArg, parse_budget};
use crate::complete;
use crate::time::parse_time;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Output {
    /// An id, a unique prefix of one, a name, an artifact handle, or @last
    #[arg(value_name = "JOB", default_value = "@last", add = complete::jobs())]
    pub(crate) job: String,
    /// From this byte on
    #[arg(help_heading = "Which part", long, value_name = "OFFSET")]
    pub(crate) from: Option<u64>,
    /// The last lines
    #[arg(help_heading = "Which part", long, value_name = "LINES", conflicts_with = "from")]
    pub(crate) tail: Option<u64>,
    /// These lines, counted from 1, as 10-20
    #[arg(
        help_heading = "Which part",
        long,
        value_name = "A-B",
        allow_hyphen_values = true,
        conflicts_with_all = ["from", "tail"]
    )]
    pub(crate) lines: Option<String>,
    /// Lines that match
    #[arg(help_heading = "Which part", long, value_name = "REGEX", conflicts_with = "lines")]
    pub(crate) grep: Option<String>,
    /// Lines that look like errors, the best first; --from N leaves out the first N
    #[arg(help_heading = "Which part", long, conflicts_with_all = ["tail", "lines", "grep", "follow", "raw"])]
    pub(crate) errors: bool,
    /// What changed since another run of the same command: failures that are new, fixed, still there
    #[arg(
        help_heading = "Which part",
        long,
        value_name = "JOB",
        conflicts_with_all = ["tail", "lines", "grep", "errors", "follow", "raw", "rendered"]
    )]
    pub(crate) compare_to: Option<String>,
    /// With --grep or --errors: so many lines around each
    #[arg(help_heading = "Which part", long, value_name = "LINES")]
    pub(crate) context: Option<usize>,
    /// Only one of the two
    #[arg(help_heading = "Which part", long, value_name = "STREAM")]
    pub(crate) stream: Option<OnlyStream>,
    /// Only what came since then: a time (2026-01-31T12:00:00Z), or how long ago (5m)
    #[arg(help_heading = "Which part", long, value_name = "TIME", value_parser = parse_time, conflicts_with = "raw")]
    pub(crate) since: Option<u64>,
    /// Only what came before then
    #[arg(help_heading = "Which part", long, value_name = "TIME", value_parser = parse_time, conflicts_with = "raw")]
    pub(crate) until: Option<u64>,
    /// How much at most: 50k (bytes), 2000l (lines), 8000t (tokens), several with commas, or none
    #[arg(help_heading = "How it is shown", long, value_name = "ROOM", value_parser = parse_budget, conflicts_with = "raw")]
    pub(crate) budget: Option<BudgetArg>,
    /// Fold the noise of known tools, counted, even if all fits; or =false: leave out no line for
    /// being like others, show both ends
    #[arg(
        help_heading = "How it is shown",
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with_all = ["raw", "follow"]
    )]
    pub(crate) minimize: Option<bool>,
    /// What its terminal showed, line by line, through a terminal emulator
    #[arg(help_heading = "How it is shown", long, conflicts_with_all = ["raw", "follow", "grep", "errors", "lines", "tail", "from"])]
    pub(crate) rendered: bool,
    /// The exact bytes
    #[arg(help_heading = "How it is shown", long)]
    pub(crate) raw: bool,
    /// Show secrets as they are
    #[arg(help_heading = "How it is shown", long)]
    pub(crate) unmask: bool,
    /// Go on until the job ends
    #[arg(help_heading = "How it is shown", long, short)]
    pub(crate) follow: bool,
    /// Print it, though it is more than a screen
    #[arg(help_heading = "How it is shown", long)]
    pub(crate) no_pager: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnlyStream {
    /// Standard output
    Stdout,
    /// Standard error
    Stderr,
}
