//! What `umbo agent`, `umbo models` and `umbo sessions` take.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use umbo_gate::Mode;

use crate::complete;
use crate::time::parse_duration;

const OUTCOMES: &str = "\
Exit status of -p: 0 the model is done, 1 no model could answer, 2 it refused, 3 a limit was reached or
the answer was cut, 4 the conversation does not fit, 5 the answer is not what --schema says,
124 the time limit was reached, 125 umbo itself failed, 130 interrupted.";

/// How an agent works.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = OUTCOMES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Agent {
    /// Work on this and print the answer; - reads it from standard input. Without it, talk in the
    /// terminal
    #[arg(short, long, value_name = "PROMPT", allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Serve a program instead: `rpc`, commands and events as lines of JSON; `acp`, the Agent Client
    /// Protocol, for editors
    #[arg(long, value_name = "MODE", conflicts_with = "prompt")]
    pub(crate) mode: Option<Interface>,
    /// The model, as `anthropic/NAME`, `openai/NAME`, `openai-chat/NAME`, `gemini/NAME` or one of
    /// models.toml [default: agent.model]
    #[arg(help_heading = "Model", long, value_name = "VENDOR/NAME")]
    pub(crate) model: Option<String>,
    /// A model that is asked if that one cannot answer; several are asked in order
    #[arg(help_heading = "Model", long, value_name = "VENDOR/NAME")]
    pub(crate) fallback: Vec<String>,
    /// How much it shall think: off, minimal, low, medium, high, xhigh or max
    #[arg(help_heading = "Model", long, value_name = "EFFORT")]
    pub(crate) effort: Option<Effort>,
    /// Whose tools it has [default: agent.dialect, or those its model knows]
    #[arg(long, value_name = "NAME", add = complete::dialects())]
    pub(crate) dialect: Option<String>,
    /// What runs unasked: default, `accept_edits`, auto, guard or open [default: agent.mode]
    #[arg(long, value_name = "MODE")]
    pub(crate) gate: Option<Mode>,
    /// Go on with the newest session of this directory
    #[arg(help_heading = "Session", short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) is_continued: bool,
    /// Go on with this session: its id, the beginning of it, or its file
    #[arg(help_heading = "Session", short, long, value_name = "SESSION")]
    pub(crate) resume: Option<String>,
    /// Leave that session as it is, and go on with a copy
    #[arg(help_heading = "Session", long)]
    pub(crate) fork: bool,
    /// Keep no session
    #[arg(help_heading = "Session", long, conflicts_with_all = ["is_continued", "resume", "fork"])]
    pub(crate) no_session: bool,
    /// With -p: the answer is JSON of this JSON Schema, a file
    #[arg(long, value_name = "FILE", requires = "prompt")]
    pub(crate) schema: Option<PathBuf>,
    /// Do not wait for jobs in the background when the model has said all
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// End after so many answers of the model
    #[arg(help_heading = "Limits", long, value_name = "COUNT")]
    pub(crate) max_turns: Option<u32>,
    /// End after so many tokens, read and written
    #[arg(help_heading = "Limits", long, value_name = "COUNT")]
    pub(crate) max_tokens: Option<u64>,
    /// End after so many dollars
    #[arg(help_heading = "Limits", long, value_name = "DOLLARS")]
    pub(crate) max_cost: Option<f64>,
    /// End after this time
    #[arg(help_heading = "Limits", long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// In a terminal: only ever write below, nothing is drawn again; for screen readers and logs
    #[arg(long)]
    pub(crate) plain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interface {
    /// Commands and events as lines of JSON
    Rpc,
    /// The Agent Client Protocol
    Acp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Effort {
    /// Not at all
    Off,
    /// As little as it can
    Minimal,
    /// Little
    Low,
    /// Some
    Medium,
    /// Much
    High,
    /// Very much
    Xhigh,
    /// As much as it can
    Max,
}

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Ask each one that there is a key for, once, and say whether it answers
    #[arg(long)]
    pub(crate) check: bool,
    /// Only those whose name has this in it
    #[arg(value_name = "WORD")]
    pub(crate) word: Option<String>,
}

#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Sessions {
    #[command(subcommand)]
    pub(crate) action: Option<SessionsAction>,
    /// Those of all directories, not only of this one
    #[arg(long, global = true)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsAction {
    /// List sessions, the last one used first
    List,
    /// List sessions in which something is said
    Search {
        /// What is looked for; upper and lower case are the same
        #[arg(value_name = "TEXT")]
        text: String,
    },
    /// Print a session
    Show(OneSession),
    /// Go on with a session in the terminal
    Resume(OneSession),
    /// Make a copy of a session, up to an entry
    Fork {
        #[command(flatten)]
        session: OneSession,
        /// The entry; the last one, unless given
        #[arg(long, value_name = "ENTRY")]
        at: Option<String>,
    },
    /// Print the branches of a session
    Tree(OneSession),
    /// Give an entry a name, or the session a title
    Label {
        #[command(flatten)]
        session: OneSession,
        /// The name; without one it is taken away
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// The entry; the whole session, unless given
        #[arg(long, value_name = "ENTRY")]
        entry: Option<String>,
    },
    /// Print a session as a document
    Export {
        #[command(flatten)]
        session: OneSession,
        /// What kind of document
        #[arg(long, value_name = "FORMAT", default_value = "md")]
        format: ExportFormat,
    },
    /// Delete sessions
    Delete {
        /// Ids, or beginnings of them
        #[arg(value_name = "SESSION", required = true)]
        sessions: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct OneSession {
    /// Its id, the beginning of it, its file, or @last
    #[arg(value_name = "SESSION", default_value = "@last")]
    pub(crate) session: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Markdown
    Md,
    /// One page of HTML
    Html,
}
