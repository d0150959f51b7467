//! Pseudo-terminals, opened close-on-exec from the start so that no neighbour inherits one.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::request::Size;

/// Both ends of a new terminal.
pub(crate) struct Pty {
    /// The end the supervisor reads and writes.
    pub(crate) controller: OwnedFd,
    /// The end the command has as its terminal.
    pub(crate) terminal: OwnedFd,
}

/// Opens a terminal of a given size.
pub(crate) fn open(size: Size) -> io::Result<Pty> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let controller = openpt(flags)?;
    grantpt(&controller)?;
    complete(controller, size)
}

/// The other end of a terminal whose controlling end is open.
pub(crate) fn complete(controller: OwnedFd, size: Size) -> io::Result<Pty> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    unlockpt(&controller)?;
    // By descriptor, not by name: works in any mount namespace and is closed on exec from birth.
    let terminal = ioctl_tiocgptpeer(&controller, flags)?;
    resize(&controller, size)?;
    Ok(Pty { controller, terminal })
}

/// Tells the terminal, and through it the programs in it, its new size.
pub(crate) fn resize(controller: impl AsFd, size: Size) -> io::Result<()> {
    let window = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(controller, window)?)
}
