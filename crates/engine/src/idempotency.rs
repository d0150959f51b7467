//! Idempotency keys: the same key is the same job. A key is a symbolic link that names its job; there
//! can be one only, whoever else makes it at the same moment.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hash::Fnv;
use crate::id::JobId;
use crate::job::Job;
use crate::request::{Command, Request};

/// Whose job a request is.
pub(crate) enum Claim {
    /// No key.
    None,
    /// A key, and this is to be its job.
    Mine(Job),
    /// A key that has its job.
    Taken(Job),
}

impl Engine {
    /// The job that was started with an idempotency key, if one was.
    pub fn job_by_key(&self, key: &str) -> Result<Option<Job>> {
        let link = self.state().keys().join(key_file(key)?);
        let job = fs::read_link(link).ok().and_then(|target| target.to_str()?.parse().ok());
        Ok(job.map(|job| Job::new(self.clone(), job)).filter(|job| job.directory().exists()))
    }

    /// Makes sure that a key starts one job only, whoever else uses it at the same moment.
    pub(crate) fn claim(&self, request: &Request) -> Result<Claim> {
        let Some(key) = &request.idempotency_key else { return Ok(Claim::None) };
        let fresh = JobId::generate();
        let link = self.state().keys().join(key_file(key)?);
        let job = match symlink(fresh.as_str(), &link) {
            Ok(()) => fresh,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_link(&link)
                .ok()
                .and_then(|target| target.to_str()?.parse().ok())
                .ok_or_else(|| {
                    Error::invalid("idempotency_key", format!("{} is damaged", link.display()))
                })?,
            Err(source) => return Err(Error::State { path: link, source }),
        };
        let job = Job::new(self.clone(), job);
        match job.directory().record() {
            Ok((record, _)) if record.fingerprint == Some(fingerprint(request)) => {
                Ok(Claim::Taken(job))
            }
            Ok(_) => Err(Error::KeyReused { key: key.clone(), job: job.id().to_string() }),
            // Named but never started: its caller died in between. It starts now, under its name.
            Err(_) => Ok(Claim::Mine(job)),
        }
    }
}

/// The name of a key's file: unique for each key, and safe in any directory.
fn key_file(key: &str) -> Result<String> {
    if key.is_empty() || key.len() > 120 {
        let problem = format!("it has {} bytes; use 1 to 120", key.len());
        return Err(Error::invalid("idempotency_key", problem));
    }
    Ok(key.bytes().flat_map(|byte| [hex(byte >> 4), hex(byte & 15)]).collect())
}

fn hex(digit: u8) -> char {
    char::from_digit(digit.into(), 16).unwrap_or('0')
}

/// What makes two requests the same for an idempotency key.
pub(crate) fn fingerprint(request: &Request) -> String {
    let mut hash = Fnv::new();
    let mut add = |bytes: &[u8]| {
        hash.add(bytes);
        hash.add(&[0]);
    };
    match &request.command {
        Command::Shell { text, shell, .. } => {
            add(shell.name().as_bytes());
            add(text.as_bytes());
        }
        Command::Argv(words) => words.iter().for_each(|word| add(word.as_bytes())),
    }
    add(request.cwd.as_os_str().as_bytes());
    for (name, value) in &request.env.set {
        add(name.as_bytes());
        add(value.as_bytes());
    }
    hash.hex()
}
