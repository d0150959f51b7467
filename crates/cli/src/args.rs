//! The words of the command line. Parsed here and nothing else: no file, no environment is read.

mod agent;
mod config;
mod files;
mod gate;
mod http;
mod install;
mod jobs;
mod limits;
mod sandbox;
mod wait;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use umbo_engine::Size;
use umbo_gate::Mode;

pub(crate) use self::agent::{
    Agent, Effort, ExportFormat, Interface, Models, Sessions, SessionsAction,
};
pub(crate) use self::config::{Config, ConfigPath, ConfigShow};
pub(crate) use self::files::{Edit, EntryOrder, Find, Ls, Read, Search, Tree, Undo, Write};
pub(crate) use self::gate::{Approvals, Approve, Audit, AuditShow, Deny, Explain, Rules, Trust};
pub(crate) use self::http::{Http, Log};
pub(crate) use self::install::{Doctor, Install, Uninstall};
pub(crate) use self::jobs::{JobState, Jobs};
pub(crate) use self::limits::{Limits, OnMaxOutput};
pub(crate) use self::sandbox::{Sandbox, SandboxVerb};
pub(crate) use self::wait::Wait;
use crate::budget::{BudgetArg, parse_budget};
use crate::complete;
use crate::install::Client;
use crate::install::clients::ANY;
use crate::time::{parse_duration, parse_size, parse_time};

/// Runs commands, keeps them, tells the truth about them, and stops them.
#[derive(Debug, Parser)]
#[command(
    name = "umbo",
    version,
    about,
    max_term_width = 100,
    after_help = "New here? `umbo tour`"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every verb takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Global {
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[arg(
        long,
        global = true,
        help = "Where jobs are kept [default: $UMBO_STATE_DIR, $XDG_STATE_HOME/umbo]",
        value_name = "DIR"
    )]
    pub(crate) state_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and wait for it
    Exec(Start),
    /// Start a command in the background and print its job id
    Start(Start),
    /// List the tasks of this project, whatever runs them
    Recipes(Recipes),
    /// Run a task of this project
    Run(Run),
    /// List jobs
    Jobs(Jobs),
    /// Print a job's output
    #[command(visible_alias = "logs")]
    Output(Output),
    /// Send input to a job
    Input(Input),
    /// Wait until a job ends, prints something, opens a port, makes a file or falls silent
    Wait(Wait),
    /// Stop jobs and all their descendants
    Stop(Stop),
    /// Print what a job's terminal shows
    Screen(Screen),
    /// Sit down at a job's terminal; ctrl-\ leaves it
    Attach(Attach),
    /// Print what happened
    Events(Events),
    /// Delete ended jobs
    Prune(Prune),
    /// Print a file, a directory, an archive, a database, a document, or a job's output
    Read(Read),
    /// Search in files
    Search(Search),
    /// Find files by name, newest first
    Find(Find),
    /// List a directory
    Ls(Ls),
    /// Show a directory and what is below it
    Tree(Tree),
    /// Write a file
    Write(Write),
    /// Change files by text, patch or anchors: all of them or none
    Edit(Edit),
    /// Take back what `write` and `edit` changed, or list it
    Undo(Undo),
    /// Say what a command would do, without running it
    Classify(Classify),
    /// Check the rules, or say which of them decides about a command
    #[command(subcommand)]
    Rules(Rules),
    /// Say what a command may touch, or find out what it needs
    #[command(subcommand)]
    Sandbox(SandboxVerb),
    /// List commands that wait for somebody's yes, and answers that still hold
    Approvals(Approvals),
    /// Let a command run that waits for it
    Approve(Approve),
    /// Refuse a command that waits
    Deny(Deny),
    /// Trust the .umbo files of this project as they are now
    Trust(Trust),
    /// Read or check the record of what was decided
    #[command(subcommand)]
    Audit(Audit),
    /// Show, check or change the settings
    #[command(subcommand)]
    Config(Config),
    /// Say which secrets are masked, without showing them
    Secrets(Secrets),
    /// Serve the tools to agents over the Model Context Protocol, on standard input or HTTP
    Mcp(Mcp),
    /// Call a tool once and print its structured result; --mode guard judges it as an agent's call
    Call(Call),
    /// List the tools of a dialect
    Tools(Tools),
    /// Work on something with a model and the tools: in the terminal, or -p for scripts
    Agent(Box<Agent>),
    /// List the models that can be asked, or ask whether they answer
    Models(Models),
    /// List, read, copy, name, export or delete the conversations with agents
    Sessions(Sessions),
    /// Put umbo into an agent's settings, or list the agents it knows
    Install(Install),
    /// Take umbo out of an agent's settings
    Uninstall(Uninstall),
    /// Say what this machine allows, and what that means
    Doctor(Doctor),
    /// Print a script that completes verbs, options, jobs and tasks, for bash, zsh, fish or nu
    Completions(Completions),
    /// Write a page of the manual for every verb
    Man(Man),
    /// See it work: under 20 seconds, live
    Tour,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    pub(crate) action: SecretsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsAction {
    /// List what would be masked, and why
    Check,
}

const MODE_HELP: &str =
    "What runs unasked: default, accept_edits, auto, guard or open [default: exec.mode, open]";

/// How a command runs.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Start {
    /// Where to run it
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Set a variable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// What it reads: TEXT, @FILE, or - for umbo's own input, which `exec` passes on if it is piped
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub(crate) stdin: Option<String>,
    /// Give it a terminal
    #[arg(long)]
    pub(crate) pty: bool,
    /// The size of that terminal
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_size, requires = "pty")]
    pub(crate) size: Option<Size>,
    /// sh, bash, zsh, fish, nu, nu|sh (nu if installed), or a path
    #[arg(long, value_name = "SHELL")]
    pub(crate) shell: Option<String>,
    /// Start the shell as a login shell
    #[arg(long)]
    pub(crate) login: bool,
    /// Load the aliases and functions of your interactive bash
    #[arg(long)]
    pub(crate) profile: bool,
    /// Run it in a session, in which cd, variables and functions persist
    #[arg(long, value_name = "NAME")]
    pub(crate) session: Option<String>,
    /// A name to find the job by
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The same key starts the same job only once
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// What happens to descendants that outlive the command
    #[arg(long, value_name = "WHAT", default_value = "kill")]
    pub(crate) leaks: OnLeak,
    /// With --json: how much output the answer may hold, as in `umbo output --budget`
    #[arg(long, value_name = "ROOM", value_parser = parse_budget)]
    pub(crate) budget: Option<BudgetArg>,
    /// Fail instead of waiting when as many jobs run as may
    #[arg(long)]
    pub(crate) no_queue: bool,
    /// Leave pagers, editors and prompts as they are; otherwise PAGER, EDITOR, CI and the like say that
    /// nobody is there, where your environment does not say otherwise
    #[arg(long)]
    pub(crate) attended: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
    /// One word is a line for the shell; several are a program and its arguments. It begins at the
    /// first word that is no option, or after `--`
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnLeak {
    /// They are killed, and listed
    Kill,
    /// They are left alone, and listed
    Leave,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Recipes {
    /// Of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Also tasks that their runner hides
    #[arg(long)]
    pub(crate) all: bool,
    /// Nothing but names, one a line
    #[arg(long, hide = true)]
    pub(crate) names: bool,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Run {
    /// Of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Say what would run, and where
    #[arg(long = "dry-run")]
    pub(crate) is_plan: bool,
    /// List the runners found here, and those that are missing
    #[arg(long, conflicts_with_all = ["is_plan", "background", "task"])]
    pub(crate) list_runners: bool,
    /// Start it in the background and print its job id
    #[arg(long)]
    pub(crate) background: bool,
    /// With --background: return when its output matches
    #[arg(long, value_name = "REGEX", requires = "background")]
    pub(crate) ready: Option<String>,
    #[command(flatten)]
    pub(crate) limits: Limits,
    #[command(flatten)]
    pub(crate) sandbox: Sandbox,
    /// Give it a terminal
    #[arg(long)]
    pub(crate) pty: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
    /// The task: `test`, `pkg-a/test`, `npm:build`
    #[arg(value_name = "TASK", add = complete::tasks())]
    pub(crate) task: Option<String>,
    /// What the task gets
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: CompletionShell,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Man {
    /// Where they go: `umbo.1`, `umbo-exec.1`, …
    #[arg(value_name = "DIR")]
    pub(crate) directory: std::path::PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// Nushell
    Nu,
}

#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Output {
    /// An id, a unique prefix of one, a name, an artifact handle, or @last
    #[arg(value_name = "JOB", default_value = "@last", add = complete::jobs())]
    pub(crate) job: String,
    /// From this byte on
    #[arg(long, value_name = "OFFSET")]
    pub(crate) from: Option<u64>,
    /// The last lines
    #[arg(long, value_name = "LINES", conflicts_with = "from")]
    pub(crate) tail: Option<u64>,
    /// These lines, counted from 1, as 10-20
    #[arg(
        long,
        value_name = "A-B",
        allow_hyphen_values = true,
        conflicts_with_all = ["from", "tail"]
    )]
    pub(crate) lines: Option<String>,
    /// Lines that match
    #[arg(long, value_name = "REGEX", conflicts_with = "lines")]
    pub(crate) grep: Option<String>,
    /// Lines that look like errors, the best first; --from N leaves out the first N
    #[arg(long, conflicts_with_all = ["tail", "lines", "grep", "follow", "raw"])]
    pub(crate) errors: bool,
    /// What changed since another run of the same command: failures that are new, fixed, still there
    #[arg(
        long,
        value_name = "JOB",
        conflicts_with_all = ["tail", "lines", "grep", "errors", "follow", "raw", "rendered"]
    )]
    pub(crate) compare_to: Option<String>,
    /// With --grep or --errors: so many lines around each
    #[arg(long, value_name = "LINES")]
    pub(crate) context: Option<usize>,
    /// Only one of the two
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<OnlyStream>,
    /// Only what came since then: a time (2026-01-31T12:00:00Z), or how long ago (5m)
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "raw")]
    pub(crate) since: Option<u64>,
    /// Only what came before then
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "raw")]
    pub(crate) until: Option<u64>,
    /// How much at most: 50k (bytes), 2000l (lines), 8000t (tokens), several with commas, or none
    #[arg(long, value_name = "ROOM", value_parser = parse_budget, conflicts_with = "raw")]
    pub(crate) budget: Option<BudgetArg>,
    /// Fold the noise of known tools, counted, even if all fits; or =false: leave out no line for
    /// being like others, show both ends
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with_all = ["raw", "follow"]
    )]
    pub(crate) minimize: Option<bool>,
    /// What its terminal showed, line by line, through a terminal emulator
    #[arg(long, conflicts_with_all = ["raw", "follow", "grep", "errors", "lines", "tail", "from"])]
    pub(crate) rendered: bool,
    /// The exact bytes
    #[arg(long)]
    pub(crate) raw: bool,
    /// Show secrets as they are
    #[arg(long)]
    pub(crate) unmask: bool,
    /// Go on until the job ends
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnlyStream {
    /// Standard output
    Stdout,
    /// Standard error
    Stderr,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Input {
    /// An id, a unique prefix of one, a name, or @last
    #[arg(value_name = "JOB", add = complete::running_jobs())]
    pub(crate) job: String,
    /// What to type
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// A key after it: enter, ctrl-c, up, f5, …
    #[arg(long = "key", value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Say that no more input comes
    #[arg(long)]
    pub(crate) eof: bool,
    /// Give its terminal this size
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse_size)]
    pub(crate) resize: Option<Size>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Stop {
    /// Ids, unique prefixes, names, or @last
    #[arg(value_name = "JOB", required = true, add = complete::running_jobs())]
    pub(crate) jobs: Vec<String>,
    /// From SIGTERM to SIGKILL
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub(crate) grace: Duration,
    /// Begin with SIGINT and wait this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) interrupt: Option<Duration>,
    /// SIGKILL at once
    #[arg(long, conflicts_with_all = ["grace", "interrupt"])]
    pub(crate) kill: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Screen {
    /// An id, a unique prefix of one, a name, or @last
    #[arg(value_name = "JOB", default_value = "@last", add = complete::jobs())]
    pub(crate) job: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Attach {
    /// An id, a unique prefix of one, a name, or @last
    #[arg(value_name = "JOB", default_value = "@last", add = complete::running_jobs())]
    pub(crate) job: String,
    /// The key that leaves the terminal to itself
    #[arg(long, value_name = "KEY", default_value = "ctrl-\\")]
    pub(crate) detach_key: String,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Events {
    /// Those after this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) after: u64,
    /// Wait for more
    #[arg(long, short)]
    pub(crate) follow: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prune {
    /// Only jobs that ended longer ago than this
    #[arg(long, value_name = "TIME", default_value = "0", value_parser = parse_duration)]
    pub(crate) older_than: Duration,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Classify {
    /// The shell it is written for: sh, bash, zsh, fish, nu or pwsh
    #[arg(long, value_name = "SHELL", default_value = "bash")]
    pub(crate) shell: String,
    /// Compare with this command: say what only one of the two does
    #[arg(long, value_name = "OTHER")]
    pub(crate) diff: Option<String>,
    /// The command; several words are one line
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Mcp {
    /// Whose names, fields and answers the tools have [default: tools.dialect, umbo]
    #[arg(long, value_name = "NAME", add = complete::dialects())]
    pub(crate) dialect: Option<String>,
    /// Which sets of them: shell, files [default: tools.sets, shell]
    #[arg(long = "tools", value_name = "SETS", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,
    /// A name to come back under: its jobs are listed as its own, and told when they end
    #[arg(long, value_name = "NAME", env = "UMBO_OWNER")]
    pub(crate) owner: Option<String>,
    #[arg(
        long,
        value_name = "MODE",
        help = "What runs unasked: default, accept_edits, auto, guard or open [default: tools.mode, guard]"
    )]
    pub(crate) mode: Option<Mode>,
    /// Only print what a client's settings need to start it
    #[arg(
        long,
        value_name = "CLIENT",
        num_args = 0..=1,
        default_missing_value = ANY.name,
        value_parser = install::any_client()
    )]
    pub(crate) print_config: Option<&'static Client>,
    #[command(flatten)]
    pub(crate) log: Log,
    #[command(flatten)]
    pub(crate) http: Http,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Call {
    /// Whose names, fields and answers the tools have [default: tools.dialect, umbo]
    #[arg(long, value_name = "NAME", add = complete::dialects())]
    pub(crate) dialect: Option<String>,
    /// A name to come back under: its jobs are listed as its own, and told when they end
    #[arg(long, value_name = "NAME", env = "UMBO_OWNER")]
    pub(crate) owner: Option<String>,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
    /// The tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Its arguments
    #[arg(value_name = "JSON", default_value = "{}")]
    pub(crate) arguments: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Tools {
    /// Whose names, fields and answers the tools have [default: tools.dialect, umbo]
    #[arg(long, value_name = "NAME", add = complete::dialects())]
    pub(crate) dialect: Option<String>,
    /// With --json: the whole schemas, where a model is given shorter ones
    #[arg(long)]
    pub(crate) full: bool,
    /// Which sets of them: shell, files [default: tools.sets, shell]
    #[arg(long = "tools", value_name = "SETS", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,
}
