//! The message that makes a supervisor a job's, taken apart.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::sys::process::CStrings;
use crate::sys::socket;
use crate::wire::{Assign, Frame, StdinKind};

/// As much as may wait to be typed.
const MOST_TYPED: u64 = 16 << 20;

/// What the child needs: strings made before the fork, for after it nothing may allocate.
pub(super) struct Program {
    pub(super) path: CString,
    pub(super) directory: CString,
    pub(super) arguments: CStrings,
    pub(super) environment: CStrings,
}

impl Program {
    /// Sets variables that only the supervisor knows.
    pub(super) fn add_variables<'a>(
        &mut self,
        variables: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) {
        for (name, value) in variables {
            let text = [name.as_bytes(), b"=", value].concat();
            if let Ok(text) = CString::new(text) {
                self.environment.set(name.as_bytes(), &text);
            }
        }
    }

    /// Its command line, as the kernel shows it.
    pub(super) fn words(&self) -> &[u8] {
        self.arguments.joined()
    }
}

/// What it reads.
pub(super) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    File(File),
    Open,
}

/// Separates head and body: `program \0 directory \0 arguments \0… environment \0… stdin`.
pub(super) fn split(
    frame: Frame<Assign>,
    caller: &OwnedFd,
) -> io::Result<(Assign, Program, Input)> {
    let Frame { head, mut body } = frame;
    let text = body.len().checked_sub(head.stdin_bytes).ok_or_else(|| broken("stdin"))?;
    let stdin = body.split_off(text);
    let mut rest = &body[..];
    let path = take_strings(&mut rest, 1).ok_or_else(|| broken("program"))?;
    let directory = take_strings(&mut rest, 1).ok_or_else(|| broken("directory"))?;
    let arguments = take_strings(&mut rest, head.arguments).ok_or_else(|| broken("arguments"))?;
    let program = Program {
        path: CString::from_vec_with_nul(path.to_vec()).map_err(|_| broken("program"))?,
        directory: CString::from_vec_with_nul(directory.to_vec())
            .map_err(|_| broken("directory"))?,
        arguments: CStrings::new(arguments.to_vec()),
        environment: {
            let before = body.len() - rest.len();
            body.drain(..before);
            CStrings::new(body)
        },
    };
    let input = match head.stdin {
        StdinKind::None => Input::Nothing,
        StdinKind::Open => Input::Open,
        StdinKind::Bytes => Input::Bytes(stdin),
        StdinKind::File => {
            let path = PathBuf::from(std::ffi::OsString::from_vec(stdin));
            let failed = |error: io::Error| {
                io::Error::new(error.kind(), format!("stdin: {}: {error}", path.display()))
            };
            let file = File::open(&path).map_err(failed)?;
            match head.terminal {
                // What a terminal reads is typed.
                Some(_) => Input::Bytes(typed(file).map_err(failed)?),
                None => Input::File(file),
            }
        }
        StdinKind::Passed => {
            let passed = socket::receive_fd(caller)?.ok_or_else(|| broken("standard input"))?;
            Input::File(File::from(passed))
        }
    };
    Ok((head, program, input))
}

/// Takes so many strings off the front, each with its NUL. `None` if there are fewer.
fn take_strings<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let length = match count.checked_sub(1) {
        None => 0,
        Some(last) => rest.iter().enumerate().filter(|(_, byte)| **byte == 0).nth(last)?.0 + 1,
    };
    let (taken, left) = rest.split_at(length);
    *rest = left;
    Some(taken)
}

/// What is in a file, as far as somebody could type that much.
fn typed(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST_TYPED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_TYPED {
        let problem = "it is too long to be typed at a terminal (16 MiB)";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    Ok(bytes)
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the message has no {what}"))
}
