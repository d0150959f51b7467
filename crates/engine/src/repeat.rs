//! Asking for the same again: the request of a job, as far as its record has it.
//!
//! Values of variables and bytes for standard input may be secrets and are in no record. Those of a job
//! that runs can be read from its process; of one that ended they have to be given again.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::job::{Job, Status};
use crate::request::{
    Attendance, Command, Leaks, Login, Profile, Request, Session, SessionDirectory, Shell, Stdin,
    Streams,
};
use crate::state::Record;
use crate::supervisor::TAG;
use crate::sys::procfs;

/// What a record has besides what lists show, so that the same can be asked for again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Repeat {
    /// The words of a command without a shell, if all are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
    #[serde(skip_serializing_if = "is_usual")]
    login: Login,
    #[serde(skip_serializing_if = "is_usual")]
    profile: Profile,
    #[serde(skip_serializing_if = "is_usual")]
    attendance: Attendance,
    #[serde(skip_serializing_if = "is_usual")]
    leaks: Leaks,
    #[serde(skip_serializing_if = "is_usual")]
    streams: Streams,
    #[serde(skip_serializing_if = "is_usual")]
    session_directory: SessionDirectory,
    #[serde(skip_serializing_if = "is_usual")]
    stdin: KeptStdin,
}

/// What is known of what a command read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptStdin {
    #[default]
    None,
    Open,
    /// Something that is not kept.
    Given,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Repeat {
    pub(crate) fn is_usual(&self) -> bool {
        is_usual(self)
    }

    pub(crate) fn of(request: &Request) -> Self {
        let (words, login) = match &request.command {
            Command::Shell { login, .. } => (None, *login),
            Command::Argv(words) => {
                let texts = words.iter().map(|word| word.to_str().map(str::to_owned));
                (texts.collect(), Login::No)
            }
        };
        Self {
            words,
            login,
            profile: request.profile,
            attendance: request.env.attendance,
            leaks: request.leaks,
            streams: request.streams,
            session_directory: request
                .session
                .as_ref()
                .map_or_else(SessionDirectory::default, |session| session.directory),
            stdin: match request.stdin {
                Stdin::None => KeptStdin::None,
                Stdin::Open => KeptStdin::Open,
                Stdin::Bytes(_) | Stdin::File(_) | Stdin::Inherited => KeptStdin::Given,
            },
        }
    }
}

/// The request of a job, as far as it is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Repeated {
    /// The request. Its environment has no base: that is the one of whoever asks again.
    pub request: Request,
    /// Variables that were set for it and whose values are not known any more.
    pub lost_variables: Vec<String>,
    /// Whether it was given something to read that is not kept.
    pub has_lost_stdin: bool,
}

impl Job {
    /// The request that it was made from, as far as that is kept.
    pub fn repeat(&self) -> Result<Repeated> {
        let status = self.status()?;
        let path = self.directory().file("request");
        let (record, _) = self.directory().record().map_err(Error::file("read", path))?;
        let command = command(self, &record)?;
        let mut request = Request::new(command, &record.cwd);
        let Record { repeat, .. } = record;
        request.limits = record.limits;
        request.name = record.name;
        request.owner = record.owner;
        request.labels = record.labels;
        request.terminal = record.terminal;
        request.group = record.group;
        request.profile = repeat.profile;
        request.leaks = repeat.leaks;
        request.streams = repeat.streams;
        request.env.attendance = repeat.attendance;
        request.session =
            record.session.map(|name| Session { name, directory: repeat.session_directory });
        request.stdin = match repeat.stdin {
            KeptStdin::None | KeptStdin::Given => Stdin::None,
            KeptStdin::Open => Stdin::Open,
        };
        let variables = match status {
            Status::Started { pid, .. } if !record.env.is_empty() => {
                // The tag proves that it is the process of this job.
                let found = split_environment(&procfs::environment(pid));
                let is_own = |(name, value): &(OsString, OsString)| {
                    name == TAG && value == self.id().as_str()
                };
                if found.iter().any(is_own) { found } else { Vec::new() }
            }
            _ => Vec::new(),
        };
        let mut lost_variables = Vec::new();
        for name in record.env {
            let found = variables.iter().find(|(found, _)| found.to_str() == Some(&name));
            match found {
                Some((name, value)) => request.env.set.push((name.clone(), value.clone())),
                None => lost_variables.push(name),
            }
        }
        let has_lost_stdin = repeat.stdin == KeptStdin::Given;
        Ok(Repeated { request, lost_variables, has_lost_stdin })
    }
}

fn command(job: &Job, record: &Record) -> Result<Command> {
    if let Some(name) = &record.shell {
        let (text, login) = (record.command.clone(), record.repeat.login);
        return Ok(Command::Shell { text, shell: Shell::parse(name)?, login });
    }
    match &record.repeat.words {
        Some(words) => Ok(Command::Argv(words.iter().map(OsString::from).collect())),
        None => Err(Error::Refused(format!(
            "job {}: its words are not kept, for not all of them are text",
            job.id()
        ))),
    }
}

/// Variables as the kernel has them: each ended by NUL.
fn split_environment(bytes: &[u8]) -> Vec<(OsString, OsString)> {
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|variable| {
            let at = variable.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (&variable[..at], &variable[at + 1..]);
            Some((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())))
        })
        .collect()
}
