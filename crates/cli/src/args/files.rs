//! The words about files: `umbo ls`, `tree`, `find`, `search`, `read`, `write`, `edit` and `undo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};
use umbo_gate::Mode;

use super::MODE_HELP;
use crate::time::parse_duration;

#[derive(Debug, ClapArgs)]
pub(crate) struct Ls {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) path: Option<String>,
    /// By name, newest first, or largest first
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<EntryOrder>,
    /// Without names that begin with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,
    /// Without what .gitignore excludes
    #[arg(long)]
    pub(crate) no_ignored: bool,
    /// At most so many entries
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,
    /// Without so many of the first
    #[arg(long, value_name = "COUNT")]
    pub(crate) skip: Option<u64>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EntryOrder {
    /// By name
    Name,
    /// Newest first
    Newest,
    /// Largest first
    Largest,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Tree {
    /// The directory
    #[arg(value_name = "DIR")]
    pub(crate) path: Option<String>,
    /// How deep; 1 is only its entries
    #[arg(long, short = 'L', value_name = "LEVELS")]
    pub(crate) depth: Option<u64>,
    /// At most so many entries of each directory below it
    #[arg(long, value_name = "COUNT")]
    pub(crate) per_directory: Option<u64>,
    /// Newest first, by name, or largest first
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<EntryOrder>,
    /// Without names that begin with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,
    /// Also what .gitignore excludes
    #[arg(long)]
    pub(crate) ignored: bool,
    /// At most so many entries in all
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Find {
    /// Globs (`*.rs` at any depth, `src/*.rs`), files and directories
    #[arg(value_name = "GLOB")]
    pub(crate) paths: Vec<String>,
    /// Directories instead of files
    #[arg(long, conflicts_with = "any")]
    pub(crate) directories: bool,
    /// Files and directories
    #[arg(long)]
    pub(crate) any: bool,
    /// Without names that begin with a dot
    #[arg(long)]
    pub(crate) no_hidden: bool,
    /// Also what .gitignore excludes
    #[arg(long)]
    pub(crate) ignored: bool,
    /// At most so many
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,
    /// At most so long; what was found until then is printed
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// With sizes and times
    #[arg(long, short)]
    pub(crate) long: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Search {
    /// A regular expression
    #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
    pub(crate) pattern: String,
    /// Files, directories and globs
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// Upper and lower case are the same
    #[arg(long, short)]
    pub(crate) ignore_case: bool,
    /// The pattern is plain text
    #[arg(long, short = 'F')]
    pub(crate) literal: bool,
    /// Only whole words
    #[arg(long, short)]
    pub(crate) word: bool,
    /// A match may go over lines
    #[arg(long, short = 'U')]
    pub(crate) multiline: bool,
    /// So many lines around each match
    #[arg(long, short = 'C', value_name = "LINES")]
    pub(crate) context: Option<u64>,
    /// Only the files with a match
    #[arg(long, short = 'l', conflicts_with = "counts")]
    pub(crate) files: bool,
    /// Only how many matches each file has
    #[arg(long, short = 'c')]
    pub(crate) counts: bool,
    /// Only files that match; with ! those that do not
    #[arg(help_heading = "Which files", long, short, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,
    /// Only files of a kind, as rust or py
    #[arg(help_heading = "Which files", long = "type", short = 't', value_name = "TYPE")]
    pub(crate) file_type: Option<String>,
    /// Without names that begin with a dot
    #[arg(help_heading = "Which files", long)]
    pub(crate) no_hidden: bool,
    /// Also what .gitignore excludes
    #[arg(help_heading = "Which files", long)]
    pub(crate) ignored: bool,
    /// At most so many matches, or files
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<u64>,
    /// Without so many of the first: the next page
    #[arg(long, value_name = "COUNT")]
    pub(crate) skip: Option<u64>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Read {
    /// A path, then perhaps :50, :50-80, :50+10 or :raw; x.zip:member, x.sqlite:table, <artifact://JOB>
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Source code without the bodies of functions
    #[arg(long)]
    pub(crate) summary: bool,
    /// Bytes in hexadecimal, 16 a row
    #[arg(long)]
    pub(crate) hex: bool,
    /// At most so many lines
    #[arg(long, value_name = "LINES")]
    pub(crate) max_lines: Option<u64>,
    /// With the anchors that `umbo edit` takes
    #[arg(long, conflicts_with = "plain")]
    pub(crate) anchors: bool,
    /// The lines alone
    #[arg(long)]
    pub(crate) plain: bool,
    /// Show secrets as they are
    #[arg(long)]
    pub(crate) unmask: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Write {
    /// The file
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Its content: a file, or - for standard input
    #[arg(long, value_name = "FILE|-", default_value = "-")]
    pub(crate) from: PathBuf,
    /// Also over a file that exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Make it executable
    #[arg(long)]
    pub(crate) executable: bool,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Edit {
    /// The file of --old and --new
    #[arg(value_name = "PATH", required_unless_present_any = ["patch", "input"])]
    pub(crate) path: Option<String>,
    /// The text that is there
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "new",
        requires = "path"
    )]
    pub(crate) old: Option<String>,
    /// The text to be there
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, requires = "old")]
    pub(crate) new: Option<String>,
    /// Everywhere it occurs
    #[arg(long, requires = "old")]
    pub(crate) all: bool,
    /// A unified diff or a *** Begin Patch envelope: a file, or - for standard input
    #[arg(long, value_name = "FILE|-", conflicts_with_all = ["path", "old", "input"])]
    pub(crate) patch: Option<PathBuf>,
    /// Operations by anchors: a file, or - for standard input
    #[arg(long, value_name = "FILE|-", conflicts_with = "old")]
    pub(crate) input: Option<PathBuf>,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Undo {
    /// A change, as --list names it [default: the last one]
    #[arg(value_name = "CHANGE", conflicts_with_all = ["call", "job", "list"])]
    pub(crate) change: Option<String>,
    /// List changes, newest first
    #[arg(long, short)]
    pub(crate) list: bool,
    /// All of a call
    #[arg(long, value_name = "CALL", conflicts_with = "job")]
    pub(crate) call: Option<String>,
    /// All of a job
    #[arg(long, value_name = "JOB")]
    pub(crate) job: Option<String>,
    /// With --list: of this file
    #[arg(long, value_name = "PATH", requires = "list")]
    pub(crate) path: Option<String>,
    /// With --list: at most so many
    #[arg(long, value_name = "COUNT", requires = "list")]
    pub(crate) limit: Option<u64>,
    /// Also where a file was changed again since
    #[arg(long)]
    pub(crate) force: bool,
    /// Only say what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}
