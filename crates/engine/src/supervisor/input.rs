//! What goes into a command: bytes wait here until its pipe or terminal takes them, so that a
//! command which does not read never blocks its supervisor.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::assignment::Input as Wanted;
use super::berth::Pipe;

/// How much input may wait.
const MOST_WAITING: usize = 16 << 20;
/// What a terminal takes for "end of input".
const END_OF_TRANSMISSION: u8 = 4;

/// The way into a command.
pub(super) enum Input {
    /// It reads nothing, or a file.
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
    /// The way in, and what the child has as descriptor 0 if it has no terminal.
    pub(super) fn open(wanted: Wanted, null: BorrowedFd<'_>) -> std::io::Result<(Self, OwnedFd)> {
        let pipe = |bytes: Vec<u8>, then| -> std::io::Result<(Self, OwnedFd)> {
            let pipe = Pipe::new()?;
            rustix::io::ioctl_fionbio(&pipe.write, true)?;
            Ok((Self::Pipe { write: pipe.write, waiting: bytes, then }, pipe.read))
        };
        match wanted {
            Wanted::Nothing => Ok((Self::None, null.try_clone_to_owned()?)),
            Wanted::File(file) => Ok((Self::None, file.into())),
            Wanted::Bytes(bytes) => pipe(bytes, Then::End),
            Wanted::Open => pipe(Vec::new(), Then::More),
        }
    }

    /// The same bytes, typed at a terminal.
    pub(super) fn typed(self) -> Self {
        let (mut typed, then) = match self {
            Self::Pipe { waiting, then, .. } => (waiting, then),
            Self::Terminal { waiting } => (waiting, Then::More),
            Self::None => (Vec::new(), Then::More),
        };
        if then == Then::End {
            typed.push(END_OF_TRANSMISSION);
        }
        Self::Terminal { waiting: typed }
    }

    /// Takes more input.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        let waiting = match self {
            Self::Pipe { waiting, then: Then::More, .. } | Self::Terminal { waiting } => waiting,
            Self::Pipe { .. } => return Err("its standard input was closed already".into()),
            Self::None => {
                return Err("it has no open standard input; start it with a terminal (--pty) or \
                            an open one"
                    .into());
            }
        };
        if waiting.len() + bytes.len() > MOST_WAITING {
            let most = MOST_WAITING >> 20;
            return Err(format!("it does not read its input, and {most} MiB wait already"));
        }
        waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// Says that no more comes.
    pub(super) fn end(&mut self) -> Result<(), String> {
        match self {
            Self::Pipe { then, .. } => {
                *then = Then::End;
                Ok(())
            }
            Self::Terminal { .. } => self.push(&[END_OF_TRANSMISSION]),
            Self::None => self.push(&[]),
        }
    }

    /// The pipe to be polled for room, while bytes wait.
    pub(super) fn wants_room(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Pipe { write, waiting, .. } if !waiting.is_empty() => Some(write.as_fd()),
            _ => None,
        }
    }

    /// Whether bytes wait for the terminal.
    pub(super) fn has_keys(&self) -> bool {
        matches!(self, Self::Terminal { waiting } if !waiting.is_empty())
    }

    /// Hands over what the pipe takes now; a closed pipe takes nothing any more.
    pub(super) fn pump(&mut self, terminal: Option<&OwnedFd>) {
        match self {
            Self::Pipe { write, waiting, then } => {
                let alive = hand_over(write, waiting);
                if !alive || (waiting.is_empty() && *then == Then::End) {
                    *self = Self::None;
                }
            }
            Self::Terminal { waiting } => {
                if let Some(terminal) = terminal {
                    hand_over(terminal, waiting);
                }
            }
            Self::None => {}
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
