//! Appends to the audit: one writer at a time; repairs what a killed writer left behind.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::PoisonError;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::record::{Event, add_line, has_tail, parse, tail_bytes};
use super::{Audit, OpenFiles, WrittenHead};
use crate::digest::Digest;
use crate::error::{Error, Result};
use crate::store::{open_to_overwrite, overwrite, read_open, seal, unseal, unseal_bytes};

/// Most records are shorter.
const USUAL_RECORD_BYTES: usize = 512;
/// No record ends in more than its hash, which is always as long.
const LONGEST_TAIL_BYTES: usize = 128;

/// The signed end of the chain: its last record and its length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: Digest,
    /// How long the newest file was then.
    pub(super) bytes: u64,
    /// The number of the first record in the newest file.
    #[serde(default = "first_of_all", skip_serializing_if = "is_first_of_all")]
    pub(super) first: u64,
    /// Where the chain begins, if its beginning was deleted to keep the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<Start>,
}

/// The first record that is to be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) seq: u64,
    /// The hash of the record before it.
    pub(super) prev: Digest,
}

fn first_of_all() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_first_of_all(first: &u64) -> bool {
    *first == first_of_all()
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the record.
    pub seq: u64,
    /// Its hash: the head of the chain now.
    pub hash: Digest,
    /// Records that were written before it: a repair, or that the chain was broken.
    pub notices: Vec<Event>,
}

/// Where the next record goes.
struct End {
    seq: u64,
    hash: Digest,
    /// Bytes that stay.
    keep: u64,
    /// The number of the first record in the file.
    first: u64,
    start: Option<Start>,
    notices: Vec<Event>,
}

impl Audit {
    /// Records an event.
    pub fn append(&self, event: &Event, now: u64) -> Result<Appended> {
        self.append_all(std::slice::from_ref(event), now)
    }

    /// Records events in their order, all or none. What was written of the last one.
    pub fn append_all(&self, events: &[Event], now: u64) -> Result<Appended> {
        let failed = || Error::file("append to", &self.path);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut file, length) = self.lock_newest(files.newest.take())?;
        let (head, head_bytes) = self.open_head(&mut files)?;
        let mut end = self.end(&mut file, length, head.as_ref()).map_err(|error| match error {
            Failed::Io(error) => failed()(error),
            Failed::Gate(error) => error,
        })?;
        if end.keep < length {
            file.set_len(end.keep).map_err(failed())?;
        }
        let mut bytes = Vec::with_capacity(USUAL_RECORD_BYTES * events.len());
        let first = end.seq + 1;
        for event in end.notices.iter().chain(events) {
            end.hash = add_line(&mut bytes, end.seq + 1, now, &end.hash, event)
                .map_err(|error| failed()(std::io::Error::other(error)))?;
            end.seq += 1;
        }
        // Held until the head is written, as the lock on the file before it.
        let mut rotated = None;
        if self.is_full(&end, bytes.len()) {
            // The record begins a new file; the lock on the old one is held until the end.
            let (newest, start) = self.rotate(end.first, &bytes, end.start.clone())?;
            rotated = Some(newest);
            end = End { keep: 0, first, start, ..end };
        } else if let Err(error) = file.write_all(&bytes) {
            // A full disk must not look like a killed writer.
            let _ = file.set_len(end.keep);
            return Err(failed()(error));
        }
        let head = Head {
            seq: end.seq,
            hash: end.hash.clone(),
            bytes: end.keep + bytes.len() as u64,
            first: end.first,
            start: end.start.clone(),
        };
        self.write_head(&mut files, head, head_bytes)?;
        match (&rotated, &end.start) {
            (Some(_), Some(start)) => self.delete_before(start.seq),
            (Some(_), None) => {}
            (None, _) => files.newest = unlocked(file),
        }
        drop(rotated);
        Ok(Appended { seq: end.seq, hash: end.hash, notices: end.notices })
    }

    /// Whether these bytes would make the newest file longer than a file is to be.
    fn is_full(&self, end: &End, more: usize) -> bool {
        let is_sound = end.notices.is_empty();
        is_sound && end.keep > 0 && end.keep + more as u64 > self.segment_bytes()
    }

    /// The head: `None` if there is none or it is forged.
    pub(super) fn head(&self) -> Result<Option<Head>> {
        match unseal(&self.key, "audit head", &self.head_path()) {
            Err(Error::Tampered { .. }) => Ok(None),
            other => other,
        }
    }

    /// The same, from the file that is held open as long as it is in place, and how long it is if it was read
    /// there. Bytes that are those this process wrote last need not be verified again.
    fn open_head(&self, files: &mut OpenFiles) -> Result<(Option<Head>, Option<usize>)> {
        files.head.take_if(|file| !file.metadata().is_ok_and(|meta| meta.nlink() > 0));
        let written = files.written.take();
        let Some(file) = &files.head else { return Ok((self.head()?, None)) };
        let path = self.head_path();
        let bytes = read_open(file).map_err(Error::file("read", &path))?;
        let length = Some(bytes.len());
        if let Some(written) = written.filter(|written| written.bytes == bytes) {
            return Ok((Some(written.head), length));
        }
        match unseal_bytes(&self.key, "audit head", &path, &bytes) {
            Err(Error::Tampered { .. }) => Ok((None, length)),
            other => Ok((Some(other?), length)),
        }
    }

    /// Writes the head over one of this length, where that is known.
    fn write_head(&self, files: &mut OpenFiles, head: Head, old: Option<usize>) -> Result<()> {
        let path = self.head_path();
        let bytes = seal(&self.key, "audit head", &path, &head)?;
        let file = match files.head.take() {
            Some(file) => file,
            None => open_to_overwrite(&path)?,
        };
        overwrite(&file, &path, &bytes, old)?;
        files.head = Some(file);
        files.written = Some(WrittenHead { head, bytes });
        Ok(())
    }

    fn end(
        &self,
        file: &mut File,
        length: u64,
        head: Option<&Head>,
    ) -> std::result::Result<End, Failed> {
        let start = match head {
            None if length == 0 => return Ok(End::fresh()),
            None => End::fresh(),
            Some(head) if ends_in(file, head, length)? => End {
                seq: head.seq,
                hash: head.hash.clone(),
                keep: head.bytes,
                first: head.first,
                start: head.start.clone(),
                notices: vec![],
            },
            // A writer was killed after it had put the full file away, before it could say so.
            Some(head) if self.is_put_away(head)? => End {
                seq: head.seq,
                hash: head.hash.clone(),
                keep: 0,
                first: head.seq + 1,
                start: head.start.clone(),
                notices: vec![],
            },
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
        Self { seq: 0, hash: Digest::zero(), keep: 0, first: 1, start: None, notices: Vec::new() }
    }
}

/// Lets others write, and keeps the file open.
fn unlocked(file: File) -> Option<File> {
    flock(&file, FlockOperation::Unlock).ok().map(|()| file)
}

/// Whether the record the head names ends where the head says.
pub(super) fn ends_in(file: &File, head: &Head, length: u64) -> std::io::Result<bool> {
    let mut buffer = [0; LONGEST_TAIL_BYTES];
    let tail = tail_bytes(&head.hash);
    let (Some(found), Some(start)) = (buffer.get_mut(..tail), head.bytes.checked_sub(tail as u64))
    else {
        return Ok(false);
    };
    if head.bytes > length {
        return Ok(false);
    }
    file.read_exact_at(found, start)?;
    Ok(has_tail(found, &head.hash).is_some_and(<[u8]>::is_empty))
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
        first: head.first,
        start: head.start.clone(),
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
