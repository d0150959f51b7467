//! The process whose call is held: who it is, and taking a descriptor of it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::sys::handle::{self, Access};

/// What the kernel says about a thread.
#[derive(Debug)]
pub(super) struct Caller {
    thread: u32,
    /// It, or its process.
    handle: Option<Rc<OwnedFd>>,
    access: Option<Access>,
}

impl Caller {
    pub(super) fn of(thread: u32) -> Self {
        let status = Status::read(thread);
        let process = status.field("Tgid").and_then(|text| text.parse().ok());
        let handle = process
            .and_then(Pid::from_raw)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Self { thread, handle: handle.map(Rc::new), access: status.access() }
    }

    /// Which bits the files that it makes do not get.
    pub(super) fn umask(&self) -> Mode {
        let status = Status::read(self.thread);
        let umask = status.field("Umask").and_then(|text| u32::from_str_radix(text, 8).ok());
        Mode::from_raw_mode(umask.unwrap_or(0o077))
    }

    /// Whether what we do for it is what it could do itself: it is the user that we are.
    pub(super) fn is_this_user(&self) -> bool {
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        self.access == Some(Access { user, group })
    }

    /// A descriptor of the process, as one of ours: the same open file.
    pub(super) fn descriptor(&self, number: i32) -> rustix::io::Result<OwnedFd> {
        let handle = self.handle.as_ref().ok_or(rustix::io::Errno::SRCH)?;
        pidfd_getfd(handle, number, PidfdGetfdFlags::empty())
    }
}

/// Those who asked before, by their threads. Only what holds them is kept: who they are can change at any time,
/// and is asked anew.
#[derive(Debug, Default)]
pub(super) struct Callers(RefCell<HashMap<u32, Rc<OwnedFd>>>);

impl Callers {
    /// The caller behind a thread. `waits` says whether the thread still waits for an answer: only then what
    /// was opened is that thread, and not a later one with its number.
    pub(super) fn of(&self, thread: u32, waits: impl FnOnce() -> bool) -> Caller {
        /// Each is a descriptor.
        const MOST_KNOWN: usize = 64;
        let mut known = self.0.borrow_mut();
        let with = |handle: &Rc<OwnedFd>| {
            // Nothing is said of a thread that is gone.
            let access = Some(handle::access(handle.as_fd())?);
            Some(Caller { thread, handle: Some(Rc::clone(handle)), access })
        };
        if let Some(caller) = known.get(&thread).and_then(with) {
            return caller;
        }
        let opened = handle::open(thread).map(Rc::new);
        let Some(caller) = opened.as_ref().and_then(with) else {
            // An older kernel says it in another way.
            return Caller::of(thread);
        };
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.remove(&thread);
        if let Some(handle) = opened.filter(|_| waits()) {
            known.insert(thread, handle);
        }
        caller
    }
}

/// What the kernel writes about a thread.
struct Status(String);

impl Status {
    fn read(thread: u32) -> Self {
        Self(fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default())
    }

    fn field(&self, name: &str) -> Option<&str> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches(':').trim())
    }

    fn access(&self) -> Option<Access> {
        // Real, effective, saved, and the one that files are accessed with.
        let id = |name: &str| self.field(name)?.split_ascii_whitespace().nth(3)?.parse().ok();
        Some(Access { user: id("Uid")?, group: id("Gid")? })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_ask_the_kernel_say_the_same() {
        let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        let (quick, full) = (Callers::default().of(thread, || true), Caller::of(thread));
        assert_eq!(quick.access, full.access);
        assert!(quick.is_this_user() && full.is_this_user());
        assert_eq!(quick.umask(), full.umask());
        assert!(quick.descriptor(0).is_ok() || full.descriptor(0).is_err());
    }
}
