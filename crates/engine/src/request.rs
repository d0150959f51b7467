//! What a caller asks for. Plain data: policies are enums, and the environment comes from the
//! caller, for a library reads none.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use umbo_sandbox::Plan;

use crate::names::NameUse;
use crate::turns::After;

/// A command to run and how.
///
/// Made by [`Request::shell`], [`Request::program`] or [`Request::new`], and completed by the methods
/// that are named like the fields, or by the fields themselves:
///
/// ```
/// use std::time::Duration;
/// use umbo_engine::{Environment, Request};
///
/// let request = Request::shell("make test", ".")
///     .env(Environment::inherit().var("CI", "1"))
///     .timeout(Duration::from_mins(1))
///     .name("tests");
/// assert_eq!(request.name.as_deref(), Some("tests"));
/// ```
///
/// What another machine gets of it (serde) is all but the base of the environment, which is of the
/// machine a command runs on, and an inherited standard input, which cannot travel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Request {
    /// What to run.
    pub command: Command,
    /// Where to run it: an existing directory. `PWD` is always its resolved path.
    pub cwd: PathBuf,
    /// The environment it gets.
    pub env: Environment,
    /// What it reads.
    pub stdin: Stdin,
    /// A terminal of this size instead of pipes.
    pub terminal: Option<Size>,
    /// Whether its two streams are told apart.
    pub streams: Streams,
    /// What it may use at most.
    pub limits: Limits,
    /// How it is stopped when a limit strikes or the caller goes away.
    pub ladder: Ladder,
    /// What happens to descendants that are alive when the command itself has ended.
    pub leaks: Leaks,
    /// What happens when the caller's process ends first.
    pub on_disconnect: OnDisconnect,
    /// What happens when as many jobs run as may.
    pub admission: Admission,
    /// Other jobs that must have ended before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// The group it belongs to: of those only so many run at once, whatever runs besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// A name to find it by.
    pub name: Option<String>,
    /// Whether other live jobs may have the same name.
    #[serde(default)]
    pub name_use: NameUse,
    /// The caller that owns it: lists and completions can be of its jobs only.
    pub owner: Option<String>,
    /// What the caller wants to find again in lists of jobs. Umbo itself does not look at it.
    pub labels: BTreeMap<String, String>,
    /// A persistent shell session whose directory, variables and functions it shares.
    pub session: Option<Session>,
    /// Whether the user's aliases and functions are there as in an interactive shell.
    pub profile: Profile,
    /// Same key, same job: it does not run twice.
    pub idempotency_key: Option<String>,
    /// What it may touch; without a plan, whatever its user can.
    pub sandbox: Option<Plan>,
}

impl Request {
    /// A request for `command` in `cwd`, with nothing special about it.
    pub fn new(command: Command, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command,
            cwd: cwd.into(),
            env: Environment::default(),
            stdin: Stdin::None,
            terminal: None,
            streams: Streams::Apart,
            limits: Limits::default(),
            ladder: Ladder::default(),
            leaks: Leaks::Kill,
            on_disconnect: OnDisconnect::Detach,
            admission: Admission::Queue,
            after: Vec::new(),
            group: None,
            name: None,
            name_use: NameUse::Shared,
            owner: None,
            labels: BTreeMap::new(),
            session: None,
            profile: Profile::None,
            idempotency_key: None,
            sandbox: None,
        }
    }

    /// A request for a line of `sh`.
    pub fn shell(text: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self::new(Command::Shell { text: text.into(), shell: Shell::Sh, login: Login::No }, cwd)
    }

    /// A request for a program and its arguments, with no shell between.
    pub fn program<A>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
    ) -> Self
    where
        A: Into<OsString>,
    {
        let words = [program.into()].into_iter().chain(arguments.into_iter().map(Into::into));
        Self::new(Command::Argv(words.collect()), cwd)
    }

    /// The environment it gets.
    #[must_use]
    pub fn env(mut self, env: Environment) -> Self {
        self.env = env;
        self
    }

    /// What it reads.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// A terminal of this size instead of pipes.
    #[must_use]
    pub fn terminal(mut self, size: Size) -> Self {
        self.terminal = Some(size);
        self
    }

    /// What it may use at most.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// It is stopped when it runs longer than this.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.wall = Some(timeout);
        self
    }

    /// How it is stopped when a limit strikes or the caller goes away.
    #[must_use]
    pub fn ladder(mut self, ladder: Ladder) -> Self {
        self.ladder = ladder;
        self
    }

    /// What happens to descendants that are alive when the command itself has ended.
    #[must_use]
    pub fn leaks(mut self, leaks: Leaks) -> Self {
        self.leaks = leaks;
        self
    }

    /// What happens when the caller's process ends first.
    #[must_use]
    pub fn on_disconnect(mut self, on_disconnect: OnDisconnect) -> Self {
        self.on_disconnect = on_disconnect;
        self
    }

    /// What happens when as many jobs run as may.
    #[must_use]
    pub fn admission(mut self, admission: Admission) -> Self {
        self.admission = admission;
        self
    }

    /// A name to find it by.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The caller that owns it.
    #[must_use]
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Something to find it by in lists.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// The persistent shell session it belongs to.
    #[must_use]
    pub fn session(mut self, session: Session) -> Self {
        self.session = Some(session);
        self
    }

    /// Same key, same job: it does not run twice.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }
}

/// What is run: text for a shell, or words for the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A line that a shell reads.
    Shell {
        /// The line.
        text: String,
        /// The shell.
        shell: Shell,
        /// Whether it starts as a login shell.
        login: Login,
    },
    /// A program and its arguments, no shell between.
    Argv(Vec<OsString>),
}

/// Whether a shell reads the login files. They can cost a hundred times the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Login {
    /// It does not.
    #[default]
    No,
    /// It does.
    Yes,
}

/// The shells umbo knows how to start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    /// `/bin/sh`.
    #[default]
    Sh,
    /// `bash`.
    Bash,
    /// `zsh`.
    Zsh,
    /// `fish`.
    Fish,
    /// Nushell.
    Nu,
    /// Nushell if it is installed, else `/bin/sh`.
    NuOrSh,
    /// A shell by path; it is given `-c` and the line.
    Path(PathBuf),
}

/// A persistent shell session: what one command leaves behind, the next one finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its name: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Where this command runs.
    pub directory: SessionDirectory,
}

/// Where a command in a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionDirectory {
    /// Where the one before it ended; the first runs in the request's `cwd`.
    #[default]
    Continue,
    /// In the request's `cwd`.
    Change,
}

/// Whether a snapshot of the user's own shell set-up is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Profile {
    /// No set-up at all.
    #[default]
    None,
    /// Aliases, functions and exports as the user's interactive login shell has them, read once
    /// and kept until the files that define them change.
    Snapshot,
}

/// The environment of a command: a base the caller passes in, changes to it, and defaults for
/// running unattended.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The environment to start from, usually the caller's own and the same for all its requests.
    #[serde(skip)]
    pub base: Arc<[(OsString, OsString)]>,
    /// Variables set on top.
    pub set: Vec<(OsString, OsString)>,
    /// Whether pagers, editors and prompts are told that nobody is there.
    pub attendance: Attendance,
}

/// Whether standard output and standard error of a command are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Streams {
    /// Each has a pipe of its own: what came on which is known; of two writes to different ones at the
    /// same moment, not which was first.
    #[default]
    Apart,
    /// One pipe for both: all of it in the order of writing, as standard output.
    Together,
}

/// Whether a person sits at the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Attendance {
    /// Nobody answers prompts: pagers print, editors and password prompts fail at once. These are
    /// defaults (`PAGER=cat`, `EDITOR=true`, `CI=1` and the like): a variable that the base has stays.
    #[default]
    Unattended,
    /// The same, whatever the base says.
    UnattendedAlways,
    /// The environment is passed as it is.
    Attended,
}

impl Environment {
    /// The environment of this process, as it is now: the one place where this library reads it.
    pub fn inherit() -> Self {
        Self { base: std::env::vars_os().collect(), ..Self::default() }
    }

    /// Nothing to start from.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Sets a variable.
    #[must_use]
    pub fn var(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.set.push((name.into(), value.into()));
        self
    }

    /// Leaves pagers, editors and prompts as they are: a person sits at the command.
    #[must_use]
    pub fn attended(mut self) -> Self {
        self.attendance = Attendance::Attended;
        self
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets; names are not.
        let names: Vec<_> = self.set.iter().map(|(name, _)| name).collect();
        f.debug_struct("Environment")
            .field("base", &self.base.len())
            .field("set", &names)
            .field("attendance", &self.attendance)
            .finish()
    }
}

/// What a command reads from its standard input.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdin {
    /// Nothing: end of file at once.
    #[default]
    None,
    /// These bytes, then end of file.
    Bytes(Vec<u8>),
    /// A file.
    File(PathBuf),
    /// A pipe that stays open for later input.
    Open,
    /// What this process itself reads: its standard input, handed over as it is. Not for a command
    /// with a terminal, whose input is typed.
    #[serde(skip)]
    Inherited,
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Open => f.write_str("Open"),
            Self::Inherited => f.write_str("Inherited"),
        }
    }
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

impl Size {
    /// The longest side of a terminal: a screen has to fit into memory.
    pub const LONGEST_SIDE: u16 = 1000;

    /// Refuses what no terminal is.
    pub(crate) fn check(self, field: &'static str) -> crate::error::Result<()> {
        let is_fine = |side: u16| (1..=Self::LONGEST_SIDE).contains(&side);
        if is_fine(self.columns) && is_fine(self.rows) {
            return Ok(());
        }
        let (columns, rows, most) = (self.columns, self.rows, Self::LONGEST_SIDE);
        let problem = format!("{columns}x{rows} is no terminal; a side has 1 to {most} characters");
        Err(crate::error::Error::invalid(field, problem))
    }
}

impl Default for Size {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

/// What a job may use at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end. Waiting for its turn comes before the start.
    #[serde(with = "millis", default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<Duration>,
    /// Time without any output.
    #[serde(with = "millis", default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Duration>,
    /// Bytes of output, and what happens at the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputLimit>,
    /// Bytes of memory of the whole tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Processes and threads of the whole tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Processor time, in percent of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u32>,
    /// Scheduling niceness, -20 to 19.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nice: Option<i32>,
}

impl Default for Limits {
    /// No limit but one: the middle of an output beyond 8 GiB is not kept, to save the disk.
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            output: Some(OutputLimit { bytes: 8 << 30, policy: OutputPolicy::KeepEnds }),
            memory_bytes: None,
            processes: None,
            cpu_percent: None,
            nice: None,
        }
    }
}

/// A bound on output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimit {
    /// How many bytes.
    pub bytes: u64,
    /// What happens there.
    pub policy: OutputPolicy,
}

/// What happens when a job has written as much as it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputPolicy {
    /// The job is stopped.
    Stop,
    /// It runs on; the first and the last half are kept, what is between is counted.
    KeepEnds,
}

/// How a job is stopped: each stage has a grace, then comes the next; KILL is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ladder {
    /// Grace after SIGINT, if that stage is wanted.
    #[serde(with = "millis", default)]
    pub interrupt: Option<Duration>,
    /// Grace after SIGTERM, if that stage is wanted.
    #[serde(with = "millis", default)]
    pub terminate: Option<Duration>,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { interrupt: None, terminate: Some(Duration::from_secs(5)) }
    }
}

impl Ladder {
    /// SIGKILL at once.
    pub const KILL: Self = Self { interrupt: None, terminate: None };
}

/// What happens to descendants alive when the command itself has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Leaks {
    /// They are killed, and listed in the outcome.
    #[default]
    Kill,
    /// They are left alone, and listed in the outcome.
    Leave,
}

/// What happens to a job when the process that started it ends first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// It runs on.
    #[default]
    Detach,
    /// It is stopped.
    Stop,
}

/// What happens when as many jobs run as may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Admission {
    /// The job waits, in state `created`, until another ends.
    #[default]
    Queue,
    /// The request fails.
    Refuse,
}

/// Durations as whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "the signature serde calls")]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(duration) => {
                serializer.serialize_some(&u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
            }
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
