//! A small process beside a caller that starts many jobs. It forks supervisors for it, which is
//! cheaper than starting the program anew, and costs the same however large the caller is. It ends
//! when the caller does.

use std::mem;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::{leave_caller, prepare_and_supervise};
use crate::clock;
use crate::state::State;
use crate::sys::process::{self, Reaping};
use crate::sys::{cgroup, socket};

/// The last supervisor that was asked for is forked when nothing more is asked for this long: by then
/// a short job is over and answered, and had the processors for itself.
const CALM_TIME: Duration = Duration::from_millis(3);

/// The life of a nursery: a supervisor for every socket that comes. Never returns.
pub(crate) fn main(state_root: PathBuf) -> ! {
    let caller = process::take_stdin();
    let umask = leave_caller();
    let state = State::existing(state_root);
    process::set_reaping(&Reaping::ByKernel);
    // Found out once, for all that are forked from here.
    let _ = cgroup::own_v2();
    let mut last: Option<OwnedFd> = None;
    loop {
        // One who asks for more may have given a job to the last already: that one waits no longer.
        let next = if last.is_some() && is_calm(&caller) {
            None
        } else {
            match socket::receive_fd(&caller) {
                Ok(Some(job)) => Some(job),
                Ok(None) | Err(_) => process::exit_now(0),
            }
        };
        if let Some(job) = mem::replace(&mut last, next)
            && let Ok(process::Fork::Child) = process::fork(None)
        {
            drop((caller, last));
            process::set_reaping(&Reaping::Own);
            prepare_and_supervise(&state, umask, job);
        }
    }
}

fn is_calm(caller: impl AsFd) -> bool {
    let timeout = clock::until(Instant::now() + CALM_TIME);
    poll(&mut [PollFd::new(&caller, PollFlags::IN)], Some(&timeout)) == Ok(0)
}
