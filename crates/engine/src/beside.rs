//! What else a thread listens to while it waits for a job.

use std::fmt::Debug;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};

use crate::clock;

/// What else a thread listens to while it waits for a job. Most jobs are short: a thread that reads requests and
/// waits for their jobs by itself need not wake another one for each.
pub trait Beside: Debug + Send + Sync {
    /// Where it listens; nowhere any more after [`Beside::ready`].
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// Something came there, or the thread is about to wait where it cannot listen: another one has to take over.
    fn ready(&self);
}

/// Waits until a descriptor can be read, or until the deadline, and listens meanwhile. `false` at the deadline.
pub(crate) fn wait_readable(
    fd: &impl AsFd,
    deadline: Option<Instant>,
    beside: Option<&dyn Beside>,
) -> bool {
    loop {
        let other = beside.and_then(Beside::descriptor);
        let timeout = deadline.map(clock::until);
        let both = [fd.as_fd(), other.unwrap_or(fd.as_fd())];
        let mut fds = both.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let count = if other.is_some() { 2 } else { 1 };
        match poll(&mut fds[..count], timeout.as_ref()) {
            Ok(0) => return false,
            Ok(_) if !fds[0].revents().is_empty() => return true,
            Ok(_) => {
                if let Some(beside) = beside {
                    beside.ready();
                }
            }
            Err(error) if io::Error::from(error).kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
