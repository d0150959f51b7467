//! The process whose call is held: who it is, and taking a descriptor of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// What the kernel says about a thread.
#[derive(Debug)]
pub(super) struct Caller {
    /// Its process.
    handle: Option<OwnedFd>,
    /// Whether it is all of its process: nobody else can change its mask then.
    is_alone: bool,
    pub(super) umask: Mode,
    user: Option<u32>,
    group: Option<u32>,
}

impl Caller {
    pub(super) fn of(thread: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim_start_matches(':').trim())
        };
        // Real, effective, saved, and the one that files are accessed with.
        let access = |name: &str| field(name)?.split_ascii_whitespace().nth(3)?.parse().ok();
        let umask = field("Umask").and_then(|text| u32::from_str_radix(text, 8).ok());
        let process = field("Tgid").and_then(|text| text.parse().ok()).and_then(Pid::from_raw);
        Self {
            handle: process.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()),
            is_alone: field("Threads") == Some("1"),
            umask: Mode::from_raw_mode(umask.unwrap_or(0o077)),
            user: access("Uid"),
            group: access("Gid"),
        }
    }

    /// Whether what we do for it is what it could do itself: it is the user that we are.
    pub(super) fn is_this_user(&self) -> bool {
        self.user == Some(rustix::process::geteuid().as_raw())
            && self.group == Some(rustix::process::getegid().as_raw())
    }

    /// A descriptor of the process, as one of ours: the same open file.
    pub(super) fn descriptor(&self, number: i32) -> rustix::io::Result<OwnedFd> {
        let handle = self.handle.as_ref().ok_or(rustix::io::Errno::SRCH)?;
        pidfd_getfd(handle, number, PidfdGetfdFlags::empty())
    }

    /// Whether its process is there: if not, its number may be another's.
    fn is_alive(&self) -> bool {
        let Some(handle) = &self.handle else { return false };
        let mut fds = [PollFd::new(handle, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&Timespec::default())), Ok(0))
    }
}

/// Those who asked before. What is known of them stays true until a process changes its mask or its user, and
/// the filter asks about that: see [`crate::sys::calls::CALLER_CHANGES`].
#[derive(Debug, Default)]
pub(super) struct Callers(RefCell<HashMap<u32, Rc<Caller>>>);

impl Callers {
    /// The caller behind a thread. `waits` says whether the thread still waits for an answer: only then what
    /// was read is about it, and not about a later one with its number.
    pub(super) fn of(&self, thread: u32, waits: impl FnOnce() -> bool) -> Rc<Caller> {
        /// Each holds a descriptor.
        const MOST_KNOWN: usize = 64;
        let mut known = self.0.borrow_mut();
        if let Some(caller) = known.get(&thread).filter(|caller| caller.is_alive()) {
            return Rc::clone(caller);
        }
        let caller = Rc::new(Caller::of(thread));
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.remove(&thread);
        if caller.is_alone && caller.handle.is_some() && waits() {
            known.insert(thread, Rc::clone(&caller));
        }
        caller
    }

    /// Somebody changes its mask or its user.
    pub(super) fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

/// The command line of a process, for a person to recognise it by.
pub(crate) fn command_line(thread: u32) -> String {
    let words = fs::read(format!("/proc/{thread}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&words).replace('\0', " ");
    let text = text.trim();
    if text.is_empty() {
        let name = fs::read_to_string(format!("/proc/{thread}/comm")).unwrap_or_default();
        return name.trim().to_owned();
    }
    text.to_owned()
}
