//! The parent of a supervisor. It waits. Should the supervisor be killed, it is the one the orphans
//! come to: it ends them and writes the exit record that the supervisor no longer can. Should the
//! supervisor be stopped, it wakes it: a job that stops its supervisor has its limits all the same.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, pidfd_open, wait, waitpid,
};

use super::prepared::Kept;
use crate::clock;
use crate::groups;
use crate::kill_tree::kill_tree;
use crate::lost;
use crate::outcome::{Containment, LostReason};
use crate::state::State;
use crate::sys::cgroup::Cgroup;
use crate::sys::{process, procfs};

/// A job that lives longer than this is not a short one.
pub(super) const SHORT_JOB_TIME: Duration = Duration::from_millis(100);
/// A supervisor that is stopped twice within this time is stopped on purpose.
const STOPPED_AGAIN: Duration = Duration::from_secs(1);
/// How long it then has to work.
const TIME_TO_WORK: Duration = Duration::from_millis(20);
/// How often what was killed is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);
/// A process that does not die for this long is in the kernel's hands, not ours.
const UNKILLABLE: Duration = Duration::from_secs(10);

/// Waits for the supervisor and cleans up after it if it must. Never returns.
pub(super) fn keep(state: &State, kept: &Kept, supervisor: Pid) -> ! {
    rest_when_idle(supervisor);
    let mut woken = None;
    let status = loop {
        match waitpid(Some(supervisor), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) if status.stopped() => {
                wake(state, kept, supervisor, woken.replace(Instant::now()));
            }
            Ok(Some((_, status))) => break Some(status),
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => break None,
        }
    };
    if status.is_none_or(|status| status.exit_status() != Some(0)) {
        clean_up(state, kept);
    }
    // What a supervisor has beside its job, as the first process of a sandbox, is this one's child.
    while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
    process::exit_now(0)
}

/// Gives memory back once it is clear that this is not one of the many jobs that end at once.
fn rest_when_idle(supervisor: Pid) {
    let Ok(fd) = pidfd_open(supervisor, PidfdFlags::empty()) else { return };
    let timeout = clock::until(Instant::now() + SHORT_JOB_TIME);
    if poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) == Ok(0) {
        process::rest();
    }
}

/// Wakes a supervisor that somebody stopped. A job that does it again and again is held for a moment
/// each time, in which the supervisor gets to its work: otherwise it would be stopped by the next
/// signal before it had done anything.
fn wake(state: &State, kept: &Kept, supervisor: Pid, before: Option<Instant>) {
    if before.is_none_or(|before| before.elapsed() > STOPPED_AGAIN) {
        let _ = kill_process(supervisor, Signal::CONT);
        return;
    }
    let breathe = || {
        let _ = kill_process(supervisor, Signal::CONT);
        if let Ok(fd) = pidfd_open(supervisor, PidfdFlags::empty()) {
            let breath = clock::until(Instant::now() + TIME_TO_WORK);
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&breath));
        }
    };
    let tell = |pids: &[Pid], signal| {
        for pid in pids {
            let _ = kill_process(*pid, signal);
        }
    };
    if let Some(group) = kept.groups(state).first() {
        group.freeze(Instant::now() + TIME_TO_WORK);
        breathe();
        group.thaw();
        return;
    }
    // Those that stand still already are to stand still afterwards.
    let mut held = procfs::descendants(supervisor);
    held.retain(|pid| !procfs::is_stopped(*pid));
    tell(&held, Signal::STOP);
    breathe();
    tell(&held, Signal::CONT);
}

fn clean_up(state: &State, kept: &Kept) {
    let groups = kept.groups(state);
    for group in &groups {
        let _ = group.kill();
    }
    let proof = end_children(&groups);
    // The directory may be a job's by now: it knows its own name.
    let Some(path) = kept.path() else { return };
    let job = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    match job {
        Some(job) if path.starts_with(state.jobs()) => {
            let _ = lost::record_lost(state, &job, LostReason::SupervisorKilled, proof);
        }
        _ => {
            let _ = groups::discard(&path, None);
        }
    }
}

/// Kills whoever was orphaned to this process until nobody is left, or the same ones do not die.
fn end_children(groups: &[Cgroup]) -> Option<Containment> {
    let (mut living, mut since) = (HashSet::new(), Instant::now());
    while since.elapsed() < UNKILLABLE {
        let found = kill_tree(rustix::process::getpid());
        if found != living {
            (living, since) = (found, Instant::now());
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => break,
                Err(_) => {
                    return match groups {
                        [] => Some(Containment::Subreaper),
                        groups if groups.iter().any(Cgroup::is_populated) => None,
                        _ => Some(Containment::Cgroup),
                    };
                }
            }
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    None
}
