//! The processes of a job: who is alive, how to reach them all, and when it is proven that none
//! is left.
//!
//! The supervisor is child-subreaper: an orphan of the tree, however it detached itself, becomes
//! its child. So when `wait` says there is no child, there is no descendant. A control group, where
//! there is one, adds a kill that a fork storm cannot outrun.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

use crate::kill_tree::kill_tree;
use crate::outcome::{Containment, ProcessEnd};
use crate::sys::cgroup::{self, Cgroup};
use crate::sys::process::{self, ProcessUsage};
use crate::sys::procfs;
use crate::wire::Reach;

/// How long the kernel may take to see that a group without living processes is empty.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

/// How long the kernel may take to freeze a group.
const FREEZING: Duration = Duration::from_secs(1);
/// How often a tree that forks is looked at again while it is stopped.
const MOST_ROUNDS: usize = 100;

/// Processes that were stopped, besides those that a control group freezes.
pub(super) struct Held {
    stopped: Vec<Pid>,
}

/// The job's processes.
pub(super) struct Tree {
    main: Pid,
    cgroup: Option<Cgroup>,
    /// The first process of the job's own process namespace, to which its orphans go.
    first: Option<Pid>,
    /// How the command itself ended.
    pub(super) main_end: Option<ProcessEnd>,
    /// Whether this process has no child left.
    pub(super) is_childless: bool,
    /// Whether there is no process left.
    pub(super) is_empty: bool,
    /// What those that ended have used.
    pub(super) usage: ProcessUsage,
}

impl Tree {
    pub(super) fn new(main: Pid, cgroup: Option<Cgroup>, first: Option<Pid>) -> Self {
        let usage = ProcessUsage::default();
        Self { main, cgroup, first, main_end: None, is_childless: false, is_empty: false, usage }
    }

    /// Buries the dead: the command and whoever was orphaned.
    pub(super) fn reap(&mut self) {
        loop {
            match process::reap() {
                Ok(Some(dead)) => {
                    self.usage.add(&dead.usage);
                    if dead.pid == self.main {
                        self.main_end = Some(match dead.signal {
                            Some(signal) => ProcessEnd::Signaled { signal, core: dead.core },
                            None => ProcessEnd::Exited(dead.code),
                        });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_childless = true;
                    // With processes of its own, those that are left are not our children.
                    self.is_empty |= self.first.is_none();
                    return;
                }
            }
        }
    }

    /// The control group it is in.
    pub(super) fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// The control group, if another job can be put into it: nothing shows that this one was there.
    pub(super) fn take_clean_cgroup(&mut self) -> Option<Cgroup> {
        self.cgroup.take_if(|group| group.is_as_made())
    }

    /// Everyone alive in it.
    pub(super) fn living(&self) -> Vec<Pid> {
        let mut living = procfs::descendants(rustix::process::getpid());
        living.extend(self.first.into_iter().flat_map(procfs::descendants));
        if let Some(cgroup) = &self.cgroup {
            let known: HashSet<Pid> = living.iter().copied().collect();
            living.extend(cgroup.processes().into_iter().filter(|pid| !known.contains(pid)));
        }
        living
    }

    /// Sends a signal to the command's group, and to each process that left that group.
    pub(super) fn signal(&self, signal: Signal) {
        let group_is_ours = self.main_end.is_none();
        if group_is_ours {
            let _ = kill_process_group(self.main, signal);
        }
        for pid in self.living() {
            if !(group_is_ours && getpgid(Some(pid)) == Ok(self.main)) {
                let _ = kill_process(pid, signal);
            }
            // A stopped process would sleep through the news.
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Sends a signal to the processes that somebody named.
    pub(super) fn send(&self, signal: Signal, reach: Reach) -> rustix::io::Result<()> {
        match reach {
            Reach::Group => kill_process_group(self.main, signal),
            Reach::First => kill_process(self.main, signal),
            Reach::All => {
                for pid in self.living() {
                    // One that ended meanwhile needs none.
                    let _ = kill_process(pid, signal);
                }
                Ok(())
            }
        }
    }

    /// Holds everyone where they are.
    pub(super) fn hold(&self, now: Instant) -> Held {
        if let Some(cgroup) = &self.cgroup {
            cgroup.freeze(now + FREEZING);
        }
        let frozen: HashSet<Pid> = match &self.cgroup {
            Some(cgroup) if cgroup.is_frozen() => cgroup.processes().into_iter().collect(),
            _ => HashSet::new(),
        };
        let mut stopped = Vec::new();
        // Who is not stopped yet may have forked.
        for _ in 0..MOST_ROUNDS {
            let mut running = self.living();
            running.retain(|pid| !frozen.contains(pid) && !stopped.contains(pid));
            // Who stands still already is to stand still afterwards.
            running.retain(|pid| !procfs::is_stopped(*pid));
            if running.is_empty() {
                break;
            }
            for pid in &running {
                let _ = kill_process(*pid, Signal::STOP);
            }
            stopped.extend(running);
        }
        Held { stopped }
    }

    /// Lets those go on that were held.
    pub(super) fn let_go(&self, held: Held) {
        let living = self.living();
        // A number may be another process's by now.
        for pid in held.stopped.into_iter().filter(|pid| living.contains(pid)) {
            let _ = kill_process(pid, Signal::CONT);
        }
        if let Some(cgroup) = &self.cgroup {
            cgroup.thaw();
        }
    }

    /// Sends SIGINT as a terminal does: to the group in the foreground.
    pub(super) fn interrupt(&self, foreground: Option<Pid>) {
        match foreground {
            Some(group) => {
                let _ = kill_process_group(group, Signal::INT);
            }
            None => self.signal(Signal::INT),
        }
    }

    /// Kills everyone; to be repeated until the tree is empty, for it may grow meanwhile. Returns
    /// the living ones that were found outside the control group's own kill.
    pub(super) fn kill(&self) -> HashSet<Pid> {
        if let Some(cgroup) = &self.cgroup {
            let _ = cgroup.kill();
        }
        if let Some(first) = self.first {
            // With it ends everybody it is above of. It stays a zombie as long as we are there, so the
            // number is its own.
            let _ = kill_process(first, Signal::KILL);
        }
        // Without a group; and a process whose birth in the group failed is in the tree all the same.
        kill_tree(rustix::process::getpid())
    }

    /// What proves that nobody is left, if it is so.
    pub(super) fn proof(&self) -> Option<Containment> {
        match &self.cgroup {
            _ if !self.is_empty => None,
            Some(cgroup) => {
                cgroup.is_empty_by(Instant::now() + LAST_MOMENTS).then_some(Containment::Cgroup)
            }
            None if self.first.is_some() => Some(Containment::Namespace),
            None => Some(Containment::Subreaper),
        }
    }

    /// Gives the control group back, unless somebody was left alive in it.
    pub(super) fn remove_cgroup(&self) {
        if let Some(cgroup) = &self.cgroup {
            let deadline = self.is_empty.then(|| Instant::now() + LAST_MOMENTS);
            cgroup::remove_group(cgroup.path(), deadline);
        }
    }
}
