//! The library's front: starts jobs, finds them, lists them, and tells what happened.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use umbo_text::quote;

use crate::attached::{Attached, Given, Sent};
use crate::beside::Beside;
use crate::builder::Builder;
use crate::catalog::{Living, Owners};
use crate::clock::{self, Clock};
use crate::environment::LastBlock;
use crate::error::{Error, Result};
use crate::event::Journal;
use crate::id::JobId;
use crate::idempotency::{Claim, fingerprint};
use crate::job::Job;
use crate::line::Line;
use crate::lost::{self, Truth};
use crate::outcome::Outcome;
use crate::prune;
use crate::repeat::Repeat;
use crate::request::{Command, Request, SessionDirectory, Stdin};
use crate::session;
use crate::shell::{self, Invocation};
use crate::spare::{Spares, Supervisor};
use crate::state::{FORMAT, Record, State};
use crate::turns;
use crate::wire::{Assign, NotifyOn, Retention, StdinKind};

/// How long a job that is over may take to say so.
const ANNOUNCE_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a deletion waits for processes that just die in the control groups of deleted jobs.
const EMPTY_GROUPS_TIMEOUT: Duration = Duration::from_millis(500);

/// The words and the environment of a command usually have room in this.
const USUAL_BODY_BYTES: usize = 8 << 10;

/// So many supervisors may die before they start a job: the ones that wait, the one that is then
/// started, and some more for a machine that kills them.
const MOST_DEAD_SUPERVISORS: usize = 6;

/// Starts and finds the jobs of one state directory. Cheap to clone; usable from any thread.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: State,
    spares: Spares,
    max_running: usize,
    retention: Retention,
    listed: Listed,
    /// By which ended jobs get old.
    clock: Clock,
    living: Mutex<Living>,
    owners: Mutex<Owners>,
    /// Held open for those who look what ended, which is every call.
    journal: Mutex<Option<Journal>>,
    environment: LastBlock,
}

/// Which ended jobs are listed.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// At most this many.
    pub jobs: usize,
    /// Those that ended within this time.
    pub age: Duration,
}

impl Default for Listed {
    fn default() -> Self {
        Self { jobs: 100, age: Duration::from_mins(5) }
    }
}

/// Which jobs a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Those that run or wait, and those that ended not long ago.
    #[default]
    Recent,
    /// All on disk.
    All,
}

impl Engine {
    /// An engine over a state directory.
    pub fn builder(state: impl Into<PathBuf>) -> Builder {
        Builder::new(state.into())
    }

    /// An engine over an open state.
    pub(crate) fn new(
        state: State,
        spares: Spares,
        max_running: usize,
        retention: Retention,
        listed: Listed,
        clock: Clock,
    ) -> Self {
        let inner = Inner {
            state,
            spares,
            max_running,
            retention,
            listed,
            clock,
            living: Mutex::default(),
            owners: Mutex::default(),
            journal: Mutex::default(),
            environment: LastBlock::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn state(&self) -> &State {
        &self.inner.state
    }

    /// By which ended jobs get old.
    pub(crate) fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Which ended jobs are listed.
    pub(crate) fn listed(&self) -> Listed {
        self.inner.listed
    }

    /// The jobs that may be alive, oldest first.
    pub(crate) fn living(&self) -> Result<Vec<JobId>> {
        let mut living = self.inner.living.lock().unwrap_or_else(PoisonError::into_inner);
        living.jobs(self.state()).map_err(Error::state(self.state_directory()))
    }

    /// The numbers of the jobs that may be this owner's, oldest first.
    pub(crate) fn owned(&self, owner: &str) -> Result<Arc<Vec<u128>>> {
        let mut owners = self.inner.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.numbers(self.state(), owner).map_err(Error::state(self.state_directory()))
    }

    pub(crate) fn journal(&self) -> Result<Journal> {
        let path = self.state().events();
        Journal::open_to_read(&path).map_err(Error::file("open", path))
    }

    /// Reads the journal through a descriptor that stays open from one call to the next.
    pub(crate) fn with_journal<T>(
        &self,
        read: impl FnOnce(&Journal) -> std::io::Result<T>,
    ) -> Result<T> {
        let mut held = self.inner.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.as_ref().is_some_and(Journal::is_whole_and_in_place) {
            *held = None;
        }
        let journal = match &mut *held {
            Some(journal) => journal,
            held => held.insert(self.journal()?),
        };
        read(journal).map_err(Error::file("read", self.state().events()))
    }

    /// Where everything is.
    pub fn state_directory(&self) -> &Path {
        self.state().root()
    }

    /// Starts a job and returns when its command runs, waits for its turn, or failed to start.
    pub fn start(&self, request: &Request) -> Result<Job> {
        Ok(self.spawn(request)?.detach())
    }

    /// Runs a job to its end. [`Engine::output`] and [`Engine::read`] give what it wrote, too.
    pub fn run(&self, request: &Request) -> Result<(Job, Outcome)> {
        let mut attached = self.launch(request, NotifyOn::End)?;
        let outcome = attached.wait(None)?;
        let job = attached.detach();
        match outcome {
            Some(outcome) => Ok((job, outcome)),
            None => Err(Error::SupervisorGone("it sent no outcome".into())),
        }
    }

    /// Starts a job and stays attached to it: the fastest way to learn of its end.
    ///
    /// Dropping the result is what [`OnDisconnect`](crate::OnDisconnect) speaks of.
    pub fn spawn(&self, request: &Request) -> Result<Attached> {
        self.launch(request, NotifyOn::Start)
    }

    /// As [`Engine::spawn`], for a caller that would wait for the end in any case: returns when the
    /// job has ended, or after `timeout` with the job running on. A short command costs less this
    /// way.
    pub fn attend(&self, request: &Request, timeout: Duration) -> Result<Attached> {
        self.attend_beside(request, timeout, None)
    }

    /// The same for a caller that listens to something else while it waits: now, and later for the result.
    pub fn attend_beside(
        &self,
        request: &Request,
        timeout: Duration,
        beside: Option<&Arc<dyn Beside>>,
    ) -> Result<Attached> {
        let deadline = clock::deadline(timeout);
        let hear = |sent: Sent| sent.beside(beside.cloned()).heard_until(deadline);
        self.give(request, NotifyOn::End, hear)
    }

    fn send(
        &self,
        request: &Request,
        directory: &Path,
        claim: &Claim,
        notify_on: NotifyOn,
    ) -> Result<Sent> {
        let job = match claim {
            Claim::Mine(job) | Claim::Taken(job) => job.id().clone(),
            Claim::None => JobId::generate(),
        };
        let (assign, body) = self.assign(request, directory, &job, notify_on)?;
        let supervisor = self.inner.spares.take(assign.sandbox.as_ref())?;
        let sent = Attached::send(Job::new(self.clone(), job), supervisor, &assign, &body);
        self.inner.spares.expect(assign.sandbox.as_ref());
        Ok(sent)
    }

    /// Takes a supervisor back that gets ready for another job.
    pub(crate) fn give_back(&self, supervisor: Supervisor) {
        self.inner.spares.give_back(supervisor);
    }

    /// Has supervisors made in the place of those that do not come back soon.
    pub(crate) fn refill_spares(&self) {
        self.inner.spares.refill();
    }

    fn launch(&self, request: &Request, notify_on: NotifyOn) -> Result<Attached> {
        self.give(request, notify_on, Sent::accepted)
    }

    /// Gives a job to a supervisor, and to another one while it is proven that none started it.
    fn give(
        &self,
        request: &Request,
        notify_on: NotifyOn,
        answer: impl Fn(Sent) -> Result<Given>,
    ) -> Result<Attached> {
        let directory = check(request)?;
        let claim = self.claim(request)?;
        if let Claim::Taken(job) = &claim {
            return Ok(Attached::to_existing(job.clone()));
        }
        // Held until the job has its name, or none.
        let _name = self.take_name(request)?;
        let mut dead = 0;
        loop {
            match answer(self.send(request, &directory, &claim, notify_on)?)? {
                Given::Job(attached) => return Ok(*attached),
                Given::NotStarted(why) => {
                    self.inner.spares.forget_dead();
                    dead += 1;
                    if dead == MOST_DEAD_SUPERVISORS {
                        return Err(Error::SupervisorGone(why));
                    }
                }
            }
        }
    }

    fn assign(
        &self,
        request: &Request,
        directory: &Path,
        job: &JobId,
        notify_on: NotifyOn,
    ) -> Result<(Assign, Vec<u8>)> {
        let environment = self.inner.environment.of(request)?;
        let invocation = self.invocation(request, directory, &environment.path)?;
        let mut body = Body::new();
        body.push("command", invocation.program.as_os_str())?;
        body.push("cwd", directory.as_os_str())?;
        for argument in &invocation.arguments {
            body.push("command", argument)?;
        }
        environment.write(directory, job, &mut body.bytes);
        let (stdin, bytes) = match &request.stdin {
            Stdin::None => (StdinKind::None, &[][..]),
            Stdin::Open => (StdinKind::Open, &[][..]),
            Stdin::Bytes(bytes) => (StdinKind::Bytes, &bytes[..]),
            Stdin::File(path) => (StdinKind::File, path.as_os_str().as_bytes()),
            Stdin::Inherited => (StdinKind::Passed, &[][..]),
        };
        body.bytes.extend_from_slice(bytes);
        let parent = self.running(environment.parent.as_ref());
        let record = Self::record(request, directory, job, parent);
        let assign = Assign {
            job: job.clone(),
            record: serde_json::to_vec(&record).unwrap_or_default(),
            name: record.name,
            owner: record.owner,
            limits: request.limits.clone(),
            ladder: request.ladder,
            leaks: request.leaks,
            on_disconnect: request.on_disconnect,
            admission: request.admission,
            max_running: match &request.group {
                Some(group) => turns::limit(self.state(), group),
                None => self.inner.max_running,
            },
            group: request.group.clone(),
            after: request.after.clone(),
            parent: record.parent,
            terminal: request.terminal,
            stdin,
            streams: request.streams,
            session: request.session.as_ref().map(|session| session.name.clone()),
            continues_session: request
                .session
                .as_ref()
                .is_some_and(|session| session.directory == SessionDirectory::Continue),
            arguments: invocation.arguments.len(),
            stdin_bytes: bytes.len(),
            retention: self.inner.retention,
            notify_on,
            sandbox: session::in_sandbox(self, request),
            afterwards: self.inner.spares.afterwards(),
        };
        Ok((assign, body.bytes))
    }

    fn invocation(&self, request: &Request, directory: &Path, path: &OsStr) -> Result<Invocation> {
        match &request.command {
            Command::Argv(_) if session::is_wanted(request) => Err(Error::invalid(
                "session",
                "a session or profile needs a line for its shell, not separate words",
            )),
            Command::Argv(words) => shell::invoke_words(words, directory, path),
            Command::Shell { text, shell, login } if session::is_wanted(request) => {
                session::check_login(*login)?;
                session::invoke(self, request, text, shell, directory)
            }
            Command::Shell { text, shell, login } => shell.invoke(text, *login, path),
        }
    }

    /// The job whose command makes a request, by the tag in its environment, if it runs still.
    fn running(&self, tag: Option<&JobId>) -> Option<JobId> {
        let directory = self.state().job(tag?);
        (directory.is_supervised() && directory.outcome().is_none()).then(|| tag.cloned()).flatten()
    }

    fn record(request: &Request, directory: &Path, job: &JobId, parent: Option<JobId>) -> Record {
        let (command, shell) = match &request.command {
            Command::Shell { text, shell, .. } => (text.clone(), Some(shell.name())),
            Command::Argv(words) => {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                (quote::join(&words), None)
            }
        };
        Record {
            v: FORMAT,
            job: job.clone(),
            command,
            shell,
            cwd: directory.to_string_lossy().into_owned(),
            created_at: clock::now_us(),
            name: request.name.clone(),
            owner: request.owner.clone(),
            labels: request.labels.clone(),
            parent,
            session: request.session.as_ref().map(|session| session.name.clone()),
            group: request.group.clone(),
            after: request.after.clone(),
            terminal: request.terminal,
            env: request
                .env
                .set
                .iter()
                .map(|(name, _)| name.to_string_lossy().into_owned())
                .collect(),
            limits: request.limits.clone(),
            repeat: Repeat::of(request),
            fingerprint: request.idempotency_key.as_ref().map(|_| fingerprint(request)),
            supervisor: None,
        }
    }

    /// Deletes ended jobs: all that ended longer than `age` ago, and the oldest of the rest beyond
    /// what the engine keeps.
    pub fn prune(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        for id in self.living()? {
            let is_over = matches!(lost::truth(self.state(), &id), Truth::Over(_));
            if is_over && !self.state().job(&id).is_announced() {
                // Its supervisor is about to say so: that is waited for, but not for long.
                let deadline = Instant::now() + ANNOUNCE_TIMEOUT;
                Line::open(&Job::new(self.clone(), id)).sleep(Some(deadline), None);
            }
        }
        let deadline = Instant::now() + EMPTY_GROUPS_TIMEOUT;
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let now = self.clock().now();
        prune::prune(self.state(), self.inner.retention, age, now, Some(deadline), threads)
    }

    /// The jobs that [`Engine::prune`] would delete.
    pub fn prunable(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        let examined = prune::examine(self.state(), self.inner.retention, age, self.clock().now())?;
        Ok(examined.into_iter().filter(|job| job.leaves).map(|job| job.id).collect())
    }
}

/// Strings without NUL, each followed by one.
struct Body {
    bytes: Vec<u8>,
}

impl Body {
    fn new() -> Self {
        Self { bytes: Vec::with_capacity(USUAL_BODY_BYTES) }
    }

    fn push(&mut self, field: &'static str, text: &OsStr) -> Result<()> {
        if text.as_bytes().contains(&0) {
            return Err(Error::invalid(field, "it contains a NUL byte, which no argument can"));
        }
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        Ok(())
    }
}

/// Refuses what cannot run, before anything is made. Returns the resolved directory.
fn check(request: &Request) -> Result<PathBuf> {
    if let Command::Shell { text, .. } = &request.command
        && text.trim().is_empty()
    {
        return Err(Error::invalid("command", "it is empty; give a command to run"));
    }
    if let Some(name) = &request.name
        && (name.is_empty() || name.starts_with('@') || name.chars().any(char::is_control))
    {
        return Err(Error::invalid(
            "name",
            format!("{name:?} is no name; use visible characters, not starting with '@'"),
        ));
    }
    if let Some(group) = &request.group {
        turns::check_group(group)?;
    }
    for (name, _) in &request.env.set {
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            return Err(Error::invalid("env", format!("{} is no variable name", name.display())));
        }
    }
    if let Some(nice) = request.limits.nice
        && !(-20..=19).contains(&nice)
    {
        return Err(Error::invalid("nice", format!("{nice} is not between -20 and 19")));
    }
    let limits = &request.limits;
    let bounds = [
        ("memory", limits.memory_bytes),
        ("pids", limits.processes),
        ("cpu", limits.cpu_percent.map(u64::from)),
    ];
    if let Some((field, _)) = bounds.iter().find(|(_, bound)| *bound == Some(0)) {
        return Err(Error::invalid(field, "0 would let nothing run; give more, or no limit"));
    }
    if let Some(size) = request.terminal {
        size.check("terminal")?;
    }
    if request.stdin == Stdin::Inherited && request.terminal.is_some() {
        let problem = "what a terminal reads is typed; give bytes, or leave the terminal out";
        return Err(Error::invalid("stdin", problem));
    }
    if let Stdin::File(path) = &request.stdin
        && let Err(error) = fs::File::open(path)
    {
        return Err(Error::invalid("stdin", format!("{}: {error}", path.display())));
    }
    let directory = fs::canonicalize(&request.cwd)
        .map_err(|error| Error::invalid("cwd", format!("{}: {error}", request.cwd.display())))?;
    if !directory.is_dir() {
        return Err(Error::invalid("cwd", format!("{} is not a directory", directory.display())));
    }
    Ok(directory)
}
