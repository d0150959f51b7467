//! The process whose call is held: who it is, and taking a descriptor of it.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::fs::Mode;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// What the kernel says about a thread.
pub(super) struct Caller {
    process: Option<Pid>,
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
        Self {
            process: field("Tgid").and_then(|text| text.parse().ok()).and_then(Pid::from_raw),
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
        let process = self.process.ok_or(rustix::io::Errno::SRCH)?;
        let handle = pidfd_open(process, PidfdFlags::empty())?;
        pidfd_getfd(handle, number, PidfdGetfdFlags::empty())
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
