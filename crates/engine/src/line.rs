//! A line to a job's supervisor, for whoever waits for it: readable when the job has written
//! something, closed when it is over.
//!
//! Not a watch on its files: closing one of those makes the kernel wait for all its processors,
//! which takes longer than most commands, and a user may have only so many.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, recv};

use crate::backend::JobWatch;
use crate::clock;
use crate::job::Job;
use crate::sys::watch::Watch;
use crate::wire::{self, Ask};

/// How often one looks when there is no line: its supervisor hangs, or is just ending.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The line. Dead for a job that is over.
#[derive(Debug)]
pub(crate) struct Line {
    socket: Option<OwnedFd>,
}

impl Line {
    /// Calls the supervisor of a job. To be done before the first look at what is waited for:
    /// what happens between the two is then heard.
    pub(crate) fn open(job: &Job) -> Self {
        let socket = job.connect(None).ok().filter(|socket| {
            let mut file = std::fs::File::from(match socket.try_clone() {
                Ok(socket) => socket,
                Err(_) => return false,
            });
            wire::send(&mut file, &Ask::Watch, &[]).is_ok()
        });
        Self { socket }
    }

    /// Sleeps until the job writes or ends, a watched file comes, or the deadline.
    pub(crate) fn sleep(&mut self, deadline: Option<Instant>, also: Option<&Watch>) {
        let again = self.socket.is_none().then(|| Instant::now() + LOOK_AGAIN);
        let timeout = deadline.into_iter().chain(again).min().map(clock::until);
        let mut fds = Vec::with_capacity(2);
        fds.extend(self.socket.as_ref().map(|socket| poll_for(socket.as_fd())));
        fds.extend(also.map(|watch| poll_for(watch.as_fd())));
        let _ = poll(&mut fds, timeout.as_ref());
        if let Some(watch) = also {
            watch.drain();
        }
        self.take_wakeups();
    }

    /// What becomes readable with each wakeup; `None` once nothing more can come over the line.
    #[cfg(feature = "tokio")]
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.socket.as_ref().map(AsFd::as_fd)
    }

    /// Takes the wakeups off the line.
    pub(crate) fn take_wakeups(&mut self) {
        if !self.is_open() {
            self.socket = None;
        }
    }

    /// Empties the line; whether more can come.
    fn is_open(&self) -> bool {
        let Some(socket) = &self.socket else { return false };
        let mut wakeups = [0; 256];
        loop {
            match recv(socket, &mut wakeups[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return false,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return error == rustix::io::Errno::AGAIN,
            }
        }
    }
}

impl JobWatch for Line {
    fn sleep(&mut self, deadline: Option<Instant>) {
        Self::sleep(self, deadline, None);
    }
}

fn poll_for(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}
