//! `exec`: a command, for as long as its caller waits; `start`: one that nobody waits for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use umbo_engine::sandbox::Plan;
use umbo_engine::{
    Admission, After, AfterEnd, Attendance, Command, JobHandle, Leaks, Limits, Login, NameUse,
    OutputLimit, OutputPolicy, Profile, Request, Session, SessionDirectory, Shell, Size, Status,
    Stdin,
};
use umbo_view::Stream;

use crate::answer::JobAnswer;
use crate::call::{Call, Ran, text};
use crate::error::Error;
use crate::sandbox::SandboxArgument;
use crate::values::{Count, Seconds};

/// What is to run, and how long its caller waits.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecRequest {
    /// A line for the shell.
    #[schemars(description = "Shell line", length(min = 1))]
    pub command: Option<String>,
    /// Instead of a line, a program and its arguments.
    #[serde(default, deserialize_with = "words")]
    #[schemars(
        description = "Instead: program and arguments",
        with = "Option<Vec<String>>",
        length(min = 1)
    )]
    pub argv: Option<Vec<OsString>>,
    /// Where to run it; relative to the caller's directory.
    #[schemars(description = "")]
    pub cwd: Option<PathBuf>,
    /// Variables to set.
    #[schemars(description = "")]
    pub env: Option<BTreeMap<String, String>>,
    /// What it reads.
    #[schemars(description = "")]
    pub stdin: Option<String>,
    /// When it is stopped, 0 for never; the caller's usual time limit unless given.
    #[schemars(description = "Seconds until it is stopped")]
    pub timeout: Option<Seconds>,
    /// How long it may be silent before it is stopped.
    #[schemars(description = "Seconds without output until it is stopped")]
    pub idle_timeout: Option<Seconds>,
    /// How long to wait for its end; as long as an operation may take, unless given.
    #[serde(rename = "yield")]
    #[schemars(description = "Seconds to wait for its end [40]", range(max = 3600))]
    pub wait: Option<Seconds>,
    /// Whether it gets a terminal.
    #[serde(default)]
    #[schemars(description = "Give it a terminal")]
    pub pty: bool,
    /// The session it runs in.
    #[schemars(description = "Named shell: cd, variables, functions persist")]
    pub session: Option<String>,
    /// Whether nobody waits for it.
    #[serde(default)]
    #[schemars(description = "Answer at once; it outlives this connection")]
    pub background: bool,
    /// A name to find it by.
    #[schemars(description = "To use instead of the id")]
    pub name: Option<String>,
    /// The same key starts the same job only once.
    #[schemars(description = "Same key: runs once")]
    pub idempotency_key: Option<String>,
    /// How much output the answer may hold.
    #[schemars(description = "", range(min = 1))]
    pub max_output_tokens: Option<Count>,
    /// What it may use at most.
    #[schemars(description = "memory_bytes processes cpu_percent nice output_bytes")]
    pub limits: Option<LimitsArgument>,
    /// What becomes of it when its caller goes away: a command that is waited for stops, one in the
    /// background or handed back running runs on, unless given.
    #[schemars(description = "If you go away")]
    pub on_disconnect: Option<OnDisconnect>,
    /// What it may touch, instead of what is usual; whoever wants more is asked about.
    #[schemars(description = "")]
    pub sandbox: Option<SandboxArgument>,
    /// What a tool call cannot say.
    #[serde(skip)]
    #[schemars(skip)]
    pub options: ExecOptions,
}

/// What becomes of a job when its caller goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub enum OnDisconnect {
    /// It is stopped.
    #[schemars(description = "")]
    Stop,
    /// It runs on.
    #[schemars(description = "")]
    Detach,
}

impl From<OnDisconnect> for umbo_engine::OnDisconnect {
    fn from(wanted: OnDisconnect) -> Self {
        match wanted {
            OnDisconnect::Stop => Self::Stop,
            OnDisconnect::Detach => Self::Detach,
        }
    }
}

/// How a command runs, as far as only a command line or a program can say it.
#[derive(Debug, Default)]
pub struct ExecOptions {
    /// What it reads, instead of a text.
    pub stdin: Option<Stdin>,
    /// The size of its terminal.
    pub size: Option<Size>,
    /// The shell that reads the line, instead of the caller's.
    pub shell: Option<Shell>,
    /// Whether that is a login shell.
    pub login: Login,
    /// Whose aliases and functions it has.
    pub profile: Profile,
    /// What happens to descendants that outlive it.
    pub leaks: Leaks,
    /// What happens when as many jobs run as may.
    pub admission: Admission,
    /// Whether somebody sits before its pagers, editors and prompts.
    pub attendance: Attendance,
    /// What it may use at most, instead of [`ExecRequest::limits`].
    pub limits: Option<Limits>,
    /// What it may touch; without a plan, what its caller may.
    pub sandbox: Option<Plan>,
    /// What of its output the answer has.
    pub output: OutputWanted,
    /// Jobs that must have ended before it begins, by whatever finds them.
    pub after: Vec<(String, AfterEnd)>,
    /// The group it takes turns in.
    pub group: Option<String>,
    /// Whether other live jobs may have its name.
    pub name_use: NameUse,
    /// What its caller wants to find again in lists.
    pub labels: BTreeMap<String, String>,
}

/// What of a job's output an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputWanted {
    /// One text, in the order it came.
    #[default]
    Together,
    /// The two streams apart, too.
    Apart,
    /// Nothing, for whoever has followed it: reading a long one takes its time.
    Nothing,
}

/// What a caller lets a job use at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct LimitsArgument {
    /// Memory of the whole tree.
    #[schemars(description = "", range(min = 1))]
    pub memory_bytes: Option<Count>,
    /// How many processes there are at once.
    #[schemars(description = "", range(min = 1))]
    pub processes: Option<Count>,
    /// Processor time, 100 for one processor.
    #[schemars(description = "", range(min = 1))]
    pub cpu_percent: Option<u32>,
    /// How little it matters to others.
    #[schemars(description = "", range(min = -20, max = 19))]
    pub nice: Option<i8>,
    /// Bytes of output that are kept: of more, both ends.
    #[schemars(description = "", range(min = 1))]
    pub output_bytes: Option<Count>,
}

fn words<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<OsString>>, D::Error> {
    let words = Option::<Vec<String>>::deserialize(deserializer)?;
    Ok(words.map(|words| words.into_iter().map(OsString::from).collect()))
}

/// Runs a command and waits for it, or starts it if its caller does not want to wait.
pub fn exec(call: &Call<'_>, request: &ExecRequest) -> Result<JobAnswer, Error> {
    let wanted = request.prepare(call)?;
    let words = request.sandbox.as_ref().map(SandboxArgument::words).transpose()?;
    let call = &call.sandboxed(words.as_ref());
    let asked = request.wait.map(|wait| wait.0);
    let ran = if request.background {
        Ran::Running(call.start(&wanted)?)
    } else {
        call.run(&wanted, call.allowed_wait(asked))?
    };
    hand_over(call, &ran, request.on_disconnect);
    let mut answer = answer(call, &ran, request.max_output_tokens, request.options.output)?;
    if answer.outcome.is_none() {
        answer.notes.extend(cut_wait(call, asked));
    }
    Ok(answer)
}

/// A command that its caller knows to run is not its caller's foreground any more: it outlives the
/// connection, unless the caller said otherwise.
pub(crate) fn hand_over(call: &Call<'_>, ran: &Ran, on_disconnect: Option<OnDisconnect>) {
    if let (Ran::Running(job), None) = (ran, on_disconnect) {
        call.caller.let_go(job.id());
    }
}

/// Says that less was waited than was asked for.
pub(crate) fn cut_wait(call: &Call<'_>, asked: Option<Duration>) -> Option<String> {
    let (asked, waited) = (asked?, call.allowed_wait(asked));
    (waited < asked).then(|| {
        let (waited, asked) = (waited.as_secs_f64(), asked.as_secs_f64());
        format!("waited {waited} s, not {asked}: this client gives up on longer calls")
    })
}

/// What became of a command, with its output.
pub(crate) fn answer(
    call: &Call<'_>,
    ran: &Ran,
    most_tokens: Option<Count>,
    wanted: OutputWanted,
) -> Result<JobAnswer, Error> {
    let (Ran::Ended(job, _) | Ran::Running(job)) = ran;
    if wanted == OutputWanted::Nothing {
        call.told(job);
        return Ok(match ran {
            Ran::Ended(_, outcome) => JobAnswer::ended(outcome),
            Ran::Running(job) => JobAnswer::standing(job, &job.status()?),
        });
    }
    let budget = call.budget(most_tokens.map(|most| most.0));
    let mut answer = match ran {
        Ran::Ended(job, outcome) => {
            let view = call.whole_view(job, budget)?;
            JobAnswer::ended(outcome).with_output(call, job, &view)
        }
        Ran::Running(job) => {
            let view = call.view(job, 0, None, budget)?;
            JobAnswer::standing(job, &job.status()?).with_output(call, job, &view)
        }
    };
    if answer.outcome.is_some() {
        call.told(job);
    }
    if wanted == OutputWanted::Apart {
        let (stdout, stderr) = if has_terminal(job) {
            (answer.output.clone().unwrap_or_default(), String::new())
        } else {
            let only = |stream| Ok::<_, Error>(text(&call.view(job, 0, Some(stream), budget)?));
            (only(Stream::Stdout)?, only(Stream::Stderr)?)
        };
        (answer.stdout, answer.stderr) = (Some(stdout), Some(stderr));
    }
    Ok(answer)
}

pub(crate) fn has_terminal(job: &JobHandle) -> bool {
    job.summary().is_some_and(|summary| summary.terminal.is_some())
}

/// Where a job stands, with what it wrote from an offset on.
pub(crate) fn standing(
    call: &Call<'_>,
    job: &JobHandle,
    from: u64,
    most_tokens: Option<Count>,
) -> Result<JobAnswer, Error> {
    let view = call.view(job, from, None, call.budget(most_tokens.map(|most| most.0)))?;
    let status = job.status()?;
    if matches!(status, Status::Ended(_)) {
        call.told(job);
    }
    Ok(JobAnswer::standing(job, &status).with_output(call, job, &view))
}

impl ExecRequest {
    /// The request that the engine runs.
    pub fn prepare(&self, call: &Call<'_>) -> Result<Request, Error> {
        let options = &self.options;
        let mut request = call.request("", None);
        if let Some(cwd) = &self.cwd {
            request.cwd = call.caller.directory.join(cwd);
        }
        request.command = self.command(&request.command)?;
        for (name, value) in self.env.iter().flatten() {
            request.env.set.push((name.into(), value.into()));
        }
        request.env.attendance = options.attendance;
        request.stdin = match (&options.stdin, &self.stdin) {
            (Some(stdin), _) => stdin.clone(),
            (None, Some(text)) => Stdin::Bytes(text.as_bytes().to_vec()),
            // What runs on its own can be given input later.
            (None, None) if self.background => Stdin::Open,
            (None, None) => Stdin::None,
        };
        request.terminal = self.pty.then(|| options.size.unwrap_or_default());
        if let Some(limits) = &options.limits {
            request.limits = limits.clone();
        }
        request.limits.wall = self.timeout.map_or(call.caller.timeout, Seconds::limit);
        if let Some(idle) = self.idle_timeout {
            request.limits.idle = idle.limit();
        }
        if let Some(limits) = &self.limits {
            limits.apply(&mut request.limits)?;
        }
        request.sandbox.clone_from(&options.sandbox);
        request.leaks = options.leaks;
        request.admission = options.admission;
        request.profile = options.profile;
        let directory = match self.cwd {
            Some(_) => SessionDirectory::Change,
            None => SessionDirectory::Continue,
        };
        request.session = self.session.clone().map(|name| Session { name, directory });
        request.name.clone_from(&self.name);
        request.name_use = options.name_use;
        request.group.clone_from(&options.group);
        request.labels.extend(options.labels.clone());
        for (name, end) in &options.after {
            request.after.push(After { job: call.job(name)?.id().clone(), end: *end });
        }
        request.idempotency_key.clone_from(&self.idempotency_key);
        request.on_disconnect = match (self.on_disconnect, self.background) {
            (Some(wanted), _) => wanted.into(),
            (None, true) => umbo_engine::OnDisconnect::Detach,
            (None, false) => umbo_engine::OnDisconnect::Stop,
        };
        Ok(request)
    }

    /// The command, for the shell of `usual` if none is named.
    fn command(&self, usual: &Command) -> Result<Command, Error> {
        let options = &self.options;
        // Only bash can be left and come back to.
        let needs_bash = self.session.is_some() || options.profile != Profile::None;
        match (&self.command, &self.argv) {
            (Some(line), None) => {
                let shell = match (&options.shell, usual) {
                    (Some(shell), _) => shell.clone(),
                    (None, Command::Shell { shell, .. }) if !needs_bash => shell.clone(),
                    _ => Shell::Bash,
                };
                Ok(Command::Shell { text: line.clone(), shell, login: options.login })
            }
            (None, Some(_)) if self.session.is_some() => Err(Error::argument(
                "session",
                "it was given with argv; accepted: a session with `command`, which its shell reads",
            )),
            (None, Some(words)) => Ok(Command::Argv(words.clone())),
            (None, None) => Err(Error::argument(
                "command",
                "nothing was given; accepted: `command`, a line for the shell, or `argv`, a list",
            )),
            (Some(_), Some(_)) => Err(Error::argument(
                "argv",
                "it was given beside `command`; accepted: one of the two",
            )),
        }
    }
}

impl LimitsArgument {
    /// Sets the limits that a caller gives.
    pub(crate) fn apply(&self, limits: &mut Limits) -> Result<(), Error> {
        let Self { memory_bytes, processes, cpu_percent, nice, output_bytes } = *self;
        if let Some(bytes) = at_least_one("memory_bytes", memory_bytes)? {
            limits.memory_bytes = Some(bytes);
        }
        if let Some(count) = at_least_one("processes", processes)? {
            limits.processes = Some(count);
        }
        if let Some(percent) = cpu_percent {
            limits.cpu_percent = Some(percent);
        }
        if let Some(nice) = nice {
            limits.nice = Some(nice.into());
        }
        if let Some(bytes) = at_least_one("output_bytes", output_bytes)? {
            limits.output = Some(OutputLimit { bytes, policy: OutputPolicy::KeepEnds });
        }
        Ok(())
    }
}

/// A limit that is no limit at all would be 0.
fn at_least_one(name: &str, given: Option<Count>) -> Result<Option<u64>, Error> {
    match given {
        Some(Count(0)) => {
            let message = "0 was given; accepted: a whole number from 1 up";
            Err(Error::argument(&format!("limits.{name}"), message))
        }
        other => Ok(other.map(|count| count.0)),
    }
}
