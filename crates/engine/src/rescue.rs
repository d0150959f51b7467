//! A job whose supervisor does not answer: waking it if somebody stopped it, and ending the job from
//! outside if that does not help.
//!
//! The only place where a process is signalled by its recorded pid: through a handle of the kernel's,
//! taken before the start time is compared with the record. It reaches that process or nobody.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use crate::clock;
use crate::groups;
use crate::id::JobId;
use crate::lost::{self, Truth};
use crate::outcome::Outcome;
use crate::state::{Identity, JobDir, ProcessId, State};
use crate::sys::cgroup::Cgroup;
use crate::sys::procfs;

/// How long what was killed may take to be gone.
const LAST_PROCESSES: Duration = Duration::from_secs(5);
/// How often what was killed is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A process that is proven to be the recorded one.
struct Handle {
    fd: OwnedFd,
    pid: Pid,
}

impl Handle {
    fn prove(process: ProcessId) -> Option<Self> {
        let pid = Pid::from_raw(process.pid)?;
        let fd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        (procfs::start_time(pid) == Some(process.start_time)).then_some(Self { fd, pid })
    }

    fn send(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.fd, signal);
    }

    /// Waits for its end. Whether it came in time.
    fn await_end(&self, deadline: Instant) -> bool {
        let timeout = clock::until(deadline);
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&timeout)), Ok(ready) if ready > 0)
    }
}

fn identity(directory: &JobDir) -> Option<Identity> {
    let identity = directory.record().ok()?.0.supervisor?;
    (procfs::boot_id()? == identity.boot_id).then_some(identity)
}

/// Wakes the supervisor of a job, and its keeper, if somebody stopped them.
pub(crate) fn wake(directory: &JobDir) {
    let Some(identity) = identity(directory) else { return };
    for process in identity.keeper.into_iter().chain([identity.process]) {
        if let Some(handle) = Handle::prove(process)
            && procfs::is_stopped(handle.pid)
        {
            handle.send(Signal::CONT);
        }
    }
}

/// Ends a job from outside: its processes, then its supervisor. How it ended, unless that cannot be
/// found out because a process of umbo is in the kernel's hands.
pub(crate) fn end(state: &State, job: &JobId) -> Option<Outcome> {
    let directory = state.job(job);
    let deadline = Instant::now() + LAST_PROCESSES;
    if let Some(identity) = identity(&directory) {
        if let Some(supervisor) = Handle::prove(identity.process) {
            empty(&directory, supervisor.pid, deadline);
            // One that has taken another job since is not this job's any more.
            if directory.is_supervised() {
                supervisor.send(Signal::KILL);
                supervisor.await_end(deadline);
            }
        }
        // The keeper writes the record now, unless it hangs as well.
        let is_kept = directory.is_supervised();
        if let Some(keeper) = identity.keeper.filter(|_| is_kept).and_then(Handle::prove) {
            keeper.send(Signal::CONT);
            if !keeper.await_end(deadline) {
                keeper.send(Signal::KILL);
                keeper.await_end(Instant::now() + LAST_PROCESSES);
            }
        }
    }
    match lost::truth(state, job) {
        Truth::Over(outcome) => Some(*outcome),
        Truth::Alive => None,
    }
}

/// Kills all processes of a job but its supervisor, to which every orphan of them returns.
fn empty(directory: &JobDir, supervisor: Pid, deadline: Instant) {
    let groups: Vec<Cgroup> = groups::of(directory)
        .into_iter()
        .filter_map(|path| Cgroup::open(path).ok().filter(Cgroup::can_kill))
        .collect();
    while Instant::now() < deadline {
        for group in &groups {
            let _ = group.kill();
        }
        let living = procfs::descendants(supervisor);
        if living.is_empty() {
            return;
        }
        for pid in living {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
