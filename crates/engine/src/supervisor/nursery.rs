//! A small process beside a caller that starts many jobs. It forks supervisors for it, which is
//! cheaper than starting the program anew, and costs the same however large the caller is. It ends
//! when the caller does.

use std::path::PathBuf;

use super::{leave_home, settle_in};
use crate::state::State;
use crate::sys::process::{self, Burial};
use crate::sys::{cgroup, socket};

/// The life of a nursery: a supervisor for every socket that comes. Never returns.
pub(crate) fn main(state_root: PathBuf) -> ! {
    let caller = process::take_stdin();
    let umask = leave_home();
    let state = State::existing(state_root);
    process::bury_children(&Burial::Kernel);
    // Found out once, for all that are forked from here.
    let _ = cgroup::own_v2();
    while let Ok(Some(job)) = socket::receive_fd(&caller) {
        if let Ok(process::Fork::Child) = process::fork(None) {
            drop(caller);
            process::bury_children(&Burial::Own);
            settle_in(&state, umask, job);
        }
    }
    process::exit_now(0)
}
