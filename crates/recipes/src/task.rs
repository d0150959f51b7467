//! A task: one thing a runner can be asked to do, with everything a caller needs to judge and run
//! it. Tasks are plain data; they are made by the runners and never changed afterwards.

use serde::{Deserialize, Serialize};

use umbo_text::quote;

/// One task of one runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The name an operation selects it by: `test`, `pkg-a/test`, `crate/bin/server`.
    pub name: String,
    /// The id of the runner that owns it.
    pub runner: String,
    /// What sort of thing it is for its runner.
    pub kind: Kind,
    /// Whether lists show it.
    pub visibility: Visibility,
    /// The workspace package it belongs to, when it is not the root's.
    pub package: Option<String>,
    /// The name as the runner itself knows it: the script, recipe or target.
    pub target: String,
    /// What runs, before any arguments of the caller.
    pub invocation: Invocation,
    /// How the caller's arguments are put behind it.
    pub arguments: Arguments,
    /// Where it runs, relative to the project; `.` is the project itself.
    pub directory: String,
    /// One line on what it does.
    pub doc: Option<String>,
    /// The parameters it declares.
    pub parameters: Vec<Parameter>,
    /// Where it is written.
    pub source: Option<Source>,
    /// What it runs inside, where that is known.
    pub script: Option<Script>,
    /// Names of tasks of the same runner that run with it; a name that is no task stands for
    /// something unknown.
    pub depends: Vec<String>,
    /// How long it may reasonably take.
    pub timeout: TimeoutClass,
    /// Whether it ends by itself.
    pub lifetime: Lifetime,
}

/// What sort of thing a task is for its runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A script written in a manifest.
    Script,
    /// An entry point that a package installs.
    EntryPoint,
    /// A target or recipe of a build file.
    Target,
    /// A command the runner has built in, in every project.
    Subcommand,
    /// A short name for another command.
    Alias,
    /// A binary to build and run.
    Bin,
    /// An example program.
    Example,
    /// An integration test program.
    Test,
    /// A named environment or session.
    Session,
    /// A preset of a configuration.
    Preset,
    /// A service to start.
    Service,
}

/// Whether lists show a task, and whether it can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Shown.
    Listed,
    /// Known, but noise in a list: a file that a makefile builds. It can still be named.
    Hidden,
    /// For other tasks alone: it cannot be named, and is known only so that what it does counts
    /// for those that call it.
    Internal,
}

/// What runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invocation {
    /// A program and its arguments, each a word.
    Argv(Vec<String>),
    /// Text for `sh`, as the manifest wrote it.
    Shell(String),
}

impl Invocation {
    /// The command line for a POSIX shell; words are quoted where they need it.
    pub fn command(&self) -> String {
        match self {
            Self::Argv(words) => quote::join(words),
            Self::Shell(text) => text.clone(),
        }
    }
}

/// How a caller's arguments are put behind an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// Appended; one leading `--` of the caller is dropped, because the runner would pass it on.
    Append,
    /// Appended exactly as given: a `--` means something to the runner.
    Verbatim,
    /// Put behind a `--`, unless the caller placed one.
    AfterDashes,
    /// Leading `NAME=value` words stay in front of the `--`, the rest goes behind it.
    VariablesThenDashes,
    /// Words in front of options and `NAME=value` go into brackets behind the name: `task[a,b]`.
    Brackets,
}

/// A declared parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// How it is given and whether it must be.
    pub arity: Arity,
    /// The default as written, when there is one.
    pub default: Option<String>,
    /// One line on it.
    pub doc: Option<String>,
}

/// How often a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arity {
    /// Exactly once, in its place.
    Required,
    /// Once or not at all.
    Optional,
    /// One or more.
    OneOrMore,
    /// Any number.
    ZeroOrMore,
    /// As `NAME=value`, and it must be there.
    Variable,
}

/// A place in a file of the project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// The file, relative to the project.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// The text a task runs inside, for a reader of risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// What the text is written in.
    pub language: Language,
    /// The text, in the pieces that run one by one: a line of a make recipe is a shell of its
    /// own, so nothing of it reaches into the next.
    pub steps: Vec<String>,
}

impl Script {
    pub(crate) fn new(language: Language, text: impl Into<String>) -> Self {
        Self { language, steps: vec![text.into()] }
    }

    /// The whole text.
    pub fn text(&self) -> String {
        self.steps.join("\n")
    }
}

/// What a script is written in. Everything but `Shell` still holds the runner's own
/// placeholders, so a reader of risk must treat them as unknown words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Shell text, complete.
    Shell,
    /// Lines of a make recipe; `$(NAME)` are make variables.
    Make,
    /// Shell text with `{{ }}` placeholders.
    Template,
    /// A program text with its own interpreter line.
    Program,
    /// Python: a function body or an entry point.
    Python,
    /// Text of the runner's own language.
    Other,
}

/// How long a task may reasonably take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutClass {
    /// Formatters, listings, cleaning.
    Quick,
    /// Most tasks.
    Normal,
    /// Builds, test suites, installs, releases.
    Long,
    /// It does not end by itself.
    Unbounded,
}

impl TimeoutClass {
    /// The suggested limit in seconds; `None` means no limit.
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::Quick => Some(60),
            Self::Normal => Some(300),
            Self::Long => Some(1800),
            Self::Unbounded => None,
        }
    }
}

/// Whether a task ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// It runs and ends.
    Finite,
    /// It looks like a server or a watcher.
    LongLived,
}

impl Task {
    /// The command line as it will run without arguments of the caller.
    pub fn command(&self) -> String {
        self.invocation.command()
    }

    /// A task of the project's own directory; the rest is added by the methods below.
    pub(crate) fn new(name: impl Into<String>, kind: Kind, argv: &[&str]) -> Self {
        let name = name.into();
        Self {
            target: name.clone(),
            name,
            runner: String::new(),
            kind,
            visibility: Visibility::Listed,
            package: None,
            invocation: Invocation::Argv(argv.iter().map(ToString::to_string).collect()),
            arguments: Arguments::Append,
            directory: String::from("."),
            doc: None,
            parameters: Vec::new(),
            source: None,
            script: None,
            depends: Vec::new(),
            timeout: TimeoutClass::Normal,
            lifetime: Lifetime::Finite,
        }
    }

    pub(crate) fn arguments(mut self, arguments: Arguments) -> Self {
        self.arguments = arguments;
        self
    }

    pub(crate) fn doc(mut self, doc: Option<&str>) -> Self {
        self.doc = doc.map(str::to_owned);
        self
    }

    pub(crate) fn source(mut self, file: &str, line: usize) -> Self {
        self.source = Some(Source { file: file.to_owned(), line });
        self
    }

    /// A script for a shell, if there is one.
    pub(crate) fn shell(mut self, text: Option<impl Into<String>>) -> Self {
        self.script = text.map(|text| Script::new(Language::Shell, text));
        self
    }

    pub(crate) fn script(mut self, language: Language, text: impl Into<String>) -> Self {
        self.script = Some(Script::new(language, text));
        self
    }

    /// A script of several pieces.
    pub(crate) fn steps(mut self, language: Language, steps: Vec<String>) -> Self {
        self.script = Some(Script { language, steps });
        self
    }

    pub(crate) fn parameters(mut self, parameters: Vec<Parameter>) -> Self {
        self.parameters = parameters;
        self
    }

    pub(crate) fn depends(mut self, depends: Vec<String>) -> Self {
        self.depends = depends;
        self
    }

    /// Makes it a task of a workspace package: the name is prefixed, the directory is the
    /// package's.
    pub(crate) fn within(mut self, package: &str, directory: &str) -> Self {
        self.name = format!("{package}/{}", self.name);
        self.package = Some(package.to_owned());
        directory.clone_into(&mut self.directory);
        self
    }
}
