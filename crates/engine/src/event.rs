//! What happened, in order, for ever: one journal for all jobs of a state directory.
//!
//! The journal is a file of slots of 128 bytes, each one line of JSON padded with spaces; the
//! number of an event is the number of its slot. Writers append with one `write(2)` and take no
//! lock, so a writer that hangs blocks nobody; a slot never crosses a block of the file system, so
//! a full disk refuses it whole. Old slots are punched out as a hole, which keeps the numbers and
//! lets a reader that comes late count exactly what it missed.

use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::decimal;
use crate::files;
use crate::id::JobId;
use crate::sys::lock;

const SLOT: usize = 128;
/// How many slots are read at once when one looks back.
const PAGE_SLOTS: usize = 512;
/// The first slot says what the file is, so that events are numbered from 1.
const HEADER: &[u8] = br#"{"umbo":"events","v":1}"#;

/// Something that happened to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its number. Later events have higher numbers.
    #[serde(default)]
    pub seq: u64,
    /// When, in microseconds since 1970.
    pub at: u64,
    /// To which job.
    pub job: JobId,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

impl Event {
    /// When it happened.
    pub fn time(&self) -> SystemTime {
        clock::time(self.at)
    }
}

/// What can happen to a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// It exists on disk.
    Created,
    /// Its command runs.
    Started,
    /// It has written up to this offset.
    Output {
        /// The offset.
        offset: u64,
    },
    /// Something was typed into it. Not what: it may have been a password.
    Input {
        /// How many bytes.
        bytes: u64,
        /// Whether it was also told that no more comes.
        end: bool,
    },
    /// The disk is full: the job waits until there is room.
    Stalled,
    /// Descendants outlived its command.
    Leaked {
        /// How many.
        count: usize,
    },
    /// It is over.
    Exited {
        /// The state it ended in.
        state: String,
        /// The exit code, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i32>,
    },
    /// Its files were deleted.
    Removed,
}

impl EventKind {
    /// The kind's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Started => "started",
            Self::Output { .. } => "output",
            Self::Input { .. } => "input",
            Self::Stalled => "stalled",
            Self::Leaked { .. } => "leaked",
            Self::Exited { .. } => "exited",
            Self::Removed => "removed",
        }
    }
}

/// What a reader of the journal gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Item {
    /// An event.
    Event(Event),
    /// Events that are no longer kept, or that a damaged journal lost.
    Gap {
        /// Always "gap".
        kind: GapKind,
        /// The number of the last of them.
        seq: u64,
        /// How many.
        missed: u64,
    },
}

/// The word "gap", for readers of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GapKind {
    /// Events are missing here.
    Gap,
}

impl Item {
    /// The cursor after this item.
    pub fn seq(&self) -> u64 {
        match self {
            Self::Event(event) => event.seq,
            Self::Gap { seq, .. } => *seq,
        }
    }
}

/// The journal of a state directory.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// How many events were appended here since the journal was last trimmed.
    appended: Cell<u64>,
}

/// Events beyond this many are let go.
pub(crate) const EVENTS_KEPT: u64 = 200_000;
/// One who appends this many events trims the journal: a job may run for months.
const TRIM_AFTER: u64 = 4096;
/// The beginning of the name of what is no journal, put aside.
const PUT_ASIDE: &str = "foreign";

/// Opens the file. What is there and is no file of this user is put aside, where it can be looked at.
fn open_own(path: &Path) -> io::Result<File> {
    let open = || files::open_with(OpenOptions::new().read(true).append(true).create(true), path);
    open().or_else(|error| {
        let is_foreign =
            error.kind() == io::ErrorKind::InvalidData || error.raw_os_error() == Some(libc::ELOOP);
        if !is_foreign {
            return Err(error);
        }
        let aside = path.with_extension(format!("{PUT_ASIDE}-{}", JobId::generate()));
        std::fs::rename(path, aside)?;
        open()
    })
}

impl Journal {
    /// Opens the journal, making it or mending its tail where needed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let journal = Self { path: path.to_owned(), file: open_own(path)?, appended: Cell::new(0) };
        if journal.needs_mending()? {
            lock::exclusive(&journal.file)?;
            // The lock goes with the file; a fresh description is used from here on.
            journal.mend()?;
            return Ok(Self { file: open_own(path)?, ..journal });
        }
        Ok(journal)
    }

    /// Opens the journal for somebody who only reads: where it cannot be written it is read as it is.
    pub(crate) fn open_to_read(path: &Path) -> io::Result<Self> {
        Self::open(path).or_else(|error| match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                let file = files::open(path)?;
                Ok(Self { path: path.to_owned(), file, appended: Cell::new(0) })
            }
            _ => Err(error),
        })
    }

    /// Whether the file is still there and was not deleted since it was opened.
    pub(crate) fn is_in_place(&self) -> bool {
        self.file.metadata().is_ok_and(|meta| meta.nlink() > 0)
    }

    /// Whether it is there still, and has whole events only.
    pub(crate) fn is_whole_and_in_place(&self) -> bool {
        let is_whole = |length: u64| length > 0 && length.is_multiple_of(SLOT as u64);
        self.file.metadata().is_ok_and(|meta| meta.nlink() > 0 && is_whole(meta.len()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn needs_mending(&self) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        Ok(length == 0 || !length.is_multiple_of(SLOT as u64))
    }

    /// Fills a torn slot up, so that the next one begins where slots begin. It reads as a gap.
    fn mend(&self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        let torn = usize::try_from(length % SLOT as u64).unwrap_or(0);
        if length == 0 {
            rustix::io::write(&self.file, &slot(HEADER))?;
        } else if torn != 0 {
            rustix::io::write(&self.file, &[b'\n'; SLOT][torn..])?;
        }
        Ok(())
    }

    /// Appends events of a job that happened now.
    pub(crate) fn append(&self, job: &JobId, kinds: &[EventKind]) -> io::Result<()> {
        self.append_all(kinds.iter().map(|kind| (job, kind)))
    }

    /// Appends events that happened now, to whichever job.
    pub(crate) fn append_all<'a>(
        &self,
        events: impl Iterator<Item = (&'a JobId, &'a EventKind)>,
    ) -> io::Result<()> {
        let at = clock::now_us();
        let mut slots = Vec::with_capacity(events.size_hint().0 * SLOT);
        for (job, kind) in events {
            slots.extend_from_slice(&slot(&line(at, job, kind)?));
        }
        // A full disk may take the first slots and refuse the rest.
        match rustix::io::write(&self.file, &slots)? {
            written if written == slots.len() => {
                let appended = self.appended.get() + (slots.len() / SLOT) as u64;
                self.appended.set(appended % TRIM_AFTER);
                if appended >= TRIM_AFTER {
                    let _ = self.trim(EVENTS_KEPT);
                }
                Ok(())
            }
            _ => Err(rustix::io::Errno::NOSPC.into()),
        }
    }

    /// Appends an event that happened now; its number.
    pub(crate) fn append_numbered(&self, job: &JobId, kind: EventKind) -> io::Result<u64> {
        self.append(job, &[kind])?;
        // Appending leaves the descriptor, which nobody else writes through, behind its own bytes.
        let end = seek(&self.file, SeekFrom::Current(0))?;
        Ok((end / SLOT as u64).saturating_sub(1))
    }

    /// The number of the newest event.
    pub(crate) fn newest(&self) -> io::Result<u64> {
        Ok((self.file.metadata()?.len() / SLOT as u64).saturating_sub(1))
    }

    /// Up to `most` items after the event `after`.
    pub(crate) fn read(&self, after: u64, most: usize) -> io::Result<Vec<Item>> {
        let newest = self.newest()?;
        let mut items = Vec::new();
        let mut next = after.min(newest).saturating_add(1);
        let mut buffer = vec![0; 64 * SLOT];
        let mut missed = 0;
        while next <= newest && items.len() < most {
            let skipped = self.skip_hole(next, newest)?;
            missed += skipped;
            next += skipped;
            let left = usize::try_from((newest + 1).saturating_sub(next)).unwrap_or(64).min(64);
            let count = self.file.read_at(&mut buffer[..left * SLOT], next * SLOT as u64)?;
            for bytes in buffer[..count].chunks_exact(SLOT) {
                if items.len() >= most {
                    break;
                }
                match parse(bytes, next) {
                    Some(event) => {
                        push_gap(&mut items, &mut missed, next - 1);
                        items.push(Item::Event(event));
                    }
                    None => missed += 1,
                }
                next += 1;
            }
            if count < SLOT {
                break;
            }
        }
        push_gap(&mut items, &mut missed, next - 1);
        Ok(items)
    }

    /// How many slots from `next` on lie in a hole.
    fn skip_hole(&self, next: u64, newest: u64) -> io::Result<u64> {
        let offset = next * SLOT as u64;
        // A descriptor of its own: seeking must not disturb other readers of this one.
        let file = files::open(&self.path)?;
        match seek(&file, SeekFrom::Data(offset)) {
            Ok(data) => Ok((data - offset) / SLOT as u64),
            Err(rustix::io::Errno::NXIO) => Ok((newest + 1).saturating_sub(next)),
            Err(_) => Ok(0),
        }
    }

    /// Whether the journal has the job's end, looking back from its own.
    pub(crate) fn has_exited(&self, job: &JobId) -> io::Result<bool> {
        let mut has_exited = false;
        self.look_back(u64::MAX, job.as_str(), |event| match &event.kind {
            EventKind::Exited { .. } if event.job == *job => {
                has_exited = true;
                ControlFlow::Break(())
            }
            EventKind::Created if event.job == *job => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })?;
        Ok(has_exited)
    }

    /// Whether the journal has anything about a job.
    pub(crate) fn mentions(&self, job: &JobId) -> bool {
        let mut is_mentioned = false;
        let found = self.look_back(u64::MAX, job.as_str(), |event| {
            is_mentioned |= event.job == *job;
            if is_mentioned { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        found.is_ok() && is_mentioned
    }

    /// Whether it has no event from before a time, and never had, or no longer.
    pub(crate) fn is_younger_than(&self, at: u64) -> bool {
        let Ok(newest) = self.newest() else { return true };
        let first = 1 + self.skip_hole(1, newest).unwrap_or(0);
        let mut bytes = [0; SLOT];
        let read = self.file.read_exact_at(&mut bytes, first * SLOT as u64);
        read.ok().and_then(|()| parse(&bytes, first)).is_none_or(|event| event.at > at)
    }

    /// Reads at most `most` events backwards from the end, and gives those that have a word in their
    /// text to `each` until it has enough.
    pub(crate) fn look_back(
        &self,
        most: u64,
        word: &str,
        mut each: impl FnMut(Event) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let finder = memchr::memmem::Finder::new(word);
        let mut end = self.newest()? + 1;
        let first = end.saturating_sub(most).max(1);
        let most = usize::try_from(end - first).unwrap_or(PAGE_SLOTS).min(PAGE_SLOTS);
        let mut buffer = vec![0; most * SLOT];
        while end > first {
            let begin = end.saturating_sub(PAGE_SLOTS as u64).max(first);
            let wanted = usize::try_from(end - begin).unwrap_or(PAGE_SLOTS) * SLOT;
            let count = self.file.read_at(&mut buffer[..wanted], begin * SLOT as u64)?;
            // Before the first of those that are kept there is nothing but a hole.
            if count == wanted && buffer[..count].iter().all(|byte| *byte == 0) {
                return Ok(());
            }
            for (place, bytes) in buffer[..count].chunks_exact(SLOT).enumerate().rev() {
                if finder.find(bytes).is_some()
                    && let Some(event) = parse(bytes, begin + place as u64)
                    && each(event).is_break()
                {
                    return Ok(());
                }
            }
            end = begin;
        }
        Ok(())
    }

    /// Gives back the disk space of all but the newest `keep` events.
    pub(crate) fn trim(&self, keep: u64) -> io::Result<()> {
        let newest = self.newest()?;
        if newest > keep {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let slot = SLOT as u64;
            fallocate(&self.file, flags, slot, (newest - keep) * slot)?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Stored<'a> {
    at: u64,
    job: &'a JobId,
    #[serde(flatten)]
    kind: &'a EventKind,
}

/// An event as the journal has it: what `serde` makes of it, written down directly, for the start and the end of
/// a job wait for it.
fn line(at: u64, job: &JobId, kind: &EventKind) -> io::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(SLOT);
    let put = |line: &mut Vec<u8>, word: &str, number: u64| {
        line.extend_from_slice(word.as_bytes());
        decimal::append(line, number);
    };
    put(&mut line, r#"{"at":"#, at);
    for part in [r#","job":""#, job.as_str(), r#"","kind":""#, kind.name(), "\""] {
        line.extend_from_slice(part.as_bytes());
    }
    match kind {
        EventKind::Created | EventKind::Started | EventKind::Stalled | EventKind::Removed => {}
        EventKind::Output { offset } => put(&mut line, r#","offset":"#, *offset),
        EventKind::Exited { state, code } if state.bytes().all(is_plain) => {
            for part in [r#","state":""#, state, "\""] {
                line.extend_from_slice(part.as_bytes());
            }
            if let Some(code) = code {
                line.extend_from_slice(br#","code":"#);
                decimal::append_signed(&mut line, *code);
            }
        }
        EventKind::Input { .. } | EventKind::Leaked { .. } | EventKind::Exited { .. } => {
            return Ok(serde_json::to_vec(&Stored { at, job, kind })?);
        }
    }
    line.push(b'}');
    Ok(line)
}

/// Whether a byte of a name stands for itself in JSON.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte == b'_'
}

fn slot(json: &[u8]) -> [u8; SLOT] {
    let mut slot = [b' '; SLOT];
    let length = json.len().min(SLOT - 1);
    slot[..length].copy_from_slice(&json[..length]);
    slot[SLOT - 1] = b'\n';
    slot
}

fn parse(bytes: &[u8], seq: u64) -> Option<Event> {
    let mut event: Event = serde_json::from_slice(bytes).ok()?;
    event.seq = seq;
    Some(event)
}

fn push_gap(items: &mut Vec<Item>, missed: &mut u64, seq: u64) {
    if *missed > 0 {
        items.push(Item::Gap { kind: GapKind::Gap, seq, missed: std::mem::take(missed) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest() -> EventKind {
        EventKind::Exited { state: "failed_to_start".into(), code: Some(i32::MIN) }
    }

    #[test]
    fn the_longest_event_fits_its_slot() {
        let job = JobId::generate();
        let typed = EventKind::Input { bytes: u64::MAX, end: false };
        for kind in [longest(), EventKind::Output { offset: u64::MAX }, typed] {
            let stored = Stored { at: 9_999_999_999_999_999, job: &job, kind: &kind };
            let json = serde_json::to_vec(&stored).unwrap();
            assert!(json.len() < SLOT, "{} bytes", json.len());
            assert_eq!(parse(&slot(&json), 7).unwrap().kind, kind);
        }
    }

    #[test]
    fn an_event_is_written_as_serde_does() {
        let job = JobId::generate();
        let exited = |state: &str, code| EventKind::Exited { state: state.into(), code };
        for kind in [
            EventKind::Created,
            EventKind::Started,
            EventKind::Output { offset: 0 },
            EventKind::Output { offset: u64::MAX },
            EventKind::Input { bytes: 3, end: true },
            EventKind::Stalled,
            EventKind::Leaked { count: 2 },
            exited("timed_out", None),
            exited("exited", Some(-3)),
            exited("\"}", Some(7)),
            EventKind::Removed,
        ] {
            let stored = Stored { at: 12, job: &job, kind: &kind };
            assert_eq!(line(12, &job, &kind).unwrap(), serde_json::to_vec(&stored).unwrap());
        }
    }

    #[test]
    fn a_reader_resumes_from_any_cursor_without_gap_or_duplicate() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("events")).unwrap();
        let job = JobId::generate();
        for offset in 0..200 {
            journal.append(&job, &[EventKind::Output { offset }]).unwrap();
        }
        for cursor in 0..200 {
            let items = journal.read(cursor, 1000).unwrap();
            let seqs: Vec<_> = items.iter().map(Item::seq).collect();
            assert_eq!(seqs, (cursor + 1..=200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_late_reader_is_told_exactly_how_many_events_it_missed() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(&dir.path().join("events")).unwrap();
        let job = JobId::generate();
        for offset in 0..1000 {
            journal.append(&job, &[EventKind::Output { offset }]).unwrap();
        }
        journal.trim(100).unwrap();
        let items = journal.read(10, 1000).unwrap();
        assert_eq!(items[0], Item::Gap { kind: GapKind::Gap, seq: 900, missed: 890 });
        assert_eq!(items[1].seq(), 901);
        assert_eq!(items.len(), 101);
    }

    #[test]
    fn a_torn_tail_is_mended_and_said() {
        for torn in 1..100 {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("events");
            let job = JobId::generate();
            Journal::open(&path).unwrap().append(&job, &[EventKind::Created, longest()]).unwrap();
            let whole = std::fs::read(&path).unwrap();
            std::fs::write(&path, &whole[..whole.len() - SLOT + torn]).unwrap();
            let journal = Journal::open(&path).unwrap();
            journal.append(&job, &[EventKind::Started]).unwrap();
            let items = journal.read(0, 10).unwrap();
            assert_eq!(items[0].seq(), 1);
            assert_eq!(items[1], Item::Gap { kind: GapKind::Gap, seq: 2, missed: 1 });
            assert!(matches!(&items[2], Item::Event(e) if e.kind == EventKind::Started));
        }
    }
}
