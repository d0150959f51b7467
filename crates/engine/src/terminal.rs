//! A program in the foreground of a shell that stands in the place of a job: what its terminal signals
//! is meant for the job.

use std::io;
use std::os::fd::OwnedFd;

use crate::sys;

/// A key that a terminal makes a signal of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TerminalKey {
    /// ctrl-z: back to the shell, and `fg` goes on.
    Suspend,
    /// ctrl-\: the strong ctrl-c.
    Quit,
}

/// The keys of this process's terminal, for a program that passes them on. One in a process.
#[derive(Debug)]
pub struct TerminalKeys {
    heard: OwnedFd,
}

/// While it lives, ctrl-c, ctrl-z, ctrl-\, a hangup and a request to end wait, in the thread that made it: for
/// a moment, after which somebody listens or nobody needs to. What came meanwhile comes when it is dropped, in
/// that same thread.
pub struct HeldKeys(sys::terminal::SignalMask);

impl HeldKeys {
    /// From now on.
    pub fn hold() -> Self {
        Self(sys::terminal::hold())
    }

    /// No longer, and what came meanwhile is forgotten: it was meant for something that is over.
    pub fn forget(self) {
        sys::terminal::forget_held();
    }
}

impl Drop for HeldKeys {
    fn drop(&mut self) {
        sys::terminal::release(&self.0);
    }
}

impl std::fmt::Debug for HeldKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeldKeys").finish_non_exhaustive()
    }
}

impl TerminalKeys {
    /// Hears ctrl-z and ctrl-\ from now on, instead of obeying them.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { heard: sys::terminal::listen()? })
    }

    /// Waits for the next one.
    pub fn wait(&self) -> io::Result<TerminalKey> {
        let mut byte = [0];
        loop {
            match rustix::io::read(&self.heard, &mut byte) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) if i32::from(byte[0]) == libc::SIGTSTP => return Ok(TerminalKey::Suspend),
                Ok(_) => return Ok(TerminalKey::Quit),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Stops this process as ctrl-z does, and returns when the shell lets it go on; at once where no
    /// shell could.
    pub fn suspend(&self) -> io::Result<()> {
        sys::terminal::suspend()
    }
}
