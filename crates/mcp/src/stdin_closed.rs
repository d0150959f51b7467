//! When the other end of standard input is closed, whether or not anybody reads it.

use std::io;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;

/// Told when the writer of standard input is gone. A thread waits for it in the kernel: the reader
/// may be busy elsewhere.
pub(crate) fn of_stdin() -> oneshot::Receiver<()> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        let stdin = io::stdin();
        // Asks for no event, so that only a hang-up or an error is one.
        let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
        while poll(&mut fds, None) == Err(Errno::INTR) {}
        let _ = tell.send(());
    });
    told
}
