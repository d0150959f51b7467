//! A supervisor that is begun before its job is known: for programs that start one job and end. It is a
//! copy of its caller, for to begin a program anew takes longer than all that a supervisor does to get
//! ready.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::net::{Shutdown, shutdown};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::builder;
use crate::state::State;
use crate::supervisor;
use crate::sys::process::{self, ChildStack, Fork};
use crate::sys::socket;

/// What a supervisor has for its stack. Pages that it does not touch are never made.
const STACK_BYTES: usize = 2 << 20;

/// A supervisor of which nothing is known yet but that it will be needed. Dropping it ends it.
#[derive(Debug)]
pub struct Ahead {
    state: PathBuf,
    socket: Option<OwnedFd>,
    /// The process that started it and ends at once.
    starter: Pid,
}

impl Ahead {
    /// Begins one for a job in a state directory, to be given to [`Builder::ahead`](crate::Builder::ahead). To
    /// be called right after [`init`](crate::init). `None` where it cannot be begun so: by a process with several
    /// threads, or where the kernel does not say how many there are, or in a directory that is not yet one of state.
    pub fn begin(state: impl AsRef<Path>) -> Option<Self> {
        if !builder::is_initialised() || !process::is_single_threaded() {
            return None;
        }
        let state = std::path::absolute(state).ok()?;
        if !State::existing(state.clone()).spares().is_dir() {
            return None;
        }
        let cpus = sched_getaffinity(None).ok();
        let (ours, theirs) = socket::pair().ok()?;
        let mut theirs = Some(theirs);
        // The starter has this memory as it is: of the two forks only the second one copies it.
        let mut start = || {
            let _ = rustix::process::setsid();
            match process::fork(None) {
                Ok(Fork::Parent(keeper)) => {
                    send_elsewhere(keeper, cpus.as_ref());
                    0
                }
                Ok(Fork::Child) => match theirs.take() {
                    Some(theirs) => supervisor::main_in_copy(&state, theirs, cpus.as_ref()),
                    None => 1,
                },
                Err(_) => 1,
            }
        };
        let mut stack = ChildStack::of(STACK_BYTES);
        let starter = process::spawn(None, &mut stack, &mut start).ok()?;
        Some(Self { state, socket: Some(ours), starter })
    }

    /// Whether its job is to be in this state directory.
    pub(crate) fn is_for(&self, state: &Path) -> bool {
        self.state == state
    }

    /// The way to talk to it, and the process to bury.
    pub(crate) fn take(mut self) -> Option<(OwnedFd, Pid)> {
        Some((self.socket.take()?, self.starter))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            // It closes its end when it has undone what it prepared.
            let _ = shutdown(&socket, Shutdown::Write);
            let _ = rustix::io::read(&socket, &mut [0_u8; 1]);
            process::bury(self.starter);
        }
    }
}

/// Has a new process begin at once, on another processor: the kernel may leave it waiting on this one until
/// we sleep. It goes where it likes when it has begun.
fn send_elsewhere(process: Pid, cpus: Option<&CpuSet>) {
    let Some(mut others) = cpus.copied() else { return };
    others.unset(sched_getcpu());
    if others.count() > 0 {
        let _ = sched_setaffinity(Some(process), &others);
    }
}
