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
