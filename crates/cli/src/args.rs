//! The words of the command line. Parsed here and nothing else: no file, no environment is read.

mod agent;
mod config;
mod control;
mod examples;
mod files;
mod gate;
mod http;
mod install;
mod jobs;
mod limits;
mod output;
mod sandbox;
mod start;
mod wait;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use umbo_engine::Size;
use umbo_gate::Mode;

pub(crate) use self::agent::{
    Agent, Effort, ExportFormat, Interface, Models, Sessions, SessionsAction,
};
pub(crate) use self::config::{Config, ConfigPath, ConfigSet, ConfigShow, ConfigUnset};
pub(crate) use self::control::{
    Groups, Pause, Restart, ShellNames, Shells, ShellsAction, Signal, SignalTo, Top, Watch,
};
pub(crate) use self::files::{Edit, EntryOrder, Find, Ls, Read, Search, Tree, Undo, Write};
pub(crate) use self::gate::{Approvals, Approve, Audit, AuditShow, Deny, Explain, Rules, Trust};
pub(crate) use self::http::{Http, Log};
pub(crate) use self::install::{Doctor, Install, Uninstall};
pub(crate) use self::jobs::{JobState, Jobs};
pub(crate) use self::limits::{Limits, OnMaxOutput};
pub(crate) use self::output::{OnlyStream, Output};
pub(crate) use self::sandbox::{Sandbox, SandboxPort, SandboxVerb};
pub(crate) use self::start::{MODE_HELP, OnLeak, Start, StartInBackground, Surroundings};
pub(crate) use self::wait::Wait;
use crate::complete;
use crate::install::Client;
use crate::install::clients::ANY;
use crate::time::{parse_duration, parse_size};

/// Runs commands, keeps them, tells the truth about them, and stops them.
#[derive(Debug, Parser)]
#[command(
    name = "umbo",
    version,
    about,
    max_term_width = 100,
    disable_help_flag = true,
    after_help = "New here? `umbo tour`"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The verb that is called most, alone: to make the parser of all verbs takes longer than most commands.
#[derive(Debug, Parser)]
#[command(name = "umbo", disable_help_flag = true)]
struct ExecArgs {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: ExecCommand,
}

#[derive(Debug, Subcommand)]
enum ExecCommand {
    Exec(Start),
}

impl Args {
    /// What these words say, the name of the program first.
    pub(crate) fn of(words: &[OsString]) -> Result<Self, clap::Error> {
        if words.iter().any(|word| word == "exec")
            && let Ok(ExecArgs { global, command }) = ExecArgs::try_parse_from(words)
        {
            let ExecCommand::Exec(start) = command;
            return Ok(Self { global, command: Command::Exec(start) });
        }
        // Help, and what is wrong, is said by the parser that knows all verbs.
        Self::try_parse_from(words)
    }
}

/// What all verbs take stands behind what is their own.
const LAST: usize = 1000;

/// What every verb takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Global {
    /// Answer in JSON
    #[arg(long, global = true, display_order = LAST)]
    pub(crate) json: bool,
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        display_order = LAST,
        help = "Where jobs are kept [$UMBO_STATE_DIR]"
    )]
    pub(crate) state_dir: Option<PathBuf>,
    /// Print help
    #[arg(long, short, global = true, display_order = LAST, action = ArgAction::HelpShort)]
    pub(crate) help: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command and wait for it
    #[command(after_help = examples::EXEC)]
    Exec(Start),
    /// Start a command in the background and print its job id
    #[command(after_help = examples::START)]
    Start(StartInBackground),
    /// List the tasks of this project, whatever runs them
    #[command(after_help = examples::RECIPES)]
    Recipes(Recipes),
    /// Run a task of this project
    #[command(after_help = examples::RUN)]
    Run(Run),
    /// List jobs
    #[command(after_help = examples::JOBS)]
    Jobs(Jobs),
    /// See all jobs on one screen; attach, stop, approve
    #[command(after_help = examples::TOP)]
    Top(Top),
    /// Print a job's output
    #[command(visible_alias = "logs", after_help = examples::OUTPUT)]
    Output(Output),
    /// Send input to a job
    #[command(after_help = examples::INPUT)]
    Input(Input),
    /// Wait for a job's end, or for a line, a port, a file or silence
    #[command(after_help = examples::WAIT)]
    Wait(Wait),
    /// Stop jobs and all their descendants
    #[command(after_help = examples::STOP)]
    Stop(Stop),
    /// Run a job's command again, in its place if it still runs
    #[command(after_help = examples::RESTART)]
    Restart(Restart),
    /// Hold jobs still; `umbo resume` lets them go on
    #[command(after_help = examples::PAUSE)]
    Pause(Pause),
    /// Let paused jobs go on
    #[command(after_help = examples::RESUME)]
    Resume(Pause),
    /// Send a job a signal
    #[command(after_help = examples::SIGNAL)]
    Signal(Signal),
    /// Run a command again whenever files change
    #[command(after_help = examples::WATCH)]
    Watch(Box<Watch>),
    /// List groups of jobs, or say how many of a group run at once
    #[command(after_help = examples::GROUPS)]
    Groups(Groups),
    /// List, reset or end the persistent shells of `--session`
    #[command(after_help = examples::SHELLS)]
    Shells(Shells),
    /// Print what a job's terminal shows
    #[command(after_help = examples::SCREEN)]
    Screen(Screen),
    /// Sit down at a job's terminal; ctrl-\ leaves it
    #[command(after_help = examples::ATTACH)]
    Attach(Attach),
    /// Print what happened
    #[command(after_help = examples::EVENTS)]
    Events(Events),
    /// Delete jobs that ended some days ago
    #[command(after_help = examples::PRUNE)]
    Prune(Prune),
    /// Print a file, directory, archive, database or document
    #[command(after_help = examples::READ)]
    Read(Read),
    /// Search in files
    #[command(after_help = examples::SEARCH)]
    Search(Search),
    /// Find files by name, newest first
    #[command(after_help = examples::FIND)]
    Find(Find),
    /// List a directory
    #[command(after_help = examples::LS)]
    Ls(Ls),
    /// Show a directory and what is below it
    #[command(after_help = examples::TREE)]
    Tree(Tree),
    /// Write a file
    #[command(after_help = examples::WRITE)]
    Write(Write),
    /// Change files by text, patch or anchors: all of them or none
    #[command(after_help = examples::EDIT)]
    Edit(Edit),
    /// Take back what `write` and `edit` changed, or list it
    #[command(after_help = examples::UNDO)]
    Undo(Undo),
    /// Say what a command would do, without running it
    #[command(after_help = examples::CLASSIFY)]
    Classify(Classify),
    /// List or check the rules, or say which decides about a command
    #[command(subcommand, after_help = examples::RULES)]
    Rules(Rules),
    /// Say what a command may touch, or find out what it needs
    #[command(subcommand, after_help = examples::SANDBOX)]
    Sandbox(SandboxVerb),
    /// List commands that wait for a yes, and answers that still hold
    #[command(after_help = examples::APPROVALS)]
    Approvals(Approvals),
    /// Let a command run that waits for it
    #[command(after_help = examples::APPROVE)]
    Approve(Approve),
    /// Refuse a command that waits
    #[command(after_help = examples::DENY)]
    Deny(Deny),
    /// Trust the .umbo files of this project as they are now
    #[command(after_help = examples::TRUST)]
    Trust(Trust),
    /// Read or check the record of what was decided
    #[command(subcommand, after_help = examples::AUDIT)]
    Audit(Audit),
    /// Show, check or change the settings
    #[command(subcommand, after_help = examples::CONFIG)]
    Config(Config),
    /// Say which secrets are masked, without showing them
    #[command(after_help = examples::SECRETS)]
    Secrets(Secrets),
    /// Serve the tools to agents over MCP, on standard input or HTTP
    #[command(after_help = examples::MCP)]
    Mcp(Mcp),
    /// Call a tool once, as an agent does, and print its result
    #[command(after_help = examples::CALL)]
    Call(Call),
    /// List the tools of a dialect
    #[command(after_help = examples::TOOLS)]
    Tools(Tools),
    /// Work with a model: in the terminal, or -p in scripts
    #[command(after_help = examples::AGENT)]
    Agent(Box<Agent>),
    /// List the models that can be asked, or ask whether they answer
    #[command(after_help = examples::MODELS)]
    Models(Models),
    /// List, read, copy, export or delete conversations with agents
    #[command(after_help = examples::SESSIONS)]
    Sessions(Sessions),
    /// Put umbo into an agent's settings, or list the agents it knows
    #[command(after_help = examples::INSTALL)]
    Install(Install),
    /// Take umbo out of an agent's settings
    #[command(after_help = examples::UNINSTALL)]
    Uninstall(Uninstall),
    /// Say what this machine allows, and what that means
    #[command(after_help = examples::DOCTOR)]
    Doctor(Doctor),
    /// Print a script that completes words in bash, zsh, fish or nu
    #[command(after_help = examples::COMPLETIONS)]
    Completions(Completions),
    /// Write a page of the manual for every verb
    #[command(after_help = examples::MAN)]
    Man(Man),
    /// See it work: under 20 seconds, live
    #[command(after_help = examples::TOUR)]
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
    /// The task: `test`, `pkg-a/test`, `npm:build`
    #[arg(value_name = "TASK", add = complete::tasks())]
    pub(crate) task: Option<String>,
    /// What the task gets
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<String>,
    /// Give it a terminal
    #[arg(long)]
    pub(crate) pty: bool,
    #[arg(long, value_name = "MODE", help = MODE_HELP)]
    pub(crate) mode: Option<Mode>,
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
    #[arg(long, value_name = "TIME", default_value = "3d", value_parser = parse_duration)]
    pub(crate) older_than: Duration,
    /// All that ended
    #[arg(long, short, conflicts_with = "older_than")]
    pub(crate) all: bool,
    /// Say which, and delete none
    #[arg(long = "dry-run", short = 'n')]
    pub(crate) is_plan: bool,
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory, Parser};

    use super::Args;

    #[test]
    fn a_call_of_exec_means_the_same_to_both_parsers() {
        for line in [
            "exec true",
            "exec -- echo --json",
            "exec --timeout 5s --name exec 'echo exec'",
            "--json exec --pty sh -c 'exit 3'",
            "--state-dir exec exec true",
            "exec --state-dir=/x true --json",
            "start exec",
            "exec",
            "exec --no-such-option true",
            "exec --timeout nonsense true",
            "exec --help",
            "help exec",
            "--version exec",
        ] {
            let words = umbo_text::quote::split(line).unwrap();
            let words: Vec<OsString> =
                std::iter::once("umbo".into()).chain(words.into_iter().map(Into::into)).collect();
            let said = |parsed: Result<Args, clap::Error>| match parsed {
                Ok(args) => format!("{args:?}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(said(Args::of(&words)), said(Args::try_parse_from(&words)), "{line}");
        }
    }

    #[test]
    fn every_verb_has_two_examples_and_all_of_them_parse() {
        for verb in Args::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> =
                help.strip_prefix("Examples:\n").unwrap_or_default().lines().collect();
            assert_eq!(examples.len(), 2, "{}", verb.get_name());
            for example in examples {
                // What stands before and after a call of umbo is the shell's.
                let (_, call) = example.split_once("umbo ").unwrap();
                let call = call.split(" > ").next().unwrap().trim_end_matches(')');
                let words = umbo_text::quote::split(call).unwrap();
                let words = std::iter::once("umbo".to_owned()).chain(words);
                if let Err(error) = Args::try_parse_from(words) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}
