//! Which jobs there are, without a look at their directories: the cost of finding or listing some
//! does not grow with how many have ended.
//!
//! The catalog is a file of slots of 32 bytes, in the order in which jobs were created: the id, a hash
//! of the owner, and whether the job may be alive. A supervisor appends its job's slot before
//! the job's directory appears and marks it after the journal has the job's last event; deleting a
//! job clears its slot, and cleared slots at the beginning become a hole. Nobody takes a lock.
//!
//! The directories are the truth. A catalog that is missing, damaged or behind is made from them.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use rustix::fs::{CWD, FallocateFlags, RenameFlags, SeekFrom, fallocate, renameat_with, seek};

use crate::files;
use crate::hash::Fnv;
use crate::id::JobId;
use crate::names;
use crate::state::State;
use crate::sys::lock;

mod followed;

pub(crate) use followed::{Living, Owners};

/// The length of a slot.
const SLOT: usize = 32;
/// The first slot says what the file is, and from where on there may be living jobs.
const MAGIC: &[u8; 16] = b"umbo catalog 1\n\0";
/// Where in the first slot that is said.
const FIRST_LIVE: u64 = 16;
/// How much is read at once.
const PAGE: usize = 2048 * SLOT;
/// The place of the state in a slot.
const STATE: usize = SLOT - 1;
/// What the state can be.
const LIVE: u8 = 1;
const ENDED: u8 = 2;
/// The beginning of a block of the file system, below which nothing is given back.
const BLOCK: u64 = 4096;

/// A job of the catalog.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where its slot is.
    at: u64,
    number: u128,
    owner: u64,
    is_live: bool,
}

impl Entry {
    pub(crate) fn job(&self) -> JobId {
        JobId::from_number(self.number)
    }

    pub(crate) fn number(&self) -> u128 {
        self.number
    }

    /// Whether its end is not marked: it may be alive.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

    /// Whether it may be this owner's. The job's record knows for certain.
    pub(crate) fn may_be_of(&self, owner: Option<&str>) -> bool {
        owner.is_none() || self.owner == owner_hash(owner)
    }

    fn decode(at: u64, bytes: &[u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk::<16>()?;
        let is_live = match *bytes.get(STATE)? {
            LIVE => true,
            ENDED => false,
            _ => return None,
        };
        let owner = u64::from_le_bytes(*rest.first_chunk::<8>()?);
        Some(Self { at, number: u128::from_be_bytes(*number), owner, is_live })
    }
}

fn owner_hash(owner: Option<&str>) -> u64 {
    // Nobody has the hash 0, so somebody never does.
    owner.map_or(0, |owner| Fnv::number(owner.as_bytes()).max(1))
}

fn encode(job: &JobId, owner: Option<&str>, state: u8) -> [u8; SLOT] {
    let mut slot = [0; SLOT];
    slot[..16].copy_from_slice(&job.number().to_be_bytes());
    slot[16..24].copy_from_slice(&owner_hash(owner).to_le_bytes());
    slot[STATE] = state;
    slot
}

fn path(state: &State) -> PathBuf {
    state.root().join("catalog")
}

/// The supervisor's side: appends its job, and marks it when it is over.
pub(crate) struct Appender {
    file: File,
    /// The same file, to be written at places: what is opened to append writes only at the end.
    marks: File,
    /// Whether the last job was added through `file`: it is the slot before the place of that.
    has_added: bool,
}

impl Appender {
    pub(crate) fn open(state: &State) -> io::Result<Self> {
        let file = open_with(state, OpenOptions::new().read(true).append(true))?;
        if !file.metadata()?.len().is_multiple_of(SLOT as u64) {
            // A torn slot is filled up, so that the next one begins where slots begin.
            lock::exclusive(&file)?;
            let torn = file.metadata()?.len() % SLOT as u64;
            rustix::io::write(&file, &[0; SLOT][usize::try_from(torn).unwrap_or(0)..])?;
            let file = open_with(state, OpenOptions::new().read(true).append(true))?;
            return Ok(Self { file, marks: open_to_write(state)?, has_added: false });
        }
        Ok(Self { file, marks: open_to_write(state)?, has_added: false })
    }

    /// Marks the job that was added last, when the journal has its end.
    pub(crate) fn mark_ended(&self, state: &State, job: &JobId) {
        let slot = self.slot();
        // Only if it is the file that the slot is in, and is in place.
        let number = job.number();
        let is_own = |at: &u64| read_slot(&self.marks, *at).is_some_and(|own| own.number == number);
        let is_in_place = || self.marks.metadata().is_ok_and(|meta| meta.nlink() > 0);
        let written = slot
            .filter(|at| is_in_place() && is_own(at))
            .and_then(|at| self.marks.write_all_at(&[ENDED], at + STATE as u64).ok());
        if written.is_none() {
            mark_ended(state, job, slot);
        }
    }

    /// The slot of the job that was added last.
    fn slot(&self) -> Option<u64> {
        // Appending leaves the descriptor, which nobody else writes through, behind its own bytes.
        let end = seek(&self.file, SeekFrom::Current(0)).ok().filter(|_| self.has_added)?;
        end.checked_sub(SLOT as u64)
    }

    /// Adds a job that is about to exist.
    pub(crate) fn add(
        &mut self,
        state: &State,
        job: &JobId,
        owner: Option<&str>,
    ) -> io::Result<()> {
        // Somebody may have deleted the file since it was opened.
        if self.file.metadata()?.nlink() == 0 {
            *self = Self::open(state)?;
        }
        append(&self.file, &encode(job, owner, LIVE))?;
        self.has_added = true;
        Ok(())
    }
}

/// One call: whole or not at all, for a slot crosses no block of the file system.
fn append(file: &File, slots: &[u8]) -> io::Result<()> {
    match rustix::io::write(file, slots)? {
        written if written == slots.len() => Ok(()),
        _ => Err(rustix::io::Errno::NOSPC.into()),
    }
}

/// Marks a job whose end the journal has. Where that fails, whoever looks next does it.
pub(crate) fn mark_ended(state: &State, job: &JobId, slot: Option<u64>) {
    let Ok(file) = open_to_write(state) else { return };
    let number = job.number();
    let at = slot.filter(|at| read_slot(&file, *at).is_some_and(|entry| entry.number == number));
    let found = || entries(&file).ok()?.into_iter().rev().find(|entry| entry.number == number);
    if let Some(at) = at.or_else(|| Some(found()?.at)) {
        let _ = file.write_all_at(&[ENDED], at + STATE as u64);
    }
}

fn read_slot(file: &File, at: u64) -> Option<Entry> {
    let mut slot = [0; SLOT];
    file.read_exact_at(&mut slot, at).ok()?;
    Entry::decode(at, &slot)
}

/// All jobs of the catalog, in the order in which they were created.
pub(crate) fn all(state: &State) -> io::Result<Vec<Entry>> {
    match open_to_read(state) {
        Ok(file) => entries(&file),
        // Where it cannot be made, as on a read-only disk, the directories answer.
        Err(_) => Ok(described(state)?.iter().filter_map(|slot| Entry::decode(0, slot)).collect()),
    }
}

fn entries(file: &File) -> io::Result<Vec<Entry>> {
    let mut found = Vec::new();
    scan(file, SLOT as u64, |entry| found.push(entry))?;
    Ok(found)
}

/// The jobs of the catalog, the last that was created first, read as far as somebody wants them.
pub(crate) struct Backwards {
    source: Option<File>,
    /// What was read and not given out yet lies before this place.
    begin: u64,
    read: std::vec::IntoIter<Entry>,
}

/// All jobs of the catalog, the last that was created first.
pub(crate) fn backwards(state: &State) -> io::Result<Backwards> {
    let file = open_to_read(state).ok();
    let file = file.filter(|file| file.metadata().is_ok_and(|meta| !has_holes(&meta)));
    let Some(file) = file else {
        // Holes are skipped by whoever reads forward.
        return Ok(Backwards { source: None, begin: 0, read: all(state)?.into_iter() });
    };
    let length = file.metadata()?.len();
    let begin = length - length % SLOT as u64;
    Ok(Backwards { source: Some(file), begin, read: Vec::new().into_iter() })
}

fn has_holes(meta: &fs::Metadata) -> bool {
    meta.blocks() * 512 + PAGE as u64 <= meta.len()
}

impl Iterator for Backwards {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.read.next_back() {
                return Some(entry);
            }
            let file = self.source.as_ref()?;
            let end = self.begin;
            if end <= SLOT as u64 {
                return None;
            }
            self.begin = end.saturating_sub(PAGE as u64).max(SLOT as u64);
            let mut page = vec![0; usize::try_from(end - self.begin).ok()?];
            let count = file.read_at(&mut page, self.begin).ok()?;
            let slots = (self.begin..).step_by(SLOT).zip(page[..count].chunks_exact(SLOT));
            let read: Vec<Entry> = slots.filter_map(|(at, slot)| Entry::decode(at, slot)).collect();
            self.read = read.into_iter();
        }
    }
}

/// Calls `each` with every job from an offset on. Returns where it stopped.
fn scan(file: &File, from: u64, mut each: impl FnMut(Entry)) -> io::Result<u64> {
    let mut at = from;
    let mut page = vec![0; PAGE];
    loop {
        let count = file.read_at(&mut page, at)?;
        let whole = count - count % SLOT;
        for (number, slot) in page[..whole].chunks_exact(SLOT).enumerate() {
            if let Some(entry) = Entry::decode(at + (number * SLOT) as u64, slot) {
                each(entry);
            }
        }
        at += whole as u64;
        if whole < PAGE {
            return Ok(at);
        }
        // A page without a job may be the beginning of a hole, however large.
        if page[..whole].iter().all(|byte| *byte == 0) {
            match seek(file, SeekFrom::Data(at)) {
                Ok(data) => at = data - data % SLOT as u64,
                Err(_) => return Ok(at),
            }
        }
    }
}

/// How far the catalog reaches now; what comes later is not for [`forget`].
pub(crate) fn end(state: &State) -> u64 {
    open_to_read(state).and_then(|file| Ok(file.metadata()?.len())).unwrap_or(0)
}

/// How many jobs there ever were.
pub(crate) fn ever(state: &State) -> u64 {
    end(state) / SLOT as u64
}

/// Clears the slots before `end` of jobs that have ended and are not among `kept`.
pub(crate) fn forget(state: &State, end: u64, kept: &HashSet<u128>) -> io::Result<()> {
    let file = open_to_write(state)?;
    let mut seen = HashSet::new();
    let mut first = None;
    for entry in entries(&file)? {
        let is_kept = entry.is_live || entry.at >= end || kept.contains(&entry.number);
        if is_kept && seen.insert(entry.number) {
            first.get_or_insert(entry.at);
        } else {
            file.write_all_at(&[0; SLOT], entry.at)?;
        }
    }
    give_back(&file, first.unwrap_or(end).min(end));
    Ok(())
}

/// Clears the slots of some jobs that are gone, of all that the catalog has.
pub(crate) fn clear(state: &State, all: &[Entry], gone: &[&Entry]) -> io::Result<()> {
    let file = open_to_write(state)?;
    for entry in gone {
        // Somebody may have made the catalog anew since it was read.
        if read_slot(&file, entry.at).is_some_and(|there| there.number == entry.number) {
            file.write_all_at(&[0; SLOT], entry.at)?;
        }
    }
    let is_gone = |entry: &&Entry| gone.iter().any(|gone| gone.number == entry.number);
    let first = all.iter().find(|entry| !is_gone(entry)).or(all.last());
    give_back(&file, first.map_or(0, |entry| entry.at));
    Ok(())
}

/// Gives back what the slots before a place take, which are all cleared.
fn give_back(file: &File, before: u64) {
    let empty = before / BLOCK * BLOCK;
    if empty > BLOCK {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system without holes keeps the zeros.
        let _ = fallocate(file, flags, BLOCK, empty - BLOCK);
    }
}

/// Whether there are more directories of jobs than slots, where the file system counts them: jobs of
/// an older version were started since.
pub(crate) fn is_behind(state: &State) -> bool {
    // A directory has a link from above, one from itself, and one from each directory in it.
    let links = fs::metadata(state.jobs()).map_or(0, |meta| meta.nlink());
    links.saturating_sub(2) > (end(state) / SLOT as u64).saturating_sub(1)
}

/// Adds the jobs that are on disk and not in the catalog: those of older versions.
pub(crate) fn catch_up(state: &State) -> io::Result<()> {
    let file = open_with(state, OpenOptions::new().read(true).append(true))?;
    let known: HashSet<u128> = entries(&file)?.iter().map(Entry::number).collect();
    for job in job_ids(state)? {
        if !known.contains(&job.number()) {
            append(&file, &describe(state, &job))?;
            let name = state.job(&job).record().ok().and_then(|(record, _)| record.name);
            if let Some(name) = name {
                names::catch_up(state, &job, &name)?;
            }
        }
    }
    Ok(())
}

fn job_ids(state: &State) -> io::Result<Vec<JobId>> {
    state.job_ids().map_err(io::Error::other)
}

/// The slot of a job on disk.
fn describe(state: &State, job: &JobId) -> [u8; SLOT] {
    let directory = state.job(job);
    let owner = directory.record().ok().and_then(|(record, _)| record.owner);
    encode(job, owner.as_deref(), if directory.is_announced() { ENDED } else { LIVE })
}

fn described(state: &State) -> io::Result<Vec<[u8; SLOT]>> {
    Ok(job_ids(state)?.iter().map(|job| describe(state, job)).collect())
}

fn open_to_read(state: &State) -> io::Result<File> {
    open_with(state, OpenOptions::new().read(true))
}

fn open_to_write(state: &State) -> io::Result<File> {
    open_with(state, OpenOptions::new().read(true).write(true))
}

/// Opens the catalog; one that is missing or none is made, by whoever is first.
fn open_with(state: &State, options: &mut OpenOptions) -> io::Result<File> {
    let path = path(state);
    match files::open_with(options, &path) {
        Ok(file) if is_catalog(&file) => return Ok(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() != io::ErrorKind::InvalidData => return Err(error),
        // What is there and is none is put aside, where it can be looked at.
        Ok(_) | Err(_) => {
            fs::rename(&path, path.with_extension(format!("foreign-{}", JobId::generate())))?;
        }
    }
    let draft = path.with_extension(JobId::generate().as_str());
    make(state, &draft).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })?;
    if let Err(error) = renameat_with(CWD, &draft, CWD, &path, RenameFlags::NOREPLACE) {
        let _ = fs::remove_file(&draft);
        if error != rustix::io::Errno::EXIST {
            return Err(error.into());
        }
    }
    files::open_with(options, &path)
}

fn is_catalog(file: &File) -> bool {
    let mut magic = [0; MAGIC.len()];
    file.read_exact_at(&mut magic, 0).is_ok() && magic == *MAGIC
}

fn make(state: &State, draft: &std::path::Path) -> io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    bytes.resize(SLOT, 0);
    bytes.extend(described(state)?.concat());
    let file = files::open_with(OpenOptions::new().create_new(true).write(true), draft)?;
    file.write_all_at(&bytes, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(state: &State, owner: Option<&str>) -> JobId {
        let job = JobId::generate();
        Appender::open(state).unwrap().add(state, &job, owner).unwrap();
        fs::create_dir(state.job(&job).path()).unwrap();
        fs::write(state.job(&job).file("sock"), "").unwrap();
        job
    }

    fn end(state: &State, job: &JobId) {
        fs::remove_file(state.job(job).file("sock")).unwrap();
        mark_ended(state, job, None);
    }

    fn jobs(state: &State) -> Vec<JobId> {
        all(state).unwrap().iter().map(Entry::job).collect()
    }

    #[test]
    fn a_job_is_alive_until_it_is_marked() {
        let (_directory, state) = State::temporary();
        let made: Vec<JobId> = (0..5).map(|_| add(&state, None)).collect();
        let mut living = Living::default();
        assert_eq!(living.jobs(&state).unwrap(), made);
        end(&state, &made[1]);
        let later = add(&state, None);
        let expected = [&made[0], &made[2], &made[3], &made[4], &later].map(Clone::clone);
        assert_eq!(living.jobs(&state).unwrap(), expected);
        assert_eq!(Living::default().jobs(&state).unwrap(), expected);
        assert_eq!(jobs(&state).len(), 6);
    }

    #[test]
    fn one_that_was_announced_and_not_marked_is_not_alive() {
        let (_directory, state) = State::temporary();
        let job = add(&state, None);
        fs::remove_file(state.job(&job).file("sock")).unwrap();
        assert!(Living::default().jobs(&state).unwrap().is_empty());
        assert!(!all(&state).unwrap()[0].is_live, "and it is marked by whoever looked");
    }

    #[test]
    fn a_deleted_catalog_is_made_from_the_directories_also_under_an_open_appender() {
        let (_directory, state) = State::temporary();
        let mut appender = Appender::open(&state).unwrap();
        let first = add(&state, None);
        let mut living = Living::default();
        assert_eq!(living.jobs(&state).unwrap().len(), 1);
        fs::remove_file(path(&state)).unwrap();
        let second = JobId::generate();
        appender.add(&state, &second, None).unwrap();
        assert_eq!(jobs(&state), [first.clone(), second]);
        fs::remove_file(path(&state)).unwrap();
        assert_eq!(living.jobs(&state).unwrap(), [first], "the second never had a directory");
    }

    #[test]
    fn what_is_no_catalog_is_put_aside() {
        for wreck in [&b""[..], b"x", &[0xff; 4096], b"umbo catalog 2\n\0"] {
            let (_directory, state) = State::temporary();
            let job = add(&state, None);
            fs::write(path(&state), wreck).unwrap();
            assert_eq!(jobs(&state), [job]);
        }
    }

    #[test]
    fn a_torn_slot_is_filled_up_and_hides_nothing() {
        for torn in 1..SLOT {
            let (_directory, state) = State::temporary();
            let first = add(&state, None);
            let file = OpenOptions::new().append(true).open(path(&state)).unwrap();
            append(&file, &vec![7; torn]).unwrap();
            let second = add(&state, None);
            let found = jobs(&state);
            assert!(found.contains(&first) && found.contains(&second), "{torn}: {found:?}");
        }
    }

    #[test]
    fn forgetting_clears_what_ended_and_touches_nothing_else() {
        let (_directory, state) = State::temporary();
        let made: Vec<JobId> = (0..5000).map(|_| add(&state, None)).collect();
        let (gone, rest) = made.split_at(4900);
        for job in gone {
            end(&state, job);
        }
        let bound = super::end(&state);
        let later = add(&state, None);
        end(&state, &later);
        forget(&state, bound, &HashSet::new()).unwrap();
        let expected: Vec<JobId> = rest.iter().chain([&later]).cloned().collect();
        assert_eq!(jobs(&state), expected);
        let mut backwards: Vec<JobId> =
            super::backwards(&state).unwrap().map(|entry| entry.job()).collect();
        backwards.reverse();
        assert_eq!(backwards, expected);
        let used = fs::metadata(path(&state)).unwrap().blocks() * 512;
        assert!(used <= 4 * BLOCK, "{used} bytes on disk");
    }

    #[test]
    fn owners_are_told_apart() {
        let (_directory, state) = State::temporary();
        add(&state, Some("ann"));
        let entry = all(&state).unwrap().remove(0);
        assert!(entry.may_be_of(Some("ann")) && entry.may_be_of(None));
        assert!(!entry.may_be_of(Some("bob")));
    }

    #[test]
    fn a_catalog_that_is_one_huge_hole_is_read_at_once() {
        let (_directory, state) = State::temporary();
        let job = add(&state, None);
        let file = OpenOptions::new().write(true).open(path(&state)).unwrap();
        file.set_len(1 << 42).unwrap();
        assert_eq!(jobs(&state), std::slice::from_ref(&job));
        assert_eq!(backwards(&state).unwrap().next().unwrap().job(), job);
        assert_eq!(Living::default().jobs(&state).unwrap(), [job]);
    }

    #[test]
    fn jobs_of_an_older_version_are_added() {
        let (_directory, state) = State::temporary();
        add(&state, None);
        let old = JobId::generate();
        fs::create_dir(state.job(&old).path()).unwrap();
        assert!(is_behind(&state));
        catch_up(&state).unwrap();
        assert!(jobs(&state).contains(&old) && !is_behind(&state));
    }
}
