//! Where requests meet the gate: what a request asks for, which rules hold where it would run, and
//! the audit of what became of it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use umbo_command::Shell as Language;
use umbo_engine::{Clock, Command, JobHandle, Login, Outcome, Profile, Request, Shell, Stdin};
use umbo_gate::{
    Admission, Approver, Audit, Call, Decision, Digest, Error, Explanation, FileEffect, Gate,
    GatePaths, Grounds, Input, Mode, Policy, Recipe, Refusal, RuleSources, ShellState, Unreadable,
};

use umbo_text::quote;

use crate::audit_writer::{AuditWriter, Entry, JobEnd};
use crate::typed;

/// The label that says what is made of what is typed into a job.
pub(crate) const INPUT: &str = "input";
/// Nothing: it is read as data.
pub(crate) const INPUT_IS_DATA: &str = "data";

/// Programs that do nothing with their input but read it, whatever their options are.
const READERS: [&str; 18] = [
    ":", "[", "cat", "cut", "echo", "exit", "false", "grep", "head", "printf", "read", "sleep",
    "tail", "test", "tr", "true", "uniq", "wc",
];

/// How many gates are kept, each for other rules.
const MOST_CACHED_GATES: usize = 64;

/// Lets requests through or not, and keeps the audit.
#[derive(Debug)]
pub struct Gatekeeper {
    gate_paths: GatePaths,
    mode: Mode,
    records: Records,
    run: Option<String>,
    /// Where its callers work, whatever directory they ask for.
    base: Option<PathBuf>,
    gates: Mutex<Vec<Arc<CachedGate>>>,
    audit_writer: AuditWriter,
    clock: Clock,
}

/// What the audit is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Everything that was asked for.
    Everything,
    /// What was not let through.
    Refusals,
}

/// A gate, and the texts its rules were made from.
#[derive(Debug)]
struct CachedGate {
    sources: RuleSources,
    policy: Arc<Policy>,
    /// From the first record on: before, there is no need of a key, or of a place for it.
    gate: OnceLock<Gate>,
}

/// What a request asks to run, as text.
struct CommandText<'a> {
    text: Cow<'a, str>,
    language: Language,
    state: ShellState,
    setting: Setting<'a>,
}

/// What else decides what the text means. Most is never written out.
struct Setting<'a> {
    request: &'a Request,
    sandbox: &'a str,
}

impl std::fmt::Display for Setting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Request { command, profile, session, stdin, .. } = self.request;
        match command {
            Command::Shell { shell, login, .. } => write!(f, "{shell:?} {login:?}")?,
            Command::Argv(_) => f.write_str("argv")?,
        }
        let session = session.as_ref().map(|session| session.name.as_str());
        let file = match stdin {
            Stdin::File(path) => Some(path),
            _ => None,
        };
        write!(f, " {profile:?} {session:?} {file:?}")?;
        if self.sandbox.is_empty() { Ok(()) } else { write!(f, " {}", self.sandbox) }
    }
}

/// What is asked of the gate.
#[derive(Clone, Copy)]
pub struct AdmissionRequest<'a> {
    /// What is to run.
    pub request: &'a Request,
    /// Where its command begins, which a session may have left.
    pub directory: &'a Path,
    /// The task it comes from.
    pub recipe: Option<Recipe<'a>>,
    /// Why somebody is asked in any case.
    pub asks: Option<&'a str>,
    /// The profile of the sandbox it would run in.
    pub contained: Option<&'a str>,
    /// Why somebody is asked about the sandbox it wants.
    pub leaves: Option<&'a str>,
    /// All that was said about its sandbox: an approval is for that alone.
    pub sandbox: &'a str,
    /// Who can be asked at once.
    pub host: Option<&'a dyn Approver>,
}

impl<'a> AdmissionRequest<'a> {
    /// A request that begins in its own directory, and of which nothing else is known.
    pub fn new(request: &'a Request) -> Self {
        let directory = &request.cwd;
        Self {
            request,
            directory,
            recipe: None,
            asks: None,
            contained: None,
            leaves: None,
            sandbox: "",
            host: None,
        }
    }
}

impl std::fmt::Debug for AdmissionRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdmissionRequest").field("request", &self.request).finish_non_exhaustive()
    }
}

/// Why a request may not run.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// The gate says so.
    #[error("{0}")]
    Refused(Refusal),
    /// The gate cannot decide.
    #[error(transparent)]
    Gate(#[from] Error),
}

/// What a file operation is about to do.
#[derive(Debug, Clone, Copy)]
pub struct FileRequest<'a> {
    /// The operation and its paths, for the question and the record.
    pub text: &'a str,
    /// Everything it touches.
    pub effects: &'a [FileEffect],
    /// Where its caller works.
    pub directory: &'a Path,
    /// All that would be written, which an approval holds to.
    pub content: &'a str,
    /// What would be changed, for a person to see; empty if nothing would be, or nobody knows.
    pub diff: &'a str,
}

/// A request that may run: what becomes of it is recorded.
#[derive(Debug)]
#[must_use]
pub struct Permit<'a> {
    /// Who records it, and the number of the record that lets it run.
    record: Option<(&'a AuditWriter, u64)>,
    /// What its sandbox follows from.
    pub grounds: Grounds,
}

/// What may be typed into a job, after what was typed before.
#[must_use]
pub struct Keystrokes<'a> {
    job: &'a JobHandle,
    typed: &'a [u8],
    after: Option<u64>,
}

impl std::fmt::Debug for Keystrokes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It may be a password.
        write!(f, "Keystrokes({} into {})", self.typed.len(), self.job.id())
    }
}

impl Gatekeeper {
    /// A gatekeeper over the files of a user, who records everything.
    pub fn new(gate_paths: GatePaths, mode: Mode) -> Self {
        Self {
            audit_writer: AuditWriter::new(gate_paths.clone()),
            gate_paths,
            mode,
            records: Records::Everything,
            run: None,
            base: None,
            gates: Mutex::default(),
            clock: Clock::default(),
        }
    }

    /// With another measure of what is recorded.
    #[must_use]
    pub fn records(mut self, records: Records) -> Self {
        self.records = records;
        self
    }

    /// The run that its requests belong to, for approvals that last as long.
    #[must_use]
    pub fn run_id(mut self, run: Option<String>) -> Self {
        self.run = run;
        self
    }

    /// By which clock questions and approvals expire; that of the system unless given.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.audit_writer.set_clock(clock.clone());
        self.clock = clock;
        self
    }

    /// The directory its callers work in, unless it has one: that of a request may be anywhere.
    #[must_use]
    pub(crate) fn base(mut self, directory: &Path) -> Self {
        self.base.get_or_insert_with(|| directory.to_owned());
        self
    }

    /// The mode it decides in.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns when the record has all that became of what it let through.
    pub(crate) fn flush_audit(&self) {
        self.audit_writer.flush();
    }

    /// The record of what it decided, and of what became of it.
    pub fn audit(&self) -> Result<Audit, Error> {
        self.gate_paths.audit()
    }

    /// Whether a request may run.
    pub fn admit(&self, asked: &AdmissionRequest<'_>) -> Result<Permit<'_>, NotAdmitted> {
        let AdmissionRequest { request, directory, recipe, asks, host, .. } = *asked;
        let mut command = CommandText::new(request);
        command.setting.sandbox = asked.sandbox;
        let environment = environment(request);
        let call = Call {
            input: match &request.stdin {
                Stdin::Bytes(bytes) => Input::Bytes(bytes),
                _ => Input::Nothing,
            },
            recipe,
            run: self.run.as_deref(),
            asks,
            contained: asked.contained,
            leaves: asked.leaves,
            ..command.call(request, directory, &environment)
        };
        self.decide(&call, self.records, host)
    }

    /// What would be decided about a request that begins in a directory, what its sandbox would follow from,
    /// and its text. Nothing is recorded.
    pub fn explain(
        &self,
        request: &Request,
        directory: &Path,
        contained: Option<&str>,
    ) -> Result<(Explanation, Grounds, String), Error> {
        let command = CommandText::new(request);
        let environment = environment(request);
        let call = Call {
            setting: &"",
            run: self.run.as_deref(),
            contained,
            ..command.call(request, directory, &environment)
        };
        let (explained, grounds) =
            call.explain_with_grounds(&self.rules(directory)?.policy, self.mode);
        Ok((explained, grounds, command.text.into_owned()))
    }

    /// Whether a question has this id, whatever became of it.
    pub fn knows_question(&self, id: &str) -> bool {
        let found =
            self.gate_paths.approvals().and_then(|approvals| approvals.find(id, self.clock.now()));
        found.is_ok_and(|approval| approval.question.id == id)
    }

    /// Whether all that a request's command does with its input is to read it: what is typed there is
    /// data, whatever it says.
    pub(crate) fn only_reads_input(request: &Request, directory: &Path) -> bool {
        let command = CommandText::new(request);
        let environment = environment(request);
        let call = command.call(request, directory, &environment);
        let reading = call.reading();
        let is_reader =
            |words: &Vec<&str>| words.first().is_some_and(|name| READERS.contains(name));
        reading.exact
            && !reading.runs_input
            && reading.commands.iter().all(|command| is_reader(&command.exact_prefix()))
    }

    /// Whether something may be typed into a job. What was typed before on the same line, by whomever,
    /// belongs to it. Only a refusal is recorded: what is typed may be a password.
    pub fn admit_input<'a>(
        &self,
        job: &'a JobHandle,
        typed: &'a [u8],
        host: Option<&dyn Approver>,
    ) -> Result<Keystrokes<'a>, NotAdmitted> {
        let id = job.id().to_string();
        let summary = job.summary();
        let labels = summary.as_ref().map(|summary| &summary.labels);
        let is_data =
            labels.and_then(|labels| labels.get(INPUT)).is_some_and(|input| input == INPUT_IS_DATA);
        // The supervisor of an older umbo does not know, and a job that is over says so when it is
        // typed into.
        let before = job.typed().ok();
        let tail = before.as_ref().map_or(&[][..], |before| &before.tail);
        let line = typed::line(tail, typed);
        if line.asks && !is_data {
            let cwd = summary.map(|summary| PathBuf::from(summary.cwd)).unwrap_or_default();
            let call = Call {
                // Whatever reads it has a state of its own.
                shell_state: ShellState::Carried,
                input: Input::Typed { job: &id },
                run: self.run.as_deref(),
                ..Call::new(&line.text, Language::Bash, &cwd)
            };
            self.decide(&call, Records::Refusals, host).map(drop)?;
        }
        Ok(Keystrokes { job, typed, after: before.map(|before| before.total) })
    }

    /// Whether a file operation may be done. Everything it touches is decided about at once.
    pub fn admit_files(
        &self,
        request: &FileRequest<'_>,
        host: Option<&dyn Approver>,
    ) -> Result<(), NotAdmitted> {
        let content = Digest::of(request.content.as_bytes());
        self.decide(&self.file_call(request, &content), self.records, host).map(drop)
    }

    /// Whether a tool that is not umbo's own may be called. It is judged as a command of these words, whose
    /// program nobody knows: without a rule somebody is asked, whatever the tool says of itself.
    pub fn admit_tool(
        &self,
        words: &[String],
        directory: &Path,
        host: Option<&dyn Approver>,
    ) -> Result<(), NotAdmitted> {
        let text: Vec<String> = words.iter().map(|word| quote::word(word)).collect();
        let text = text.join(" ");
        let run = self.run.as_deref();
        let call = Call { run, ..Call::new(&text, Language::Posix, directory) };
        self.decide(&call, self.records, host).map(drop)
    }

    /// Records that a file operation was denied by what hides and protects files.
    pub fn record_denial(&self, request: &FileRequest<'_>, reason: &str) -> Result<(), Error> {
        let content = Digest::of(request.content.as_bytes());
        let call = self.file_call(request, &content);
        let cached = self.rules(call.cwd)?;
        self.gate(&cached)?.record_denial(&call, "file policy", reason, self.clock.now()).map(drop)
    }

    fn file_call<'r>(&'r self, request: &FileRequest<'r>, content: &'r Digest) -> Call<'r> {
        Call {
            setting: content,
            input: if request.diff.is_empty() {
                Input::Nothing
            } else {
                Input::Change(request.diff)
            },
            run: self.run.as_deref(),
            files: request.effects,
            ..Call::new(request.text, Language::Posix, request.directory)
        }
    }

    /// What may not be read by somebody who works in a directory, whoever asks.
    pub fn unreadable(&self, directory: &Path) -> Result<Unreadable, Error> {
        Ok(self.rules(directory)?.policy.unreadable())
    }

    fn decide(
        &self,
        call: &Call<'_>,
        records: Records,
        host: Option<&dyn Approver>,
    ) -> Result<Permit<'_>, NotAdmitted> {
        let cached = self.rules(call.cwd)?;
        if records == Records::Refusals {
            let (explained, grounds) = call.explain_with_grounds(&cached.policy, self.mode);
            if explained.verdict.decision() == Decision::Allow {
                return Ok(Permit { record: None, grounds });
            }
        }
        match self.gate(&cached)?.admit_asking(call, host, self.clock.now())? {
            Admission::Admitted { record, grounds, .. } => {
                Ok(Permit { record: Some((&self.audit_writer, record)), grounds })
            }
            Admission::Refused(refusal) => Err(NotAdmitted::Refused(refusal)),
        }
    }

    /// The gate over some rules.
    fn gate<'c>(&self, cached: &'c CachedGate) -> Result<&'c Gate, Error> {
        if let Some(gate) = cached.gate.get() {
            return Ok(gate);
        }
        let (policy, key) = (Arc::clone(&cached.policy), self.gate_paths.key()?);
        let gate = Gate::open(policy, self.mode, self.gate_paths.state(), key)?
            .with_audit(self.gate_paths.audit()?);
        Ok(cached.gate.get_or_init(|| gate))
    }

    /// The rules for a directory, read anew if a file of rules has changed.
    fn rules(&self, directory: &Path) -> Result<Arc<CachedGate>, Error> {
        let base = self.base.as_deref().unwrap_or(directory);
        let sources = self.gate_paths.rule_sources(base, directory)?;
        let mut all = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = all.iter().find(|cached| cached.sources == sources) {
            return Ok(Arc::clone(cached));
        }
        let policy = Arc::new(self.gate_paths.policy_of(&sources)?);
        let cached = Arc::new(CachedGate { sources, policy, gate: OnceLock::new() });
        if all.len() >= MOST_CACHED_GATES {
            all.clear();
        }
        all.push(Arc::clone(&cached));
        Ok(cached)
    }
}

impl Keystrokes<'_> {
    /// Types them, unless somebody else has typed since: then nobody has seen the line.
    pub fn send(self) -> umbo_engine::Result<()> {
        match self.after {
            Some(total) => self.job.input_after(total, self.typed),
            None => self.job.input(self.typed),
        }
    }
}

impl Permit<'_> {
    /// The job runs.
    pub fn started(&self, job: &JobHandle) {
        if let Some((audit_writer, verdict)) = self.record {
            audit_writer.write(Entry::Started { job: job.id().to_string(), verdict });
        }
    }

    /// The job is over.
    pub fn ended(&self, job: &JobHandle, outcome: &Outcome) {
        if let Some((audit_writer, _)) = self.record {
            audit_writer.write(Entry::Ended(job.clone(), JobEnd::of(outcome)));
        }
    }
}

/// The environment that a request's command gets.
fn environment(request: &Request) -> Cow<'_, [(OsString, OsString)]> {
    let (base, set) = (&request.env.base, &request.env.set);
    if set.is_empty() { Cow::Borrowed(base) } else { Cow::Owned([base, &set[..]].concat()) }
}

impl<'r> CommandText<'r> {
    /// The command of a request that begins in a directory, as the gate is asked about it.
    fn call<'a>(
        &'a self,
        request: &'a Request,
        directory: &'a Path,
        environment: &'a [(OsString, OsString)],
    ) -> Call<'a> {
        Call {
            environment,
            set: &request.env.set,
            shell_state: self.state,
            setting: &self.setting,
            ..Call::new(&self.text, self.language, directory)
        }
    }

    fn new(request: &'r Request) -> Self {
        let carried = request.session.is_some() || request.profile != Profile::None;
        let fresh = if carried { ShellState::Carried } else { ShellState::Fresh };
        let setting = Setting { request, sandbox: "" };
        match &request.command {
            Command::Shell { text, shell, login } => {
                let (language, known) = language(shell);
                let state = if *login != Login::No || !known { ShellState::Carried } else { fresh };
                Self { text: Cow::Borrowed(text), language, state, setting }
            }
            Command::Argv(words) => {
                let exact = words.iter().all(|word| word.to_str().is_some());
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                let state = if exact { fresh } else { ShellState::Carried };
                let text = Cow::Owned(quote::join(&words));
                Self { text, language: Language::Posix, state, setting }
            }
        }
    }
}

/// The language a shell reads, and whether that is certain.
fn language(shell: &Shell) -> (Language, bool) {
    match shell {
        Shell::Sh => (Language::Posix, true),
        Shell::Bash => (Language::Bash, true),
        Shell::Zsh => (Language::Zsh, true),
        Shell::Fish => (Language::Fish, true),
        Shell::Nu => (Language::Nu, true),
        // Which of the two it will be is found out only when it starts.
        Shell::NuOrSh => (Language::Posix, false),
        Shell::Path(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Language::named(&name).map_or((Language::Posix, false), |language| (language, true))
        }
    }
}
