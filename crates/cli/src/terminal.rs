//! The caller's own terminal.

use std::io;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// The terminal of standard input in raw mode, for as long as this lives.
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}

/// What was typed; nothing when the terminal is gone.
pub(crate) fn typed(buffer: &mut [u8]) -> &[u8] {
    loop {
        match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(count) => return &buffer[..count],
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return &[],
        }
    }
}
