//! A job and the process that started it, while the two are connected.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use umbo_sandbox::Question;

use crate::beside::{self, Beside};
use crate::clock;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::log::{Log, ShortLog};
use crate::outcome::Outcome;
use crate::request::OnDisconnect;
use crate::spare::Supervisor;
use crate::sys::socket;
use crate::wait::Condition;
use crate::wire::{self, Assign, Frame, OrderOf, Peer, Report, StdinKind};

/// A job whose supervisor reports to this process.
#[derive(Debug)]
pub struct Attached {
    job: Job,
    /// `None` for a job that was there already, or is over.
    supervisor: Option<Supervisor>,
    outcome: Option<Outcome>,
    on_disconnect: OnDisconnect,
    /// What somebody has to decide, as its supervisor said, oldest first.
    questions: VecDeque<Question>,
    /// What whoever waits listens to besides.
    beside: Option<Arc<dyn Beside>>,
}

/// What an attached caller hears next.
#[derive(Debug)]
#[non_exhaustive]
pub enum Heard {
    /// The job is over.
    Ended(Box<Outcome>),
    /// A call of its command is held until [`Job::decide`] answers this, or its time is over.
    Asked(Question),
    /// Nothing: it runs on.
    Nothing,
}

/// A job given to a supervisor that has not answered yet.
pub(crate) struct Sent {
    attached: Attached,
    result: io::Result<()>,
}

/// What became of a job that was given to a supervisor.
pub(crate) enum Given {
    /// There is such a job.
    Job(Box<Attached>),
    /// The supervisor died, and it is proven that nothing was started: it can be given to another.
    NotStarted(String),
}

impl Sent {
    /// The same for a caller that listens to something else besides, from here on.
    pub(crate) fn beside(mut self, beside: Option<Arc<dyn Beside>>) -> Self {
        self.attached.beside = beside;
        self
    }

    /// Waits for the first answer.
    pub(crate) fn accepted(mut self) -> Result<Given> {
        self.is_sent()?;
        // A supervisor that could not prepare says so before it closes the socket.
        match self.attached.next_report(None)? {
            Some(report) => {
                self.attached.take_report(report)?;
                Ok(Given::Job(Box::new(self.attached)))
            }
            None => self.unanswered(),
        }
    }

    /// Waits for the end, at most until a deadline.
    pub(crate) fn heard_until(mut self, deadline: Instant) -> Result<Given> {
        self.is_sent()?;
        loop {
            match self.attached.next_report(Some(deadline))? {
                Some(report) => self.attached.take_report(report)?,
                None if Instant::now() >= deadline => {
                    return Ok(Given::Job(Box::new(self.attached)));
                }
                None => return self.unanswered(),
            }
            if self.attached.supervisor.is_none() {
                return Ok(Given::Job(Box::new(self.attached)));
            }
        }
    }

    /// A message that could not be made was not sent: nobody will answer it.
    fn is_sent(&self) -> Result<()> {
        match &self.result {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                Err(Error::invalid("request", error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The supervisor is dead: it closed the connection, of which nobody else has a copy. What it
    /// did before is in the state directory.
    fn unanswered(mut self) -> Result<Given> {
        self.attached.supervisor = None;
        if let Err(error) = self.result {
            // It has not got all of the message, and starts nothing before it has.
            return Ok(Given::NotStarted(error.to_string()));
        }
        let job = &self.attached.job;
        // A job that was deleted since then is in the journal.
        if job.directory().exists() || job.engine().journal()?.mentions(job.id()) {
            return Ok(Given::Job(Box::new(self.attached)));
        }
        Ok(Given::NotStarted("it closed the connection".into()))
    }
}

impl Attached {
    /// Gives a supervisor a job.
    pub(crate) fn send(job: Job, supervisor: Supervisor, assign: &Assign, body: &[u8]) -> Sent {
        let result = send(&supervisor.socket, assign, body);
        let supervisor = Some(supervisor);
        let on_disconnect = assign.on_disconnect;
        let attached = Self { supervisor, on_disconnect, ..Self::to_existing(job) };
        Sent { attached, result }
    }

    /// A job that another call started.
    pub(crate) fn to_existing(job: Job) -> Self {
        Self {
            job,
            supervisor: None,
            outcome: None,
            on_disconnect: OnDisconnect::Detach,
            questions: VecDeque::new(),
            beside: None,
        }
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// Waits for the end, at most for `timeout`. `None` if it runs on.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Outcome>> {
        if let Some(outcome) = &self.outcome {
            return Ok(Some(outcome.clone()));
        }
        let deadline = timeout.map(clock::deadline);
        while self.supervisor.is_some() {
            match self.next_report(deadline)? {
                Some(report) => {
                    self.take_report(report)?;
                    if self.outcome.is_some() {
                        return Ok(self.outcome.clone());
                    }
                }
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Ok(None);
                }
                None => self.supervisor = None,
            }
        }
        // Nobody reports here: the job is another call's, or its supervisor was killed.
        if let Some(beside) = &self.beside {
            beside.ready();
        }
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        self.job.wait(&[Condition::Exit], left)?;
        match self.job.status()? {
            crate::job::Status::Ended(outcome) => Ok(Some(*outcome)),
            _ => Ok(None),
        }
    }

    /// The connection to its supervisor, while there is one.
    #[cfg(feature = "tokio")]
    pub(crate) fn socket(&self) -> Option<&OwnedFd> {
        self.supervisor.as_ref().map(|supervisor| &supervisor.socket)
    }

    /// Waits for the end or for a question of its sandbox, at most for `timeout`. Questions are heard
    /// only here: who does not ask for them lets them be denied when their time is over.
    pub fn hear(&mut self, timeout: Option<Duration>) -> Result<Heard> {
        let deadline = timeout.map(clock::deadline);
        loop {
            if let Some(question) = self.questions.pop_front() {
                return Ok(Heard::Asked(question));
            }
            if self.supervisor.is_none() {
                let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
                let outcome = self.wait(left)?;
                return Ok(
                    outcome.map_or(Heard::Nothing, |outcome| Heard::Ended(Box::new(outcome)))
                );
            }
            match self.next_report(deadline)? {
                Some(report) => self.take_report(report)?,
                None if deadline.is_some_and(|deadline| Instant::now() >= deadline) => {
                    return Ok(Heard::Nothing);
                }
                None => self.supervisor = None,
            }
        }
    }

    /// Lets go: the job runs on, whatever its request says about disconnection.
    pub fn detach(self) -> Job {
        if self.supervisor.is_some() {
            if self.on_disconnect == OnDisconnect::Stop {
                let _ = self.job.disown();
            }
            self.job.engine().refill_spares();
        }
        self.job
    }

    /// What a report means for who waits.
    fn take_report(&mut self, Frame { head, body }: Frame<Report>) -> Result<()> {
        if let Report::Ended(outcome) | Report::EndedAndFree(outcome) = &head
            && let Some(log) = ShortLog::decode(body, outcome.total_bytes)
        {
            self.job = self.job.with_log(Log::new(log));
        }
        match head {
            Report::Queued | Report::Started { .. } => {}
            Report::Asked(question) => self.questions.push_back(*question),
            Report::Ended(outcome) => {
                self.outcome = Some(*outcome);
                self.supervisor = None;
            }
            Report::EndedAndFree(outcome) => {
                self.outcome = Some(*outcome);
                if let Some(supervisor) = self.supervisor.take() {
                    self.job.engine().give_back(supervisor);
                }
            }
            // Another call was faster with the same key.
            Report::Exists => *self = Self::to_existing(self.job.clone()),
            Report::Full { running } => return Err(Error::Full { running }),
            Report::SessionBusy { holder } => return Err(Error::SessionBusy { holder }),
            Report::Failed { why } => return Err(Error::SupervisorGone(why)),
        }
        Ok(())
    }

    /// The next thing the supervisor says; `None` at the deadline, or if it is gone.
    fn next_report(&mut self, deadline: Option<Instant>) -> Result<Option<Frame<Report>>> {
        let Some(supervisor) = &mut self.supervisor else { return Ok(None) };
        let beside = self.beside.as_deref();
        if (deadline.is_some() || beside.is_some())
            && !beside::wait_readable(&supervisor.socket, deadline, beside)
        {
            return Ok(None);
        }
        let report = wire::receive::<Report>(Peer(&supervisor.socket));
        supervisor.reap_starter();
        match report {
            Ok(frame) => Ok(Some(frame)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(Error::SupervisorGone(error.to_string())),
        }
    }
}

fn send(socket: &OwnedFd, assign: &Assign, body: &[u8]) -> io::Result<()> {
    wire::send(Peer(socket), &OrderOf::Assign(assign), body)?;
    match assign.stdin {
        StdinKind::Passed => socket::send_fd(socket, rustix::stdio::stdin()),
        _ => Ok(()),
    }
}
