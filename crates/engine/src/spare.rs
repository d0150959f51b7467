//! Supervisors on the caller's side: starting them, and keeping one warm so that a job costs one
//! message, one fork and one exec.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use umbo_sandbox::Plan;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::supervisor::{ARGUMENT, NURSERY};
use crate::sys::socket;
use crate::wire::{self, Afterwards, OrderOf};

/// Where supervisors come from.
#[derive(Debug)]
pub(crate) struct Spares {
    program: PathBuf,
    state: PathBuf,
    warm: Option<Mutex<Warm>>,
}

/// Whether a supervisor is kept waiting for the next job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Warmth {
    /// One is: for programs that start many jobs.
    #[default]
    Warm,
    /// None is: for programs that start one.
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
    spares: VecDeque<OwnedFd>,
    nursery: Option<Started>,
    /// The sandbox of the last job: the next one is likely to have the same.
    expected: Option<Plan>,
}

/// A process of ours, and the socket whose closing ends it.
#[derive(Debug)]
struct Started {
    socket: OwnedFd,
    process: Child,
}

/// A supervisor that waits for a job.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// The way to talk to it.
    pub(crate) socket: OwnedFd,
    /// The process that started it and ended at once; the kernel wants to be asked about it.
    starter: Option<Child>,
}

impl Supervisor {
    /// Buries the starter. To be called when the supervisor has shown that it lives, or died.
    pub(crate) fn reap_starter(&mut self) {
        if let Some(mut starter) = self.starter.take() {
            let _ = starter.wait();
        }
    }
}

impl Spares {
    pub(crate) fn new(program: PathBuf, state: PathBuf, warmth: Warmth) -> Self {
        let warm = (warmth == Warmth::Warm).then(Mutex::default);
        Self { program, state, warm }
    }

    /// A supervisor to give a job to. [`Spares::expect`] must follow, when it has it.
    pub(crate) fn take(&self) -> Result<Supervisor> {
        let failed = |source| Error::Supervisor { program: self.program.clone(), source };
        let Some(warm) = &self.warm else {
            let Started { socket, process } =
                spawn(&self.program, ARGUMENT, &self.state).map_err(failed)?;
            return Ok(Supervisor { socket, starter: Some(process) });
        };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that waited longest are ready.
        while let Some(socket) = warm.spares.pop_front() {
            if is_alive(&socket) {
                return Ok(Supervisor { socket, starter: None });
            }
        }
        let socket = warm.fork_one(&self.program, &self.state).map_err(failed)?;
        Ok(Supervisor { socket, starter: None })
    }

    /// What a supervisor that gets a job does afterwards.
    pub(crate) fn afterwards(&self) -> Afterwards {
        if self.warm.is_some() { Afterwards::Return } else { Afterwards::End }
    }

    /// A job was given away: the next one is likely to have the same sandbox. One without comes back
    /// soon, more often than not, and with it its supervisor.
    pub(crate) fn expect(&self, sandbox: Option<&Plan>) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        if warm.expected.as_ref() != sandbox {
            warm.expected = sandbox.cloned();
        }
        let wanted = if sandbox.is_some() { SPARES } else { 1 };
        warm.fill(wanted, &self.program, &self.state);
    }

    /// Has supervisors made until enough wait.
    pub(crate) fn refill(&self) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        warm.fill(SPARES, &self.program, &self.state);
    }

    /// Takes one back that gets ready for another job.
    pub(crate) fn give_back(&self, supervisor: Supervisor) {
        let Some(warm) = &self.warm else { return };
        let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
        if warm.spares.len() < MOST_SPARES {
            warm.prepare(&supervisor.socket);
            warm.spares.push_back(supervisor.socket);
        }
    }
}

/// Whether the process at the other end lives: the kernel says so when its socket is closed.
fn is_alive(socket: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(socket, PollFlags::RDHUP)];
    matches!(poll(&mut fds, Some(&Timespec::default())), Ok(0))
}

impl Warm {
    /// Has supervisors made until so many wait. They get ready when the job that was just given away is
    /// born, or over.
    fn fill(&mut self, wanted: usize, program: &Path, state: &Path) {
        self.spares.retain(is_alive);
        while self.spares.len() < wanted {
            match self.fork_one(program, state) {
                Ok(spare) => {
                    self.prepare(&spare);
                    self.spares.push_back(spare);
                }
                // Met again, and told, when a job needs a supervisor.
                Err(_) => return,
            }
        }
    }

    /// Has a supervisor build the sandbox that is expected, if one is.
    fn prepare(&self, spare: &OwnedFd) {
        if let (Some(plan), Ok(socket)) = (&self.expected, spare.try_clone()) {
            let _ = wire::send(File::from(socket), &OrderOf::Expect(plan), &[]);
        }
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
        if let Some(Started { socket, mut process }) = self.nursery.take() {
            drop(socket);
            let _ = process.wait();
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
    Ok(Started { process: command.spawn()?, socket: ours })
}
