//! Locks that belong to an open file, not to a process (`F_OFD_SETLK`).
//!
//! The kernel drops such a lock when the last copy of the descriptor is closed, however its owner
//! dies, and anybody can ask whether it is held without taking it. That is what "alive" means here.
#![expect(unsafe_code, reason = "rustix has no open-file-description locks")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

fn whole_file(kind: i32) -> libc::flock {
    libc::flock {
        l_type: i16::try_from(kind).unwrap_or(i16::MAX),
        l_whence: 0,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

/// Takes the exclusive lock of an open file, or returns `false` at once when somebody has it.
pub(crate) fn try_exclusive(file: impl AsFd) -> io::Result<bool> {
    let lock = whole_file(libc::F_WRLCK);
    // SAFETY: the descriptor is open for the call and `lock` outlives it.
    let result =
        unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EACCES) => Ok(false),
        _ => Err(error),
    }
}

/// Waits for the exclusive lock. Only for sections that end by themselves, and soon.
pub(crate) fn exclusive(file: impl AsFd) -> io::Result<()> {
    let lock = whole_file(libc::F_WRLCK);
    loop {
        // SAFETY: the descriptor is open for the call and `lock` outlives it.
        let result =
            unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_SETLKW, &raw const lock) };
        if result == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Whether some open file description holds the lock; asks without taking it.
pub(crate) fn is_held(file: impl AsFd) -> io::Result<bool> {
    let mut lock = whole_file(libc::F_WRLCK);
    // SAFETY: the descriptor is open for the call and `lock` is a valid place to answer into.
    let result = unsafe { libc::fcntl(file.as_fd().as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if result == 0 {
        Ok(i32::from(lock.l_type) != libc::F_UNLCK)
    } else {
        Err(io::Error::last_os_error())
    }
}
