//! Lines to the client. Nobody who sends one waits for a client that does not read: what finds no room is
//! written by a thread that ends when all of it is.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use tokio::sync::oneshot;

/// The way to the client.
pub(crate) struct Output {
    fd: OwnedFd,
    room: Room,
    state: Mutex<State>,
}

/// How to write no more than there is room for.
enum Room {
    /// A pipe is opened once more: whoever shares the other opening does not wait less for that.
    Pipe(OwnedFd),
    Socket,
    /// A file or a terminal has room.
    Other,
}

#[derive(Default)]
struct State {
    /// What found no room, in order, and who wants to know when it is written.
    waiting: VecDeque<(Vec<u8>, Option<oneshot::Sender<()>>)>,
    /// Whether a thread writes it.
    is_writing: bool,
    is_closed: bool,
}

impl Output {
    pub(crate) fn new(fd: OwnedFd) -> Arc<Self> {
        let room = Room::of(&fd);
        Arc::new(Self { fd, room, state: Mutex::default() })
    }

    /// Sends a line. It may be on its way yet when this returns, but none that is sent later comes before it.
    pub(crate) fn send(self: &Arc<Self>, line: Vec<u8>) -> io::Result<()> {
        self.pass(line, None)
    }

    /// Sends a line, and returns when it is written.
    pub(crate) async fn send_whole(self: &Arc<Self>, line: Vec<u8>) -> io::Result<()> {
        let (tell, told) = oneshot::channel();
        self.pass(line, Some(tell))?;
        told.await.map_err(|_| closed())
    }

    /// Nothing more is sent.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
    }

    fn pass(
        self: &Arc<Self>,
        mut line: Vec<u8>,
        written: Option<oneshot::Sender<()>>,
    ) -> io::Result<()> {
        let mut state = self.state();
        if state.is_closed {
            return Err(closed());
        }
        if !state.is_writing {
            let taken = self.write_now(&line)?;
            if taken == line.len() {
                drop(state);
                if let Some(written) = written {
                    let _ = written.send(());
                }
                return Ok(());
            }
            line.drain(..taken);
            let output = Arc::clone(self);
            thread::Builder::new().spawn(move || output.write_waiting())?;
            state.is_writing = true;
        }
        state.waiting.push_back((line, written));
        Ok(())
    }

    /// Writes what waits.
    fn write_waiting(&self) {
        loop {
            let mut state = self.state();
            let Some((line, written)) = state.waiting.pop_front() else {
                state.is_writing = false;
                return;
            };
            drop(state);
            if self.write_all(&line).is_err() {
                let mut state = self.state();
                state.is_closed = true;
                state.waiting.clear();
                continue;
            }
            if let Some(written) = written {
                let _ = written.send(());
            }
        }
    }

    /// Writes as much as there is room for; how much that was.
    fn write_now(&self, line: &[u8]) -> io::Result<usize> {
        let mut taken = 0;
        while taken < line.len() {
            let rest = &line[taken..];
            let written = match &self.room {
                Room::Pipe(pipe) => rustix::io::write(pipe, rest),
                Room::Socket => send(&self.fd, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL),
                Room::Other => rustix::io::write(&self.fd, rest),
            };
            match written {
                Ok(count) => taken += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(taken)
    }

    /// Waits for room.
    fn write_all(&self, mut line: &[u8]) -> io::Result<()> {
        while !line.is_empty() {
            match rustix::io::write(&self.fd, line) {
                Ok(count) => line = &line[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    poll(&mut [PollFd::new(&self.fd, PollFlags::OUT)], None)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    fn of(fd: &OwnedFd) -> Self {
        match fstat(fd).map(|meta| FileType::from_raw_mode(meta.st_mode)) {
            Ok(FileType::Socket) => Self::Socket,
            Ok(FileType::Fifo) => {
                let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
                open(path, flags, Mode::empty()).map_or(Self::Other, Self::Pipe)
            }
            _ => Self::Other,
        }
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the transport is closed")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Two ends of a pipe, and of a socket.
    fn ends() -> Vec<(OwnedFd, OwnedFd)> {
        let (one, other) = UnixStream::pair().unwrap();
        vec![rustix::pipe::pipe().unwrap(), (one.into(), other.into())]
    }

    #[test]
    fn nobody_waits_for_a_client_that_does_not_read_and_it_reads_all_of_it_in_order_later() {
        for (read, write) in ends() {
            let output = Output::new(write);
            let mut sent = Vec::new();
            for number in 0..40_u8 {
                let line =
                    [&vec![b'a' + number % 26; usize::from(number) * 1000][..], b"\n"].concat();
                sent.extend_from_slice(&line);
                output.send(line).unwrap();
            }
            let mut received = vec![0; sent.len()];
            File::from(read).read_exact(&mut received).unwrap();
            assert!(received == sent);
        }
    }

    #[test]
    fn a_client_that_is_gone_is_an_error_and_so_is_one_that_hears_no_more() {
        for (read, write) in ends() {
            let output = Output::new(write);
            drop(read);
            assert!(output.send(b"x\n".to_vec()).is_err());
        }
        let (_read, write) = rustix::pipe::pipe().unwrap();
        let output = Output::new(write);
        output.close();
        assert!(output.send(b"x\n".to_vec()).is_err());
    }

    #[tokio::test]
    async fn a_line_that_is_whole_was_taken() {
        for (read, write) in ends() {
            let output = Output::new(write);
            let large = vec![b'x'; 1 << 20];
            let reader = thread::spawn(move || {
                let mut received = vec![0; (1 << 20) + 2];
                File::from(read).read_exact(&mut received).unwrap();
                received
            });
            output.send_whole(large).await.unwrap();
            output.send_whole(b"y\n".to_vec()).await.unwrap();
            assert_eq!(reader.join().unwrap()[1 << 20..], *b"y\n");
        }
    }
}
