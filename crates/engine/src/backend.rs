//! Where jobs run: this machine ([`Engine`](crate::Engine)), another one, or a cluster.
//!
//! A caller that holds a [`Backend`] needs no path to a log, no passed descriptor and no shared
//! directory: all it does with jobs goes through these traits. The methods have the names they have
//! on [`Engine`](crate::Engine) and [`Job`](crate::Job), so code moves from the types to the traits
//! by a change of type. What can be made of the other methods has a default.
//!
//! - [`Backend`] starts, finds and lists jobs, and tells what happened to them.
//! - [`BackendJob`] is one job: observe, read, write, wait, stop.
//! - [`AttachedJob`] is a job and its caller while the two are connected.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use umbo_sandbox::{Decision, Question};

use crate::beside::Beside;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::event::{Event, EventKind, Item};
use crate::find::Recent;
use crate::follow::Follower;
use crate::id::JobId;
use crate::job::{Status, Summary, Typed};
use crate::log::Log;
use crate::outcome::Outcome;
use crate::repeat::Repeated;
use crate::request::{Ladder, Request, Size};
use crate::screen::{self, Screen};
use crate::session::{Clearing, ShellSession};
use crate::subscription::{Subscription, first_event};
use crate::turns::JobGroup;
use crate::wait::{Condition, Met};
use crate::wire::Reach;
use crate::{Heard, Listed, Scope};

/// How many events are read at once.
const EVENTS_PER_READ: usize = 1024;

/// A job of any backend, shared.
pub type JobHandle = Arc<dyn BackendJob>;

/// Where jobs run.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Starts a job and returns when its command runs, waits for its turn, or failed to start. A
    /// request with an idempotency key that was used before gives the job of that key.
    fn start(&self, request: &Request) -> Result<JobHandle>;

    /// Starts a job and stays attached to it. Dropping the result is what
    /// [`OnDisconnect`](crate::OnDisconnect) speaks of.
    fn spawn(&self, request: &Request) -> Result<Box<dyn AttachedJob>>;

    /// As [`Backend::spawn`], for a caller that would wait for the end in any case: returns when
    /// the job has ended, or after `timeout` with the job running on.
    fn attend(&self, request: &Request, timeout: Duration) -> Result<Box<dyn AttachedJob>> {
        let mut attached = self.spawn(request)?;
        attached.wait(Some(timeout))?;
        Ok(attached)
    }

    /// The same for a caller that listens to something else while it waits: now, and later for the result.
    fn attend_beside(
        &self,
        request: &Request,
        timeout: Duration,
        beside: Option<&Arc<dyn Beside>>,
    ) -> Result<Box<dyn AttachedJob>> {
        if let Some(beside) = beside {
            beside.ready();
        }
        self.attend(request, timeout)
    }

    /// Runs a job to its end.
    fn run(&self, request: &Request) -> Result<(JobHandle, Outcome)> {
        let mut attached = self.spawn(request)?;
        match attached.wait(None)? {
            Some(outcome) => Ok((attached.detach(), outcome)),
            None => Err(Error::SupervisorGone("it sent no outcome".into())),
        }
    }

    /// The job that `name` means: an id, a unique prefix of one, a name, or `@last`.
    fn job(&self, name: &str) -> Result<JobHandle>;

    /// As [`Backend::job`], but a name and `@last` mean jobs of this owner only.
    fn job_of(&self, owner: &str, name: &str) -> Result<JobHandle>;

    /// The job that was started with an idempotency key, if one was.
    fn job_by_key(&self, key: &str) -> Result<Option<JobHandle>>;

    /// The jobs, oldest first, and the truth about each.
    fn jobs(&self, scope: Scope) -> Result<Vec<Summary>>;

    /// The jobs that are wanted, oldest first: those that run or wait, and of those that ended within
    /// the time of `listed` as many as it says, the last to end first.
    fn recent(
        &self,
        listed: Listed,
        is_wanted: &mut dyn FnMut(&Summary) -> bool,
    ) -> Result<Vec<Summary>> {
        let mut recent = Recent::new(listed, Clock::SYSTEM.now());
        for summary in self.jobs(Scope::All)?.into_iter().rev() {
            recent.add(summary, is_wanted);
        }
        Ok(recent.into_summaries())
    }

    /// At most `most` jobs of an owner, or of all, in the order of their ids, the newest first; where
    /// `from` is given, from that id on.
    fn newest(
        &self,
        owner: Option<&str>,
        from: Option<&JobId>,
        most: usize,
    ) -> Result<Vec<Summary>> {
        let mut jobs = self.jobs(Scope::All)?;
        jobs.retain(|found| owner.is_none() || found.owner.as_deref() == owner);
        jobs.retain(|found| from.is_none_or(|from| found.job <= *from));
        jobs.sort_unstable_by(|one, other| other.job.cmp(&one.job));
        jobs.truncate(most);
        Ok(jobs)
    }

    /// The jobs whose end is among the events after the one numbered `after`, each with the number of
    /// that event, and the number of the newest event of all.
    fn ends_after(&self, mut after: u64) -> Result<(Vec<(JobId, u64)>, u64)> {
        let mut ends = Vec::new();
        loop {
            let items = self.events(after, EVENTS_PER_READ)?;
            let Some(last) = items.last() else { return Ok((ends, after)) };
            after = last.seq();
            ends.extend(items.into_iter().filter_map(|item| match item {
                Item::Event(Event { seq, job, kind: EventKind::Exited { .. }, .. }) => {
                    Some((job, seq))
                }
                _ => None,
            }));
        }
    }

    /// The number of the newest event.
    fn newest_event(&self) -> Result<u64>;

    /// Up to `most` items after the event numbered `after`.
    fn events(&self, after: u64, most: usize) -> Result<Vec<Item>>;

    /// Reads the events after the one numbered `after`, and waits for more.
    fn subscribe(&self, after: u64) -> Result<Subscription>;

    /// The first event of a kind after the event numbered `after`, waited for.
    fn wait_event_after(&self, kind: &str, after: u64, timeout: Duration) -> Result<Option<Event>> {
        first_event(&mut self.subscribe(after)?, timeout, |event| Some(event.kind.name() == kind))
    }

    /// Jobs that ended since `consumer` last asked, in the order they ended, each exactly once. A
    /// consumer's first call begins with what ends from then on.
    fn drain_completed(&self, consumer: &str, owner: Option<&str>) -> Result<Vec<Summary>>;

    /// Whether `consumer` has completions to drain.
    fn has_pending(&self, consumer: &str, owner: Option<&str>) -> Result<bool>;

    /// Deletes ended jobs: all that ended longer than `age` ago, and the oldest of the rest beyond
    /// what the backend keeps.
    fn prune(&self, age: Option<Duration>) -> Result<Vec<JobId>>;

    /// The jobs that [`Backend::prune`] would delete.
    fn prunable(&self, age: Option<Duration>) -> Result<Vec<JobId>> {
        let _ = age;
        Err(Error::Refused("where jobs run, nobody says beforehand what would be deleted".into()))
    }

    /// The persistent shell sessions, by name.
    fn shell_sessions(&self) -> Result<Vec<ShellSession>> {
        Ok(Vec::new())
    }

    /// Forgets what the commands of a session left behind, and the session too if it is to end.
    fn clear_session(&self, name: &str, clearing: Clearing) -> Result<()> {
        let _ = clearing;
        Err(Error::invalid("session", format!("there is no session {name:?}")))
    }

    /// The groups that have jobs or a limit, by name.
    fn groups(&self) -> Result<Vec<JobGroup>> {
        Ok(Vec::new())
    }

    /// Says how many jobs of a group run at once.
    fn limit_group(&self, name: &str, limit: usize) -> Result<()> {
        let _ = limit;
        Err(Error::Refused(format!("group {name}: where jobs run, there are no groups")))
    }

    /// The directory of this machine that the backend keeps its records in, if it has one. Nobody
    /// needs it to work with jobs: what callers remember beside them may lie there too.
    fn state_directory(&self) -> Option<&Path> {
        None
    }

    /// The directory that the command of a request begins in: its own, or that in which the last
    /// command of its session left it.
    fn begins_in(&self, request: &Request) -> PathBuf;
}

/// That a backend cannot do something with a job.
fn unable(job: &JobId, what: &str) -> Error {
    Error::Refused(format!("job {job}: where it runs, jobs cannot be told to {what}"))
}

/// One job of a backend.
pub trait BackendJob: fmt::Debug + Send + Sync {
    /// Its id.
    fn id(&self) -> &JobId;

    /// Another handle to it.
    fn handle(&self) -> JobHandle;

    /// Where it is in its life, and the truth about it.
    fn status(&self) -> Result<Status>;

    /// How it ended, if it has.
    fn outcome(&self) -> Result<Option<Outcome>> {
        match self.status()? {
            Status::Ended(outcome) => Ok(Some(*outcome)),
            Status::Created | Status::Started { .. } => Ok(None),
        }
    }

    /// Whether it is over, or was deleted.
    fn has_ended(&self) -> bool {
        !matches!(self.status(), Ok(Status::Created | Status::Started { .. }))
    }

    /// What a list says about it; `None` if it was deleted meanwhile.
    fn summary(&self) -> Option<Summary>;

    /// Its output.
    fn log(&self) -> Result<Log>;

    /// The file that its output is in, on the machine that runs it: for a person, or for a command
    /// that runs there. Who reads it here uses [`BackendJob::log`].
    fn output_path(&self) -> PathBuf;

    /// The same as an address: a `file://` URL for a job of this machine.
    fn output_url(&self) -> String;

    /// What wakes somebody who waits for it.
    fn watch(&self) -> Box<dyn JobWatch>;

    /// Sends input to its command.
    fn input(&self, bytes: &[u8]) -> Result<()>;

    /// What was typed into it so far, by whomever.
    fn typed(&self) -> Result<Typed>;

    /// Sends input to its command, if nobody has typed since `total` bytes were.
    fn input_after(&self, total: u64, bytes: &[u8]) -> Result<()>;

    /// Says that no more input comes: end of file on a pipe, ctrl-d at a terminal.
    fn end_input(&self) -> Result<()>;

    /// Writes down among the events that something was typed into it; the number of that event.
    fn record_input(&self, bytes: u64, end: bool) -> Result<u64>;

    /// Changes the size of its terminal.
    fn resize(&self, size: Size) -> Result<()>;

    /// Calls of its command that its sandbox holds until somebody answers.
    fn questions(&self) -> Result<Vec<Question>> {
        Ok(Vec::new())
    }

    /// Answers one of them: the call goes on, or fails.
    fn decide(&self, number: u64, decision: Decision) -> Result<()> {
        let _ = decision;
        Err(Error::invalid("question", format!("there is no question {number}")))
    }

    /// Holds all of its processes where they are.
    fn pause(&self) -> Result<()> {
        Err(unable(self.id(), "pause"))
    }

    /// Lets them go on.
    fn resume(&self) -> Result<()> {
        Err(unable(self.id(), "resume"))
    }

    /// Sends a signal to its processes.
    fn signal(&self, number: i32, reach: Reach) -> Result<()> {
        let _ = (number, reach);
        Err(unable(self.id(), "signal"))
    }

    /// The request that it was made from, as far as that is kept.
    fn repeat(&self) -> Result<Repeated> {
        Err(unable(self.id(), "repeat"))
    }

    /// Stops it and all its descendants; returns how it ended.
    fn stop(&self, ladder: Ladder) -> Result<Outcome>;

    /// Waits until one of `conditions` is true, at most for `timeout`. Files and ports are those of
    /// the machine that runs the job.
    fn wait(&self, conditions: &[Condition], timeout: Option<Duration>) -> Result<Met>;

    /// The first event of a kind that happened to this job after the event numbered `after`,
    /// waited for; `None` too if its end comes first.
    fn wait_event_after(&self, kind: &str, after: u64, timeout: Duration) -> Result<Option<Event>>;

    /// How far `reader` has read its output, kept with the job.
    fn bookmark(&self, reader: &str) -> Result<Box<dyn Bookmark>>;

    /// Reads its output from `offset` on, and on.
    fn follow(&self, offset: u64) -> Result<Follower> {
        Follower::new(self.handle(), offset)
    }

    /// What its terminal shows now.
    fn screen(&self) -> Result<Screen> {
        screen::now(&self.log()?, screen::size_of(self.id(), self.summary())?)
    }

    /// The sequences that make another terminal show the same, and the offset they are true at.
    fn redraw(&self) -> Result<(String, u64)> {
        screen::redraw(&self.log()?, screen::size_of(self.id(), self.summary())?)
    }

    /// What its terminal has shown so far, line by line.
    fn transcript(&self) -> Result<Vec<String>> {
        screen::transcript(&self.log()?, screen::size_of(self.id(), self.summary())?)
    }
}

impl dyn BackendJob {
    /// Reads on where `reader` stopped. `read` gets the offset, and returns what it read with the
    /// offset it got to. Of two at the same time, the second goes on where the first stopped.
    ///
    /// Where the bookmark cannot be kept, the same is read again next time, which loses nothing.
    pub fn read_on<T, E: From<Error>>(
        &self,
        reader: &str,
        read: impl FnOnce(u64) -> std::result::Result<(T, u64), E>,
    ) -> std::result::Result<T, E> {
        let mut bookmark = self.bookmark(reader).ok();
        let from = bookmark.as_ref().map_or(0, |bookmark| bookmark.offset());
        let (value, end) = read(from)?;
        if let Some(bookmark) = &mut bookmark
            && end != from
        {
            let _ = bookmark.advance(end);
        }
        Ok(value)
    }
}

/// A job whose supervisor reports to this process.
pub trait AttachedJob: fmt::Debug + Send {
    /// The job.
    fn job(&self) -> JobHandle;

    /// Waits for the end, at most for `timeout`. `None` if it runs on.
    fn wait(&mut self, timeout: Option<Duration>) -> Result<Option<Outcome>>;

    /// Waits for the end or for a question of its sandbox, at most for `timeout`. Where questions cannot be
    /// heard, they are denied when their time is over.
    fn hear(&mut self, timeout: Option<Duration>) -> Result<Heard> {
        let outcome = self.wait(timeout)?;
        Ok(outcome.map_or(Heard::Nothing, |outcome| Heard::Ended(Box::new(outcome))))
    }

    /// Lets go: the job runs on, whatever its request says about disconnection.
    fn detach(self: Box<Self>) -> JobHandle;
}

/// Sleeping until a job has news. To be made before the first look at what is waited for: what
/// happens between the two is then not slept through.
pub trait JobWatch: fmt::Debug + Send {
    /// Sleeps until the job may have written something or ended, or until the deadline.
    fn sleep(&mut self, deadline: Option<Instant>);
}

/// How far a reader has read. While it is held, no other holds the same one.
pub trait Bookmark: fmt::Debug + Send {
    /// The offset of the next byte to read.
    fn offset(&self) -> u64;

    /// Moves it.
    fn advance(&mut self, offset: u64) -> Result<()>;
}
