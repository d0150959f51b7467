//! Supervisors on the caller's side: starting them, and keeping one warm so that a job costs one
//! message, one fork and one exec.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;
use umbo_sandbox::Plan;

use crate::ahead::Ahead;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::supervisor::{ARGUMENT, NURSERY};
use crate::sys::{process, socket};
use crate::wire::{self, Afterwards, OrderOf, Peer};

/// The program that this process runs.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Where supervisors come from.
#[derive(Debug)]
pub(crate) struct Spares {
    program: PathBuf,
    state: PathBuf,
    warm: Option<Mutex<Warm>>,
    /// One that was begun ahead of the only job.
    ahead: Mutex<Option<Ahead>>,
}

/// Whether a supervisor is kept waiting for the next job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warmth {
    /// One is: for programs that start many jobs.
    #[default]
    Warm,
    /// None is: for programs that may start one.
    Cold,
}

/// How many supervisors wait when none comes back: one for the next job, and one for a job right
/// behind it.
const SPARES: usize = 2;

/// So many that came back are kept, for as many jobs at the same time.
const MOST_SPARES: usize = 8;

/// Supervisors that wait for a job, and the process that forks the next.
#[derive(Debug, Default)]
struct Warm {
    spares: Vec<Spare>,
    nursery: Option<Started>,
    /// The sandboxes of the last jobs, the newest first: the next one is likely to have one of them.
    expected: VecDeque<Option<Plan>>,
}

/// A supervisor that waits for a job.
#[derive(Debug)]
struct Spare {
    socket: OwnedFd,
    /// The sandbox it has built, if it has.
    plan: Option<Plan>,
}

/// A process of ours, and the socket whose closing ends it.
#[derive(Debug)]
struct Started {
    socket: OwnedFd,
    process: Pid,
}

/// A supervisor that waits for a job.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// The way to talk to it.
    pub(crate) socket: OwnedFd,
    /// The process that started it and ended at once; the kernel wants to be asked about it.
    starter: Option<Pid>,
}

impl Supervisor {
    /// Buries the starter. To be called when the supervisor has shown that it lives, or died.
    pub(crate) fn reap_starter(&mut self) {
        if let Some(starter) = self.starter.take() {
            process::bury(starter);
        }
    }
}

impl Spares {
    pub(crate) fn new(
        program: PathBuf,
        state: PathBuf,
        warmth: Warmth,
        ahead: Option<Ahead>,
    ) -> Self {
        let warm = (warmth == Warmth::Warm).then(Mutex::default);
        let ahead = Mutex::new(ahead.filter(|ahead| ahead.is_for(&state)));
        Self { program, state, warm, ahead }
    }

    /// A supervisor to give a job with this sandbox to. [`Spares::expect`] must follow, when it has it.
    pub(crate) fn take(&self, sandbox: Option<&Plan>) -> Result<Supervisor> {
        let failed = |source| Error::Supervisor { program: self.program.clone(), source };
        let Some(warm) = &self.warm else {
            let ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some((socket, starter)) = ahead.and_then(Ahead::take) {
                return Ok(Supervisor { socket, starter: Some(starter) });
            }
            let Started { socket, process } =
                spawn(&self.program, ARGUMENT, &self.state).map_err(failed)?;
            return Ok(Supervisor { socket, starter: Some(process) });
        };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that waited longest are ready.
        let fits = |spare: &Spare| spare.plan.as_ref() == sandbox;
        let index = warm.spares.iter().position(fits).unwrap_or(0);
        let socket = match warm.spares.get(index) {
            Some(_) => warm.spares.remove(index).socket,
            None => warm.fork_one(&self.program, &self.state).map_err(failed)?,
        };
        Ok(Supervisor { socket, starter: None })
    }

    /// What a supervisor that gets a job does afterwards.
    pub(crate) fn afterwards(&self) -> Afterwards {
        if self.warm.is_some() { Afterwards::Return } else { Afterwards::End }
    }

    /// A job with this sandbox was given away: the next one is likely to have the same. One without comes
    /// back soon, more often than not, and with it its supervisor.
    pub(crate) fn expect(&self, sandbox: Option<&Plan>) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        warm.expect(sandbox);
        let wanted = if sandbox.is_some() { SPARES } else { 1 };
        warm.fill(wanted, &self.program, &self.state);
    }

    /// Has supervisors made until enough wait.
    pub(crate) fn refill(&self) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        warm.forget_dead();
        warm.fill(SPARES, &self.program, &self.state);
    }

    /// Forgets those that were killed: one that was given a job had been.
    pub(crate) fn forget_dead(&self) {
        if let Some(warm) = &self.warm {
            warm.lock().unwrap_or_else(PoisonError::into_inner).forget_dead();
        }
    }

    /// Takes one back that gets ready for another job.
    pub(crate) fn give_back(&self, supervisor: Supervisor) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        if warm.spares.len() < MOST_SPARES {
            warm.spares.push(Spare { socket: supervisor.socket, plan: None });
        }
    }
}

impl Warm {
    /// Remembers the sandbox of a job.
    fn expect(&mut self, sandbox: Option<&Plan>) {
        if self.expected.front().map(Option::as_ref) == Some(sandbox) {
            return;
        }
        self.expected.retain(|plan| plan.as_ref() != sandbox);
        self.expected.push_front(sandbox.cloned());
        self.expected.truncate(SPARES);
    }

    /// Has supervisors made until so many wait, and one for each sandbox of the last jobs. They get ready
    /// when the job that was just given away is born, or over.
    fn fill(&mut self, wanted: usize, program: &Path, state: &Path) {
        while self.spares.len() < MOST_SPARES {
            let missing = self.missing_sandbox();
            if self.spares.len() >= wanted && missing.is_none() {
                return;
            }
            let plan = missing.or_else(|| self.expected.front().cloned().flatten());
            match self.fork_one(program, state) {
                Ok(socket) => {
                    if let Some(plan) = &plan {
                        let _ = wire::send(Peer(&socket), &OrderOf::Expect(plan), &[]);
                    }
                    self.spares.push(Spare { socket, plan });
                }
                // Met again, and told, when a job needs a supervisor.
                Err(_) => return,
            }
        }
    }

    /// A sandbox of the last jobs that no spare has built.
    fn missing_sandbox(&self) -> Option<Plan> {
        let is_missing =
            |plan: &&Plan| !self.spares.iter().any(|spare| spare.plan.as_ref() == Some(*plan));
        self.expected.iter().flatten().find(is_missing).cloned()
    }

    /// Forgets those that were killed: the kernel says so when their socket is closed.
    fn forget_dead(&mut self) {
        let watched = PollFlags::RDHUP;
        let mut fds: Vec<PollFd<'_>> =
            self.spares.iter().map(|spare| PollFd::new(&spare.socket, watched)).collect();
        if fds.is_empty() || poll(&mut fds, Some(&Timespec::default())) == Ok(0) {
            return;
        }
        let is_alive: Vec<bool> = fds.iter().map(|fd| fd.revents().is_empty()).collect();
        let mut is_alive = is_alive.into_iter();
        self.spares.retain(|_| is_alive.next().unwrap_or(true));
    }

    /// Has the nursery fork a supervisor; starts the nursery if there is none, or it was killed.
    fn fork_one(&mut self, program: &Path, state: &Path) -> io::Result<OwnedFd> {
        let (ours, theirs) = socket::pair()?;
        if let Some(nursery) = &self.nursery
            && socket::send_fd(&nursery.socket, &theirs).is_ok()
        {
            return Ok(ours);
        }
        self.close_nursery();
        let nursery = spawn(program, NURSERY, state)?;
        socket::send_fd(&nursery.socket, &theirs)?;
        self.nursery = Some(nursery);
        Ok(ours)
    }

    fn close_nursery(&mut self) {
        if let Some(Started { socket, process }) = self.nursery.take() {
            drop(socket);
            process::bury(process);
        }
    }
}

impl Drop for Warm {
    fn drop(&mut self) {
        self.spares.clear();
        self.close_nursery();
    }
}

/// Starts a process of ours. Without `pre_exec` or the like this is `posix_spawn`, whose cost does
/// not grow with this process's memory.
fn spawn(program: &Path, role: &str, state: &Path) -> io::Result<Started> {
    let (ours, theirs) = socket::pair()?;
    let mut command = Command::new(program);
    command
        .arg(role)
        .arg(state)
        .env_clear()
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if cfg!(feature = "failpoints")
        && let Some(name) = std::env::var_os(failpoint::VARIABLE)
    {
        command.env(failpoint::VARIABLE, name);
    }
    let process = i32::try_from(command.spawn()?.id()).ok().and_then(Pid::from_raw);
    let process =
        process.ok_or_else(|| io::Error::other("the kernel answered with an impossible pid"))?;
    Ok(Started { process, socket: ours })
}
