//! One job, seen from outside: read it, write to it, wait for it, stop it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{Mode, OFlags};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde::{Deserialize, Serialize};
use umbo_sandbox::{Decision, Question};

use crate::clock;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::exit_record;
use crate::id::JobId;
use crate::line::Line;
use crate::log::{Log, OUTPUT};
use crate::lost::{self, Truth};
use crate::outcome::Outcome;
use crate::request::{Ladder, Size};
use crate::rescue;
use crate::state::{JobDir, Record};
use crate::stray::Stray;
use crate::supervisor;
use crate::sys::socket;
use crate::turns::After;
use crate::wait::{self, Condition, Met};
use crate::wire::{self, Answer, Ask, Frame, Reach};

/// How long a supervisor may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a climb may take beyond its graces.
const LAST_RUNG: Duration = Duration::from_secs(15);

/// A handle to a job. It may be running, over, or, for all one knows, deleted.
#[derive(Debug, Clone)]
pub struct Job {
    engine: Engine,
    id: JobId,
    /// What is known of it if it was found by its processes.
    stray: Option<Arc<Stray>>,
    /// Its log, if that came with its end.
    log: Option<Log>,
}

/// Where a job is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It waits for its turn; called `queued`.
    Created,
    /// Its command runs, proven by its supervisor's lock.
    Started {
        /// The command's process.
        pid: i32,
        /// Since when, in microseconds since 1970.
        at: u64,
    },
    /// It is over.
    Ended(Box<Outcome>),
}

impl Status {
    /// The state's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created => "queued",
            Self::Started { .. } => "started",
            Self::Ended(outcome) => outcome.end.name(),
        }
    }
}

/// A job in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The job.
    pub job: JobId,
    /// Where it is in its life.
    pub status: Status,
    /// What it runs, as a person would type it.
    pub command: String,
    /// Where.
    pub cwd: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The owner: the caller that asked for it.
    pub owner: Option<String>,
    /// What its caller wrote on it.
    pub labels: BTreeMap<String, String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Whether it has a terminal, and of which size at its start.
    pub terminal: Option<Size>,
    /// When it was asked for, in microseconds since 1970.
    pub created_at: u64,
    /// How many bytes it has written.
    pub total_bytes: u64,
    /// The job inside of which it was started.
    pub parent: Option<JobId>,
    /// Its place in line, counted from 1, while it waits for its turn.
    pub queue_position: Option<usize>,
    /// What it waits for, while it does.
    #[serde(default)]
    pub waits_for: Option<WaitsFor>,
    /// The group it takes turns in.
    #[serde(default)]
    pub group: Option<String>,
    /// Whether somebody holds it still.
    #[serde(default)]
    pub is_paused: bool,
    /// How it was found.
    #[serde(default)]
    pub found_by: FoundBy,
}

/// What a job waits for that has not begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WaitsFor {
    /// For one of the jobs that run to end: as many run as may.
    Slot,
    /// For its session, which another job has.
    Session {
        /// The session.
        name: String,
        /// The job that has it.
        holder: Option<JobId>,
    },
    /// For one of the jobs of its group to end: as many of them run as may.
    Group {
        /// The group.
        name: String,
    },
    /// For another job to end.
    End {
        /// That job.
        job: JobId,
    },
}

impl std::fmt::Display for WaitsFor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Slot => f.write_str("as many jobs run as may"),
            Self::Session { name, holder: Some(job) } => {
                write!(f, "session {name} is busy with job {job}")
            }
            Self::Session { name, holder: None } => write!(f, "session {name} is busy"),
            Self::Group { name } => write!(f, "as many jobs of group {name} run as may"),
            Self::End { job } => write!(f, "it begins when job {job} has ended"),
        }
    }
}

/// How a job was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FoundBy {
    /// By its files.
    #[default]
    Files,
    /// By its processes, which live though its files are gone. It can be stopped and nothing else.
    Processes,
}

/// What was typed into a job.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// How many bytes.
    pub total: u64,
    /// The last of them: 16 KiB at most.
    pub tail: Vec<u8>,
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It may be a password.
        write!(f, "Typed({})", self.total)
    }
}

impl Summary {
    /// When it was asked for.
    pub fn created(&self) -> SystemTime {
        clock::time(self.created_at)
    }

    /// When its command was started, if it was.
    pub fn started(&self) -> Option<SystemTime> {
        self.started_at().map(clock::time)
    }

    /// When its command was started, in microseconds since 1970.
    pub fn started_at(&self) -> Option<u64> {
        match &self.status {
            Status::Created => None,
            Status::Started { at, .. } => Some(*at),
            Status::Ended(outcome) => outcome.started_at,
        }
    }
}

impl Job {
    pub(crate) fn new(engine: Engine, id: JobId) -> Self {
        Self { engine, id, stray: None, log: None }
    }

    /// The same job, with its log.
    pub(crate) fn with_log(&self, log: Log) -> Self {
        Self { log: Some(log), ..self.clone() }
    }

    /// A job without files.
    pub(crate) fn without_files(engine: Engine, stray: Stray) -> Self {
        Self { engine, id: stray.id().clone(), stray: Some(Arc::new(stray)), log: None }
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn directory(&self) -> JobDir {
        self.engine.state().job(&self.id)
    }

    /// Its id.
    pub fn id(&self) -> &JobId {
        &self.id
    }

    /// The file with the exact bytes it wrote. Superseded: a job of another machine has none; read
    /// [`Job::log`], and name [`Job::output_url`] to a person.
    pub fn output_path(&self) -> PathBuf {
        self.directory().file(OUTPUT)
    }

    /// Where its output is: a `file://` URL.
    pub fn output_url(&self) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
        let mut url = String::from("file://");
        for byte in self.output_path().as_os_str().as_bytes() {
            if is_plain(*byte) {
                url.push(char::from(*byte));
            } else {
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url
    }

    /// What wakes somebody who waits for it.
    pub(crate) fn watch(&self) -> Line {
        Line::open(self)
    }

    /// Where it is in its life, and the truth about it.
    pub fn status(&self) -> Result<Status> {
        let directory = self.directory();
        if !directory.exists() {
            let stray = self.stray.as_ref().and_then(|stray| stray.status());
            return stray.ok_or_else(|| Error::UnknownJob(self.id.to_string()));
        }
        match lost::truth(self.engine.state(), &self.id) {
            Truth::Over(outcome) => Ok(Status::Ended(outcome)),
            Truth::Alive => match directory.record() {
                Ok((_, Some(started))) => Ok(Status::Started { pid: started.pid, at: started.at }),
                _ => Ok(Status::Created),
            },
        }
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Result<Option<Outcome>> {
        match self.status()? {
            Status::Ended(outcome) => Ok(Some(*outcome)),
            Status::Created | Status::Started { .. } => Ok(None),
        }
    }

    /// Whether it is over, or was deleted. Costs less than its status where it runs.
    pub fn has_ended(&self) -> bool {
        let directory = self.directory();
        let is_running = directory.is_supervised()
            && !std::fs::exists(directory.file(exit_record::NAME)).unwrap_or(false);
        !is_running && !matches!(self.status(), Ok(Status::Created | Status::Started { .. }))
    }

    /// What a list says about it; `None` if it was deleted meanwhile.
    pub fn summary(&self) -> Option<Summary> {
        let status = self.status().ok()?;
        let directory = self.directory();
        if let Some(stray) = &self.stray
            && !directory.exists()
        {
            return stray.summary();
        }
        let record = directory.record().ok();
        let total_bytes = match &status {
            Status::Ended(outcome) => outcome.total_bytes,
            _ => directory.file(OUTPUT).metadata().map_or(0, |meta| meta.len()),
        };
        Some(match record {
            Some((record, started)) => {
                let (queue_position, waits_for) = match status {
                    Status::Created => self.place_in_line(&record),
                    Status::Started { .. } | Status::Ended(_) => (None, None),
                };
                let began_in = started.and_then(|started| started.cwd);
                let job = self.id.clone();
                let Record {
                    command,
                    cwd,
                    name,
                    owner,
                    labels,
                    parent,
                    session,
                    terminal,
                    created_at,
                    group,
                    ..
                } = record;
                let is_running = matches!(status, Status::Started { .. });
                let is_paused = is_running && directory.file(supervisor::PAUSED).exists();
                Summary {
                    job,
                    status,
                    command,
                    cwd: began_in.map_or(cwd, |began| began.to_string_lossy().into_owned()),
                    name,
                    owner,
                    labels,
                    session,
                    terminal,
                    created_at,
                    total_bytes,
                    parent,
                    queue_position,
                    waits_for,
                    group,
                    is_paused,
                    found_by: FoundBy::Files,
                }
            }
            // The record is damaged; what is left is still listed.
            None => Summary {
                job: self.id.clone(),
                status,
                command: "(unknown: its record is damaged)".into(),
                cwd: String::new(),
                name: None,
                owner: None,
                labels: BTreeMap::new(),
                session: None,
                terminal: None,
                created_at: self.id.made_at_ms() * 1000,
                total_bytes,
                parent: None,
                queue_position: None,
                waits_for: None,
                group: None,
                is_paused: false,
                found_by: FoundBy::Files,
            },
        })
    }

    /// Its place among those who wait for the same, and what that is.
    fn place_in_line(&self, record: &Record) -> (Option<usize>, Option<WaitsFor>) {
        let state = self.engine.state();
        let is_awaited = |after: &&After| {
            state.job(&after.job).exists()
                && !Self::new(self.engine.clone(), after.job.clone()).has_ended()
        };
        if let Some(After { job, .. }) = record.after.iter().find(is_awaited) {
            return (None, Some(WaitsFor::End { job: job.clone() }));
        }
        if let Some(name) = &record.session {
            let directory = state.sessions().join(name);
            if let Some(place) = supervisor::position(&directory, &self.id) {
                let holder = supervisor::session_holder(&directory);
                return (Some(place), Some(WaitsFor::Session { name: name.clone(), holder }));
            }
        }
        let slots = supervisor::slots(state, record.parent.as_ref(), record.group.as_deref());
        let place = supervisor::position(&slots, &self.id);
        let waits_for = match &record.group {
            Some(name) => WaitsFor::Group { name: name.clone() },
            None => WaitsFor::Slot,
        };
        (place, place.map(|_| waits_for))
    }

    /// Its output.
    pub fn log(&self) -> Result<Log> {
        if let Some(log) = &self.log {
            return Ok(log.clone());
        }
        let directory = self.directory();
        Log::open(directory.path()).map_err(Error::file("read", directory.file(OUTPUT)))
    }

    /// Sends input to its command.
    pub fn input(&self, bytes: &[u8]) -> Result<()> {
        // Longer input goes in pieces, for a message has a bound.
        for piece in bytes.chunks(1 << 20) {
            self.ask(&Ask::Input, piece)?;
        }
        Ok(())
    }

    /// What was typed into it so far, by whomever. It is nowhere on disk, for it may be a password.
    pub fn typed(&self) -> Result<Typed> {
        let frame = self.put(&Ask::Typed, &[])?;
        match frame.head {
            Answer::Typed { total } => Ok(Typed { total, tail: frame.body }),
            answer => Err(self.refused(answer)),
        }
    }

    /// Sends input to its command, if nobody has typed since `total` bytes were.
    pub fn input_after(&self, mut total: u64, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(1 << 20) {
            self.ask(&Ask::InputAfter(total), piece)?;
            total += piece.len() as u64;
        }
        Ok(())
    }

    /// Says that no more input comes: end of file on a pipe, ctrl-d at a terminal.
    pub fn end_input(&self) -> Result<()> {
        self.ask(&Ask::Eof, &[])
    }

    /// Changes the size of its terminal.
    pub fn resize(&self, size: Size) -> Result<()> {
        size.check("resize")?;
        self.ask(&Ask::Resize(size), &[])
    }

    /// Holds all of its processes where they are. Its time limits wait with it.
    pub fn pause(&self) -> Result<()> {
        self.ask(&Ask::Pause, &[])
    }

    /// Lets them go on.
    pub fn resume(&self) -> Result<()> {
        self.ask(&Ask::Resume, &[])
    }

    /// Sends a signal to its processes.
    pub fn signal(&self, number: i32, reach: Reach) -> Result<()> {
        self.ask(&Ask::Signal { number, reach }, &[])
    }

    /// Calls of its command that its sandbox holds until somebody answers.
    pub fn questions(&self) -> Result<Vec<Question>> {
        match self.put(&Ask::Questions, &[])?.head {
            Answer::Questions(questions) => Ok(questions),
            answer => Err(self.refused(answer)),
        }
    }

    /// Answers one of them: the call goes on, or fails.
    pub fn decide(&self, number: u64, decision: Decision) -> Result<()> {
        self.ask(&Ask::Decide { number, decision }, &[])
    }

    /// Stops it and all its descendants; returns how it ended.
    ///
    /// The whole climb is waited for. A job that is over already answers with how it ended. A
    /// supervisor that somebody stopped is woken; one that hangs, while its job should be killed by
    /// now, is killed with it, and the job is then lost.
    pub fn stop(&self, ladder: Ladder) -> Result<Outcome> {
        if let Some(stray) = &self.stray
            && !self.directory().exists()
        {
            let seconds = LAST_RUNG.as_secs();
            let killed = stray.kill(self.engine.state());
            return killed.ok_or_else(|| Error::Unresponsive { job: self.id.to_string(), seconds });
        }
        let climb = ladder.interrupt.unwrap_or_default() + ladder.terminate.unwrap_or_default();
        rescue::wake(&self.directory());
        match self.ask(&Ask::Stop(ladder), &[]) {
            Ok(()) | Err(Error::Ended(_)) => {
                self.wait(&[Condition::Exit], Some(climb + LAST_RUNG))?;
            }
            // By now it would be killed, had its supervisor heard of it.
            Err(Error::Unresponsive { .. }) if climb <= ANSWER_TIMEOUT => {}
            Err(error) => return Err(error),
        }
        let seconds = (climb + LAST_RUNG).as_secs();
        self.outcome()?
            .or_else(|| rescue::end(self.engine.state(), &self.id))
            .ok_or_else(|| Error::Unresponsive { job: self.id.to_string(), seconds })
    }

    /// Waits until one of `conditions` is true, at most for `timeout`.
    pub fn wait(&self, conditions: &[Condition], timeout: Option<Duration>) -> Result<Met> {
        wait::wait(self, conditions, timeout)
    }

    /// Lets it run on when its caller ends.
    pub(crate) fn disown(&self) -> Result<()> {
        self.ask(&Ask::Disown, &[])
    }

    /// A connection to its supervisor, which closes when the job ends. Without timeout it is none
    /// when a crowd waits at a door that nobody opens.
    pub(crate) fn connect(&self, timeout: Option<Duration>) -> Result<OwnedFd> {
        let path = self.directory().path().to_owned();
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())
            .map_err(|_| Error::UnknownJob(self.id.to_string()))?;
        socket::connect_at(&directory, "sock", timeout).map_err(|error| self.unreached(&error))
    }

    fn ask(&self, ask: &Ask, body: &[u8]) -> Result<()> {
        match self.put(ask, body)?.head {
            Answer::Done => Ok(()),
            answer => Err(self.refused(answer)),
        }
    }

    /// Puts a question to its supervisor.
    fn put(&self, ask: &Ask, body: &[u8]) -> Result<Frame<Answer>> {
        if let Status::Ended(_) = self.status()? {
            return Err(Error::Ended(self.id.to_string()));
        }
        let socket = self.connect(Some(ANSWER_TIMEOUT))?;
        let failed = |error: std::io::Error| self.unreached(&error);
        for direction in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(socket.as_fd(), direction, Some(ANSWER_TIMEOUT))
                .map_err(|error| failed(error.into()))?;
        }
        let mut socket = File::from(socket);
        wire::send(&mut socket, ask, body).map_err(failed)?;
        wire::receive(&mut socket).map_err(failed)
    }

    fn refused(&self, answer: Answer) -> Error {
        let why = match answer {
            Answer::Refused(why) => why,
            other => format!("its supervisor gave an unexpected answer: {other:?}"),
        };
        Error::Refused(format!("job {}: {why}", self.id))
    }

    /// What it means that its supervisor could not be asked.
    fn unreached(&self, error: &std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => {
                Error::Unresponsive { job: self.id.to_string(), seconds: ANSWER_TIMEOUT.as_secs() }
            }
            // One of an older version hangs up on a question that it does not know.
            std::io::ErrorKind::UnexpectedEof if !self.has_ended() => Error::Refused(format!(
                "job {}: its supervisor is of an older version and cannot do this",
                self.id
            )),
            _ => Error::Ended(self.id.to_string()),
        }
    }
}
