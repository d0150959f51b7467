//! Descriptors on which a tokio runtime waits.
#![expect(unsafe_code, reason = "tokio wants a promise about the descriptor it registers")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::unix::AsyncFd;

/// Registers a copy of a descriptor with the runtime of the calling task.
pub(crate) fn register(fd: impl AsFd) -> io::Result<AsyncFd<OwnedFd>> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(io::Error::other("there is no tokio runtime here"));
    }
    let copy = fd.as_fd().try_clone_to_owned()?;
    // SAFETY: an `OwnedFd` is open and the same until it is dropped, and nobody else has this one.
    unsafe { AsyncFd::register(copy) }.map_err(Into::into)
}
