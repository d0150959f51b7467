//! Whoever talks to a running job: short questions over its socket. A connection that stays open
//! without a question waits for the job's end, which closes it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{RecvFlags, SendFlags, SocketFlags, accept_with, recv, send};

use crate::wire::{self, Answer, Ask, Frame};

/// More than this many are turned away.
const MOST_CONNECTIONS: usize = 256;

/// The open connections.
#[derive(Default)]
pub(super) struct Connections {
    open: Vec<Connection>,
}

struct Connection {
    socket: OwnedFd,
    received: Vec<u8>,
    state: ConnectionState,
}

#[derive(PartialEq, Eq)]
enum ConnectionState {
    /// Somebody with questions.
    Open,
    /// Somebody who wants to hear of output.
    Watching,
    Closed,
}

impl Connections {
    /// Takes everybody who waits at the door.
    pub(super) fn accept(&mut self, listener: &OwnedFd) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        while let Ok(socket) = accept_with(listener, flags) {
            if self.open.len() < MOST_CONNECTIONS {
                self.open.push(Connection {
                    socket,
                    received: Vec::new(),
                    state: ConnectionState::Open,
                });
            }
        }
    }

    pub(super) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        self.open.iter().map(|connection| &connection.socket)
    }

    /// Reads what one sent; returns whole questions. A broken connection is dropped at `sweep`.
    pub(super) fn read(&mut self, number: usize) -> Vec<Frame<Ask>> {
        let Some(connection) = self.open.get_mut(number) else { return Vec::new() };
        let mut questions = Vec::new();
        let open = connection.fill() && connection.take(&mut questions).is_ok();
        if !open {
            connection.close();
        }
        questions
    }

    /// Answers one.
    pub(super) fn answer(&mut self, number: usize, answer: &Answer, body: &[u8]) {
        if let Some(connection) = self.open.get_mut(number) {
            let mut bytes = Vec::new();
            let _ = wire::send(&mut bytes, answer, body);
            // Somebody who does not read answers does not get them.
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            if send(&connection.socket, &bytes, flags) != Ok(bytes.len()) {
                connection.close();
            }
        }
    }

    /// Tells one, from now on, that output grew; and once now, for it may have.
    pub(super) fn watch(&mut self, number: usize) {
        if let Some(connection) = self.open.get_mut(number) {
            connection.state = ConnectionState::Watching;
            connection.nudge();
        }
    }

    /// Tells all who want to hear it that output grew.
    pub(super) fn tell_growth(&self) {
        let watching = |connection: &&Connection| connection.state == ConnectionState::Watching;
        self.open.iter().filter(watching).for_each(Connection::nudge);
    }

    /// Forgets the closed ones. Numbers given out before are void.
    pub(super) fn sweep(&mut self) {
        self.open.retain(|connection| connection.state != ConnectionState::Closed);
    }
}

impl Connection {
    /// Reads all there is. `false` at its end.
    fn fill(&mut self) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match recv(&self.socket, &mut buffer, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return false,
                Ok((count, _)) => self.received.extend_from_slice(&buffer[..count]),
                Err(rustix::io::Errno::AGAIN) => return true,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn take(&mut self, questions: &mut Vec<Frame<Ask>>) -> io::Result<()> {
        while let Some(frame) = wire::take(&mut self.received)? {
            questions.push(frame);
        }
        Ok(())
    }

    /// A byte, to wake it. One who has not read the last ones is awake anyway.
    fn nudge(&self) {
        let _ = send(&self.socket, b".", SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    fn close(&mut self) {
        let _ = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        self.state = ConnectionState::Closed;
    }
}
