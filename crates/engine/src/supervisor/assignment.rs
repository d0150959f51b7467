//! The message that makes a supervisor a job's, taken apart.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::sys::process::CStrings;
use crate::wire::{Assign, Frame, StdinKind};

/// What the child needs: strings made before the fork, for after it nothing may allocate.
pub(super) struct Program {
    pub(super) path: CString,
    pub(super) directory: CString,
    pub(super) arguments: CStrings,
    pub(super) environment: CStrings,
}

impl Program {
    /// Its command line, as the kernel shows it.
    pub(super) fn words(&self) -> Vec<u8> {
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
pub(super) fn split(frame: Frame<Assign>) -> io::Result<(Assign, Program, Input)> {
    let Frame { head, mut body } = frame;
    let text = body.len().checked_sub(head.stdin_bytes).ok_or_else(|| broken("stdin"))?;
    let stdin = body.split_off(text);
    let mut strings = body.split(|byte| *byte == 0);
    let mut next = || strings.next().and_then(|bytes| CString::new(bytes).ok());
    let path = next().ok_or_else(|| broken("program"))?;
    let directory = next().ok_or_else(|| broken("directory"))?;
    let mut arguments = Vec::with_capacity(head.arguments);
    for _ in 0..head.arguments {
        arguments.push(next().ok_or_else(|| broken("arguments"))?);
    }
    let mut environment: Vec<CString> = std::iter::from_fn(next).collect();
    // The body ends with a separator, behind which split sees one more, empty string.
    environment.pop();
    let input = match head.stdin {
        StdinKind::None => Input::Nothing,
        StdinKind::Open => Input::Open,
        StdinKind::Bytes => Input::Bytes(stdin),
        StdinKind::File => {
            let path = PathBuf::from(std::ffi::OsString::from_vec(stdin));
            Input::File(File::open(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("stdin: {}: {error}", path.display()))
            })?)
        }
    };
    let program = Program {
        path,
        directory,
        arguments: CStrings::new(arguments),
        environment: CStrings::new(environment),
    };
    Ok((head, program, input))
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the message has no {what}"))
}
