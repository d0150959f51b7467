//! Ending all descendants of a process where no control group does it at once.
//!
//! Processes that fork faster than they are killed must be stopped first: one that has SIGSTOP
//! pending cannot fork any more, and its children, once read, are all it will ever have. A process
//! group is signalled by the kernel as one: a storm that stays in its group ends at once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use crate::sys::procfs;

/// How long one try may go on stopping what keeps appearing, before it kills what it has.
const STOPPING: Duration = Duration::from_secs(2);

/// Stops all descendants of `root`, which must be a subreaper, then kills them. To be repeated until
/// there is none: those that died leave children behind which come back to `root`.
///
/// Returns the living ones it found.
pub(crate) fn kill_tree(root: Pid) -> HashSet<Pid> {
    let mut tree = Tree { held: HashSet::new(), groups: HashSet::new() };
    let own_group = getpgid(None).ok();
    tree.groups.extend(own_group);
    let deadline = Instant::now() + STOPPING;
    while tree.stop_below(root) > 0 && Instant::now() < deadline {}
    for group in tree.groups.iter().filter(|group| Some(**group) != own_group) {
        let _ = kill_process_group(*group, Signal::KILL);
    }
    for pid in &tree.held {
        let _ = kill_process(*pid, Signal::KILL);
    }
    tree.held
}

/// Stops processes of a job that is not below this process, then kills them. To be repeated, as
/// above.
pub(crate) fn kill_tree_of_others(pids: &[Pid]) {
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in pids {
            let _ = kill_process(*pid, signal);
        }
    }
}

struct Tree {
    held: HashSet<Pid>,
    /// Their process groups, which have nobody else in them: the command began a session.
    groups: HashSet<Pid>,
}

impl Tree {
    /// Stops what is not stopped yet, parents before children. How many were new.
    fn stop_below(&mut self, root: Pid) -> usize {
        let before = self.held.len();
        let mut queue = vec![root];
        while let Some(parent) = queue.pop() {
            for child in procfs::children(parent) {
                if !self.held.contains(&child) && !procfs::is_zombie(child) {
                    self.stop(child);
                }
                queue.push(child);
            }
        }
        self.held.len() - before
    }

    fn stop(&mut self, pid: Pid) {
        let _ = kill_process(pid, Signal::STOP);
        self.held.insert(pid);
        // Of a process that is stopped the group stays what it is.
        if let Ok(group) = getpgid(Some(pid))
            && self.groups.insert(group)
        {
            let _ = kill_process_group(group, Signal::STOP);
        }
    }
}
