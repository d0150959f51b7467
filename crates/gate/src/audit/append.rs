//! Writing to the audit: one writer at a time, and whatever the one before left behind.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::Audit;
use super::record::{Event, line, parse, tail};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::store::{make_directory, overwrite, seal, unseal};

/// The signed last word on how long the chain is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Digest,
    pub(super) bytes: u64,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the record.
    pub seq: u64,
    /// Its hash: the head of the chain now.
    pub hash: Digest,
    /// What had to be said before it: a repair, or that the chain was broken.
    pub notices: Vec<Event>,
}

/// Where the next record goes.
struct End {
    seq: u64,
    hash: Digest,
    /// Bytes that stay.
    keep: u64,
    notices: Vec<Event>,
}

impl Audit {
    /// Records an event.
    pub fn append(&self, event: &Event, now: u64) -> Result<Appended> {
        let failed = || Error::file("append to", &self.path);
        if let Some(directory) = self.path.parent() {
            make_directory(directory)?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)
            .map_err(failed())?;
        flock(&file, FlockOperation::LockExclusive).map_err(|error| failed()(error.into()))?;
        let length = file.metadata().map_err(failed())?.len();
        let mut end = self.end(&mut file, length).map_err(|error| match error {
            Failed::Io(error) => failed()(error),
            Failed::Gate(error) => error,
        })?;
        if end.keep < length {
            file.set_len(end.keep).map_err(failed())?;
        }
        let mut bytes = Vec::new();
        for event in end.notices.iter().chain([event]) {
            let (line, hash) = line(end.seq + 1, now, &end.hash, event)
                .map_err(|error| failed()(std::io::Error::other(error)))?;
            bytes.extend_from_slice(&line);
            end.seq += 1;
            end.hash = hash;
        }
        if let Err(error) = file.write_all(&bytes) {
            // A full disk must not look like a killed writer.
            let _ = file.set_len(end.keep);
            return Err(failed()(error));
        }
        let head =
            Head { seq: end.seq, hash: end.hash.clone(), bytes: end.keep + bytes.len() as u64 };
        let path = self.head_path();
        overwrite(&path, &seal(&self.key, "audit head", &path, &head)?)?;
        Ok(Appended { seq: end.seq, hash: end.hash, notices: end.notices })
    }

    /// The head: `None` if there is none or it is forged.
    pub(super) fn head(&self) -> Result<Option<Head>> {
        match unseal(&self.key, "audit head", &self.head_path()) {
            Err(Error::Tampered { .. }) => Ok(None),
            other => other,
        }
    }

    fn end(&self, file: &mut File, length: u64) -> std::result::Result<End, Failed> {
        let head = self.head()?;
        let start = match &head {
            None if length == 0 => return Ok(End::fresh()),
            None => End::fresh(),
            Some(head) if ends_in(file, head, length)? => {
                End { seq: head.seq, hash: head.hash.clone(), keep: head.bytes, notices: vec![] }
            }
            Some(head) => return broken(file, head, length),
        };
        let mut end = forward(file, start, length)?;
        if head.is_none() {
            end.notices.push(Event::NoHead { found: end.seq });
        }
        Ok(end)
    }
}

impl End {
    fn fresh() -> Self {
        Self { seq: 0, hash: Digest::zero(), keep: 0, notices: Vec::new() }
    }
}

/// Whether the record the head names ends where the head says.
fn ends_in(file: &File, head: &Head, length: u64) -> std::io::Result<bool> {
    let tail = tail(&head.hash);
    let Some(start) = head.bytes.checked_sub(tail.len() as u64) else { return Ok(false) };
    if head.bytes > length {
        return Ok(false);
    }
    let mut found = vec![0; tail.len()];
    file.read_exact_at(&mut found, start)?;
    Ok(found == tail.as_bytes())
}

/// Goes over what writers left that were killed before they could move the head: whole records count,
/// the part of one is taken away.
fn forward(file: &mut File, mut end: End, length: u64) -> std::io::Result<End> {
    if end.keep == length {
        return Ok(end);
    }
    let mut rest = Vec::new();
    file.seek(SeekFrom::Start(end.keep))?;
    file.read_to_end(&mut rest)?;
    for line in rest.split_inclusive(|byte| *byte == b'\n') {
        match parse(line) {
            Ok(record) if record.prev == end.hash && record.seq == end.seq + 1 => {
                end = End { seq: record.seq, hash: record.hash, ..end };
            }
            _ if !line.ends_with(b"\n") => {
                let dropped = Digest::of(line);
                end.notices.push(Event::Repaired { bytes: line.len() as u64, dropped });
                return Ok(end);
            }
            // Not ours to take away: it stays where it is, for `verify` to show.
            _ => end.notices = vec![Event::Gap { expected: end.seq + 1, found: end.seq }],
        }
        end.keep += line.len() as u64;
    }
    Ok(end)
}

/// The records the head vouches for are not there: the chain goes on from the head, so that the place
/// stays visible for ever.
fn broken(file: &mut File, head: &Head, length: u64) -> std::result::Result<End, Failed> {
    let found = forward(file, End::fresh(), length)?.seq;
    if length > 0 {
        let mut last = [0];
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(End {
        seq: head.seq,
        hash: head.hash.clone(),
        keep: file.metadata()?.len(),
        notices: vec![Event::Gap { expected: head.seq, found: found.min(head.seq) }],
    })
}

enum Failed {
    Io(std::io::Error),
    Gate(Error),
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Gate(error)
    }
}
