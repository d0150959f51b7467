//! One call: what every tool does with jobs and their output.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use umbo_engine::sandbox::{Decision, Grant, Question};
use umbo_engine::{
    AttachedJob, Condition, Environment, Heard, JobHandle, Login, Met, OnDisconnect, Outcome,
    Request, Scope, Shell, Status, Stdin, Summary,
};
use umbo_gate::{AccessQuestion, AccessReply, Mode, Recipe, Script};
use umbo_recipes::Task;
use umbo_view::{Budget, Part, Reader, Stream, View, ViewOptions};

use crate::caller::Caller;
use crate::error::{Error, ErrorCode};
use crate::gatekeeper::{AdmissionRequest, Gatekeeper, INPUT, INPUT_IS_DATA, Keystrokes, Permit};
use crate::job_log::JobLog;
use crate::progress::Watch;
use crate::project::{TASK, job_name};
use crate::sandbox::{Chosen, SandboxWords, Wanted};
use crate::ticket::Ticket;

/// The label that says what its caller said about a job's sandbox, so that the same can be said again.
pub(crate) const SANDBOX: &str = "sandbox";
/// The label that names the dialect a job was started in.
pub(crate) const DIALECT: &str = "dialect";
/// How often a wait checks whether its call was cancelled, and reports progress.
const WAKE_INTERVAL: Duration = Duration::from_millis(200);
/// Most commands end within this time: who waits longer is told of the end, and need not be told of
/// the start.
const LONG_WAIT: Duration = Duration::from_secs(1);
/// A longer output takes its time to read.
const SHORT_OUTPUT_BYTES: u64 = 256 << 10;
/// A match may begin this far before the end of what was searched already.
const MATCH_OVERLAP_BYTES: u64 = 64 << 10;

/// A call in progress.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The caller.
    pub caller: &'a Caller,
    /// What its holder can do with it.
    pub ticket: &'a Ticket,
    /// What was asked for of the project's tasks, which rules can be about, and what it runs.
    recipe: Option<Recipe<'a>>,
    /// The task that this is.
    task: Option<&'a Task>,
    /// Why somebody is asked about its commands in any case.
    asks: Option<&'a str>,
    /// What it says about the sandbox of its commands.
    sandbox: Option<&'a SandboxWords>,
}

/// A command that may run.
pub(crate) struct Admitted<'a, 'r> {
    pub(crate) permit: Permit<'a>,
    /// The request, with its sandbox.
    pub(crate) request: Cow<'r, Request>,
    /// How that was chosen; none if the request brought it.
    pub(crate) chosen: Option<Chosen>,
}

/// What became of a command within the time its caller had.
#[derive(Debug)]
pub enum Ran {
    /// It is over.
    Ended(JobHandle, Box<Outcome>),
    /// It runs on.
    Running(JobHandle),
}

impl<'a> Call<'a> {
    /// A call of a caller.
    pub fn new(caller: &'a Caller, ticket: &'a Ticket) -> Self {
        Self { caller, ticket, recipe: None, task: None, asks: None, sandbox: None }
    }

    /// The same call, for a task of the project that runs these scripts. `word` stands for what is
    /// none.
    #[must_use]
    pub fn for_recipe(&self, word: &'a str, task: Option<&'a Task>, scripts: &'a [Script]) -> Self {
        let name = task.map_or(word, |task| task.name.as_str());
        Self { recipe: Some(Recipe { name, scripts }), task, ..*self }
    }

    /// The same call, of a contract that asks about its command for this reason, if there is one,
    /// whatever the gate's mode would let through.
    #[must_use]
    pub fn asking(&self, why: Option<&'a str>) -> Self {
        Self { asks: why, ..*self }
    }

    /// The same call, with what its caller says about the sandbox of its commands.
    #[must_use]
    pub fn sandboxed(&self, words: Option<&'a SandboxWords>) -> Self {
        Self { sandbox: words, ..*self }
    }

    /// What its caller says about the sandbox of its commands.
    pub(crate) fn sandbox_words(&self) -> Option<&'a SandboxWords> {
        self.sandbox
    }

    /// Asks the gate, and chooses the sandbox. Waiting for a person is no part of the command's time.
    pub(crate) fn admit<'r>(&self, request: &'r Request) -> Result<Admitted<'a, 'r>, Error> {
        let sandboxes = &self.caller.sandboxes;
        let directory = self.caller.backend.begins_in(request);
        // A program that brings a plan knows what it does.
        let wanted = match &request.sandbox {
            Some(plan) => Wanted::planned(plan),
            None => sandboxes.wanted(self.sandbox)?,
        };
        let leaves = wanted.leaves.as_deref().filter(|_| self.caller.gate.mode() != Mode::Open);
        let permit = self.caller.gate.admit(&AdmissionRequest {
            request,
            directory: &directory,
            recipe: self.recipe,
            asks: self.asks,
            contained: wanted.contained.as_deref(),
            leaves,
            sandbox: &wanted.binding(),
            host: self.ticket.approver(),
        })?;
        let mut request = Cow::Borrowed(request);
        if request.sandbox.is_some() {
            return Ok(Admitted { permit, request, chosen: None });
        }
        let chosen = sandboxes.choose(&wanted, &permit.grounds, &directory)?;
        if let Some(plan) = &chosen.plan {
            request.to_mut().sandbox = Some(plan.clone());
        }
        Ok(Admitted { permit, request, chosen: Some(chosen) })
    }

    /// A request as its job is remembered: whether what is typed into it later is more than data.
    fn labelled<'r>(&self, request: &'r Request) -> Cow<'r, Request> {
        let takes_keys = request.terminal.is_some() || request.stdin == Stdin::Open;
        let directory = || self.caller.backend.begins_in(request);
        let mut labelled = self.caller.with_secrets(request);
        if let Some(words) = self.sandbox.filter(|words| !words.is_empty())
            && let Ok(text) = serde_json::to_string(words)
        {
            labelled.to_mut().labels.insert(SANDBOX.to_owned(), text);
        }
        if takes_keys && Gatekeeper::only_reads_input(request, &directory()) {
            labelled.to_mut().labels.insert(INPUT.to_owned(), INPUT_IS_DATA.to_owned());
        }
        labelled
    }

    /// Asks the gate about a call of a tool that is not umbo's own, by its words.
    pub fn admit_tool(&self, words: &[String]) -> Result<(), Error> {
        let words: Vec<String> = words.iter().map(|word| self.caller.mask(word)).collect();
        let directory = &self.caller.directory;
        Ok(self.caller.gate.admit_tool(&words, directory, self.ticket.approver())?)
    }

    /// Asks the gate about what is to be typed. Keys are typed like text.
    pub fn admit_input<'j>(
        &self,
        job: &'j JobHandle,
        typed: &'j [u8],
    ) -> Result<Keystrokes<'j>, Error> {
        Ok(self.caller.gate.admit_input(job, typed, self.ticket.approver())?)
    }

    /// Types into a job, if the gate has nothing against it.
    pub fn input(&self, job: &JobHandle, text: &str, keys: &[u8]) -> Result<(), Error> {
        let typed = [text.as_bytes(), keys].concat();
        Ok(self.admit_input(job, &typed)?.send()?)
    }

    /// A request for a line of the dialect's shell, in a directory relative to the caller's.
    pub fn request(&self, line: &str, directory: Option<&str>) -> Request {
        let command = umbo_engine::Command::Shell {
            text: line.to_owned(),
            shell: self.caller.shell.clone(),
            login: Login::No,
        };
        let mut request = Request::new(command, self.directory(directory));
        request.env =
            Environment { base: Arc::clone(&self.caller.environment), ..Environment::default() };
        request.owner.clone_from(&self.caller.owner);
        if let Some(dialect) = self.caller.dialect {
            request.labels.insert(DIALECT.to_owned(), dialect.to_owned());
        }
        if let Some(task) = self.task {
            request.labels.insert(TASK.to_owned(), job_name(task));
        }
        request
    }

    /// A variable of the caller's environment.
    pub fn variable(&self, name: &str) -> Option<std::ffi::OsString> {
        self.caller.variable(name).map(ToOwned::to_owned)
    }

    /// A shell that the caller names: one of the known, a path, or a program to be looked for.
    pub fn shell_named(&self, name: &str) -> Result<Shell, Error> {
        match (Shell::parse(name), self.caller.program(name)) {
            (Err(_), Some(path)) => Ok(Shell::Path(path)),
            (parsed, _) => Ok(parsed?),
        }
    }

    /// A directory as the caller means it.
    pub fn directory(&self, given: Option<&str>) -> PathBuf {
        match given {
            Some(directory) => self.caller.directory.join(directory),
            None => self.caller.directory.clone(),
        }
    }

    /// Starts a job that nobody waits for.
    pub fn start(&self, request: &Request) -> Result<JobHandle, Error> {
        self.start_when(request, || Ok(()))
    }

    /// The same, after something that is done once it is allowed.
    pub(crate) fn start_when(
        &self,
        request: &Request,
        before: impl FnOnce() -> Result<(), Error>,
    ) -> Result<JobHandle, Error> {
        self.caller.confined(request)?;
        let Admitted { permit, request, .. } = self.admit(request)?;
        before()?;
        let request = &*self.labelled(&request);
        let attached = self.caller.backend.spawn(&self.made_once(request))?;
        let job = attached.job();
        permit.started(&job);
        self.caller.completions.expect(job.id());
        self.keep(attached, request.on_disconnect);
        Ok(job)
    }

    /// Runs a job for at most `timeout`. Cancelling the call stops it, unless the request says
    /// that it outlives its caller.
    pub fn run(&self, request: &Request, timeout: Duration) -> Result<Ran, Error> {
        self.caller.confined(request)?;
        let Admitted { permit, request, chosen } = self.admit(request)?;
        let request = &*self.labelled(&request);
        let deadline = Instant::now().checked_add(timeout);
        let mut awaiting = self.caller.completions.starting();
        // Who has no time for the end is told of the start: before that there is no job to tell of.
        let sent = self.made_once(request);
        let mut attached = if timeout < LONG_WAIT || self.ticket.wants_start() {
            self.ticket.takes_time();
            self.caller.backend.spawn(&sent)?
        } else {
            self.caller.backend.attend_beside(&sent, WAKE_INTERVAL, self.ticket.beside())?
        };
        let job = attached.job();
        awaiting.is_for(job.id());
        permit.started(&job);
        if request.on_disconnect == OnDisconnect::Stop {
            self.ticket.bind(&job);
        }
        self.ticket.tell_start(&job);
        let early = self.first_moment(&mut *attached, deadline)?;
        let mut watch = self.watch(&job);
        let outcome = match early {
            Some(outcome) => Some(outcome),
            None => loop {
                let left = remaining(deadline);
                match attached.hear(self.sleep(left))? {
                    Heard::Ended(outcome) => break Some(*outcome),
                    Heard::Asked(question) => self.put_question(&job, question),
                    _ => {}
                }
                if left.is_zero() || self.ticket.is_over() {
                    break None;
                }
                watch.look();
            },
        };
        self.ticket.unbind();
        if let Some(mut outcome) = outcome {
            if outcome.total_bytes > SHORT_OUTPUT_BYTES {
                self.ticket.takes_time();
            }
            permit.ended(&job, &outcome);
            self.told(&job);
            if let Some(chosen) = &chosen {
                let notes = self.caller.sandboxes.notes(chosen, &outcome);
                self.ticket.note(&notes);
                outcome.notes.extend(notes);
            }
            return Ok(Ran::Ended(job, Box::new(outcome)));
        }
        awaiting.hand_back();
        if self.ticket.is_cancelled() && request.on_disconnect == OnDisconnect::Stop {
            // Whom the cancellation did not reach, for it was about to start, misses its caller.
            drop(attached);
        } else {
            self.keep(attached, request.on_disconnect);
        }
        Ok(Ran::Running(job))
    }

    /// Waits while the holder of the ticket has patience, and tells it of the job then: it has ended, or takes
    /// longer.
    fn first_moment(
        &self,
        attached: &mut dyn AttachedJob,
        deadline: Option<Instant>,
    ) -> Result<Option<Outcome>, Error> {
        let Some(patience) = self.ticket.patience() else { return Ok(None) };
        let heard = attached.hear(Some(patience.min(remaining(deadline))))?;
        let job = attached.job();
        let outcome = match heard {
            Heard::Ended(outcome) => Some(*outcome),
            Heard::Asked(question) => {
                self.put_question(&job, question);
                None
            }
            _ => None,
        };
        self.ticket.tell_wait(&job, outcome.as_ref());
        Ok(outcome)
    }

    /// Asks whoever holds the ticket about a call that the sandbox holds. Without an answer the question stays
    /// open for others, until its time is over.
    fn put_question(&self, job: &JobHandle, question: Question) {
        let Some(host) = self.ticket.approver() else { return };
        let asked = AccessQuestion {
            job: job.id().to_string(),
            command: job.summary().map(|summary| summary.command).unwrap_or_default(),
            operation: question.operation.name().to_owned(),
            target: self.caller.mask(&question.target),
            program: self.caller.mask(&question.program),
            grants: question.grants.iter().map(Grant::to_string).collect(),
            left: Duration::from_millis(question.left_ms),
        };
        let decision = match host.ask_access(&asked) {
            Some(AccessReply::Allow(index)) => question.grants.into_iter().nth(index),
            Some(AccessReply::Deny) => None,
            None => return,
        };
        // It may have been answered elsewhere, or be over.
        let _ = job.decide(question.number, decision.map_or(Decision::Deny, Decision::Allow));
    }

    /// The request as it is sent: of a call that is made once, the job is started once, and
    /// outlives a caller that is killed.
    fn made_once<'r>(&self, request: &'r Request) -> Cow<'r, Request> {
        match self.ticket.next_key() {
            None => Cow::Borrowed(request),
            Some(_) if request.idempotency_key.is_some() => Cow::Borrowed(request),
            Some(key) => {
                let mut request = request.clone();
                request.idempotency_key = Some(key);
                request.on_disconnect = OnDisconnect::Detach;
                Cow::Owned(request)
            }
        }
    }

    fn keep(&self, attached: Box<dyn AttachedJob>, on_disconnect: OnDisconnect) {
        match on_disconnect {
            OnDisconnect::Stop if self.ticket.is_made_once() => {
                self.caller.adopt(&attached.job());
                attached.detach();
            }
            OnDisconnect::Stop => self.caller.hold(attached),
            OnDisconnect::Detach => {
                attached.detach();
            }
        }
    }

    /// Waits for a condition of a job, at most for `timeout`.
    pub fn wait(
        &self,
        job: &JobHandle,
        mut conditions: Vec<Condition>,
        timeout: Duration,
    ) -> Result<Met, Error> {
        self.ticket.takes_time();
        let deadline = Instant::now().checked_add(timeout);
        let _awaiting = conditions
            .iter()
            .any(|condition| matches!(condition, Condition::Exit))
            .then(|| self.caller.completions.awaiting(job.id()));
        let mut watch = self.watch(job);
        loop {
            let searched = job.log()?.length()?;
            let left = remaining(deadline);
            match job.wait(&conditions, self.sleep(left))? {
                Met::Deadline if left > WAKE_INTERVAL && !self.ticket.is_over() => {
                    watch.look();
                }
                met => {
                    // While it still counts as awaited: an end is told by one of the two.
                    if matches!(met, Met::Exit | Met::Ended) {
                        self.told(job);
                    }
                    return Ok(met);
                }
            }
            // What was searched once is not searched again, but for a match across the border.
            for condition in &mut conditions {
                if let Condition::Match { from, .. } = condition {
                    *from = (*from).max(searched.saturating_sub(MATCH_OVERLAP_BYTES));
                }
            }
        }
    }

    /// How long this call may wait: as long as was asked for, or else as its caller usually does; never
    /// longer than whoever holds it.
    pub fn allowed_wait(&self, asked: Option<Duration>) -> Duration {
        let wait = asked.unwrap_or(self.caller.longest_wait);
        self.ticket.longest_wait().map_or(wait, |most| wait.min(most))
    }

    /// How long to sleep at once: nobody is there to be looked for if the call is alone.
    fn sleep(&self, left: Duration) -> Option<Duration> {
        if self.ticket.is_alone() {
            Some(left).filter(|left| *left < Duration::MAX)
        } else {
            Some(left.min(WAKE_INTERVAL))
        }
    }

    fn watch(&self, job: &JobHandle) -> Watch<'_> {
        Watch::new(self.caller, self.ticket, job)
    }

    /// The job that a caller means: by an id any, by a name one of its own, or else one that a person
    /// started. A name never means a job of another agent; that there is one is told.
    pub fn job(&self, name: &str) -> Result<JobHandle, Error> {
        let name = name.strip_prefix("artifact://").unwrap_or(name);
        let name = (self.caller.job_id)(name).unwrap_or(name);
        self.own_job(name).or_else(|error| match self.caller.backend.job(name) {
            Ok(other) if has_no_owner(&other) => Ok(self.masking(other)),
            other => Err(self.unknown(error, other.ok().as_ref())),
        })
    }

    /// The job with an id, or the caller's own one with a name.
    pub fn own_job(&self, name: &str) -> umbo_engine::Result<JobHandle> {
        let found = match &self.caller.owner {
            Some(owner) => self.caller.backend.job_of(owner, name),
            None => self.caller.backend.job(name),
        };
        found.map(|job| self.masking(job))
    }

    /// The job, whose secrets are masked from now on.
    fn masking(&self, job: JobHandle) -> JobHandle {
        if let Some(summary) = job.summary() {
            self.caller.learn_secrets(&summary.labels);
        }
        job
    }

    /// An error that tells of a job nobody knows which ones there are.
    fn unknown(&self, error: umbo_engine::Error, others: Option<&JobHandle>) -> Error {
        let mut error = Error::from(error);
        if error.code != ErrorCode::UnknownJob {
            return error;
        }
        let known = self.jobs(Whose::Mine, Scope::Recent).unwrap_or_default();
        if !known.is_empty() {
            let ids = known.iter().rev().take(10).map(|summary| summary.job.to_string());
            let list = ids.collect::<Vec<_>>().join(" ");
            error.message = format!("{}; your jobs, newest first: {list}", error.message);
        }
        if let Some(other) = others {
            error.message = format!("{}; somebody else's is {}", error.message, other.id());
        }
        if self.caller.tools.iter().any(|name| name == "jobs") {
            error.message.push_str("; `jobs` with `scope: \"all\", ended: \"all\"` lists all");
        }
        error
    }

    /// The caller's jobs, or all, oldest first.
    pub fn jobs(&self, whose: Whose, scope: Scope) -> Result<Vec<Summary>, Error> {
        let mut jobs = self.caller.backend.jobs(scope)?;
        if whose == Whose::Mine && self.caller.owner.is_some() {
            jobs.retain(|summary| summary.owner == self.caller.owner);
        }
        for summary in &jobs {
            self.caller.learn_secrets(&summary.labels);
        }
        Ok(jobs)
    }

    /// The room an answer has, less if the caller says so.
    pub fn budget(&self, most_tokens: Option<u64>) -> Budget {
        let budget = self.caller.budget;
        let Some(tokens) = most_tokens else { return budget };
        // Who says how much it wants may get all of it in one line.
        let line_bytes = budget.line_bytes.max(tokens.saturating_mul(4));
        if tokens <= budget.tokens {
            return Budget { tokens, line_bytes, ..budget };
        }
        // A caller may ask for more tokens than usual; the other limits then follow.
        Budget {
            tokens,
            bytes: budget.bytes.max(tokens.saturating_mul(8)),
            lines: budget.lines.max(tokens),
            line_bytes,
        }
    }

    /// A view of what a job wrote from `from` on.
    pub fn view(
        &self,
        job: &JobHandle,
        from: u64,
        stream: Option<Stream>,
        budget: Budget,
    ) -> Result<View, Error> {
        let mut reader = Reader::new(JobLog::open(job)?);
        if from > 0 {
            reader = reader.offsets(from..u64::MAX);
        }
        if let Some(stream) = stream {
            reader = reader.stream(stream);
        }
        self.view_of(reader, budget)
    }

    /// A view of all that a job wrote which is known to be over.
    pub fn whole_view(&self, job: &JobHandle, budget: Budget) -> Result<View, Error> {
        self.view_of(Reader::new(JobLog::whole(job)?), budget)
    }

    fn view_of<'s>(&'s self, reader: Reader<'s, JobLog>, budget: Budget) -> Result<View, Error> {
        let minimize = self.caller.minimize;
        let options = ViewOptions { budget, minimize, ..ViewOptions::default() };
        Ok(reader.mask(&self.caller.masker).view(&options)?)
    }

    /// The text of one stream of a job, or of both.
    pub fn text(
        &self,
        job: &JobHandle,
        stream: Option<Stream>,
        budget: Budget,
    ) -> Result<String, Error> {
        Ok(text(&self.view(job, 0, stream, budget)?))
    }

    /// How a job ended, if its status says so; then the caller knows.
    pub fn ended<'s>(&self, job: &JobHandle, status: &'s Status) -> Option<&'s Outcome> {
        let Status::Ended(outcome) = status else { return None };
        self.told(job);
        Some(outcome)
    }

    /// The caller knows how this job ended.
    pub fn told(&self, job: &JobHandle) {
        self.caller.completions.told(job.id());
    }
}

/// Whose jobs are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Those of the caller.
    Mine,
    /// All of the state directory.
    Everybodys,
}

fn has_no_owner(job: &JobHandle) -> bool {
    job.summary().is_some_and(|summary| summary.owner.is_none())
}

/// A view's text; nothing at all for a view of nothing.
pub fn text(view: &View) -> String {
    let is_empty =
        view.parts.iter().all(|part| matches!(part, Part::Text { text, .. } if text.is_empty()));
    if is_empty { String::new() } else { view.to_text() }
}

fn remaining(deadline: Option<Instant>) -> Duration {
    deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

/// A name nobody else has, of lower-case letters and digits.
pub fn fresh_name(prefix: &str, length: usize) -> String {
    let id = umbo_engine::JobId::generate();
    // The end of an id is random; its beginning is the time.
    let tail = &id.as_str()[id.as_str().len().saturating_sub(length)..];
    format!("{prefix}{tail}")
}
