//! What goes into a command: bytes wait here until its pipe or terminal takes them, so that a
//! command which does not read never blocks its supervisor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use super::assignment::Input as Wanted;
use super::prepared::Pipe;

/// How much input may wait.
const MOST_WAITING: usize = 16 << 20;
/// What a terminal takes for "end of input".
const END_OF_TRANSMISSION: u8 = 4;

/// As much of what was typed last is remembered, for who judges what is typed next.
const MOST_REMEMBERED: usize = 16 << 10;

/// What goes into a command.
#[derive(Default)]
pub(super) struct Input {
    destination: Destination,
    typed: Typed,
}

/// What was typed so far.
#[derive(Default)]
pub(super) struct Typed {
    /// How many bytes.
    pub(super) total: u64,
    /// The last of them.
    pub(super) tail: Vec<u8>,
}

impl Typed {
    fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let new = &bytes[bytes.len().saturating_sub(MOST_REMEMBERED)..];
        let old = self.tail.len().saturating_sub(MOST_REMEMBERED - new.len());
        self.tail.drain(..old);
        self.tail.extend_from_slice(new);
    }
}

/// Where bytes for a command go.
#[derive(Default)]
enum Destination {
    /// It reads nothing, or a file.
    #[default]
    None,
    /// A pipe.
    Pipe { write: OwnedFd, waiting: Vec<u8>, then: Then },
    /// A terminal, which the supervision owns.
    Terminal { waiting: Vec<u8> },
}

/// What follows the bytes that wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    More,
    End,
}

impl Input {
    /// Where its input goes, and what the child has as descriptor 0 if it has no terminal.
    pub(super) fn open(wanted: Wanted, null: &Rc<OwnedFd>) -> std::io::Result<(Self, Rc<OwnedFd>)> {
        let pipe = |bytes: Vec<u8>, then| -> std::io::Result<(Self, Rc<OwnedFd>)> {
            let pipe = Pipe::new()?;
            rustix::io::ioctl_fionbio(&pipe.write, true)?;
            let destination = Destination::Pipe { write: pipe.write, waiting: bytes, then };
            Ok((Self { destination, typed: Typed::default() }, Rc::new(pipe.read)))
        };
        match wanted {
            Wanted::Nothing => Ok((Self::default(), Rc::clone(null))),
            Wanted::File(file) => Ok((Self::default(), Rc::new(file.into()))),
            Wanted::Bytes(bytes) => pipe(bytes, Then::End),
            Wanted::Open => pipe(Vec::new(), Then::More),
        }
    }

    /// The same bytes, typed at a terminal.
    pub(super) fn at_a_terminal(self) -> Self {
        let (mut waiting, then) = match self.destination {
            Destination::Pipe { waiting, then, .. } => (waiting, then),
            Destination::Terminal { waiting } => (waiting, Then::More),
            Destination::None => (Vec::new(), Then::More),
        };
        if then == Then::End {
            waiting.push(END_OF_TRANSMISSION);
        }
        let mut typed = self.typed;
        typed.add(&waiting);
        Self { destination: Destination::Terminal { waiting }, typed }
    }

    /// What was typed so far.
    pub(super) fn typed(&self) -> &Typed {
        &self.typed
    }

    /// Takes more input, if nobody has typed since there were `total` bytes.
    pub(super) fn push_after(&mut self, total: u64, bytes: &[u8]) -> Result<(), String> {
        if self.typed.total != total {
            return Err("somebody else typed at the same time; look at it and type again".into());
        }
        self.push(bytes)
    }

    /// Takes more input.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        let waiting = match &mut self.destination {
            Destination::Pipe { waiting, then: Then::More, .. }
            | Destination::Terminal { waiting } => waiting,
            Destination::Pipe { .. } => return Err("its standard input was closed already".into()),
            Destination::None => {
                return Err("it has no open standard input; start it with a terminal (pty) or \
                            an open one"
                    .into());
            }
        };
        if waiting.len() + bytes.len() > MOST_WAITING {
            let most = MOST_WAITING >> 20;
            return Err(format!("it does not read its input, and {most} MiB wait already"));
        }
        waiting.extend_from_slice(bytes);
        self.typed.add(bytes);
        Ok(())
    }

    /// Says that no more comes.
    pub(super) fn end(&mut self) -> Result<(), String> {
        match &mut self.destination {
            Destination::Pipe { then, .. } => {
                *then = Then::End;
                Ok(())
            }
            Destination::Terminal { .. } => self.push(&[END_OF_TRANSMISSION]),
            Destination::None => self.push(&[]),
        }
    }

    /// The pipe to be polled for room, while bytes wait.
    pub(super) fn wants_room(&self) -> Option<BorrowedFd<'_>> {
        match &self.destination {
            Destination::Pipe { write, waiting, .. } if !waiting.is_empty() => Some(write.as_fd()),
            _ => None,
        }
    }

    /// Whether bytes wait for the terminal.
    pub(super) fn has_keys(&self) -> bool {
        matches!(&self.destination, Destination::Terminal { waiting } if !waiting.is_empty())
    }

    /// Hands over what the pipe takes now; a closed pipe takes nothing any more.
    pub(super) fn pump(&mut self, terminal: Option<&OwnedFd>) {
        match &mut self.destination {
            Destination::Pipe { write, waiting, then } => {
                let alive = hand_over(write, waiting);
                if !alive || (waiting.is_empty() && *then == Then::End) {
                    self.destination = Destination::None;
                }
            }
            Destination::Terminal { waiting } => {
                if let Some(terminal) = terminal {
                    hand_over(terminal, waiting);
                }
            }
            Destination::None => {}
        }
    }
}

/// Writes what fits. `false` if nobody can read it any more.
fn hand_over(to: &OwnedFd, waiting: &mut Vec<u8>) -> bool {
    while !waiting.is_empty() {
        match rustix::io::write(to, waiting) {
            Ok(count) => drop(waiting.drain(..count)),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return true,
            Err(_) => {
                waiting.clear();
                return false;
            }
        }
    }
    true
}
