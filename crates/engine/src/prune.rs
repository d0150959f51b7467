//! Ended jobs leave the disk: by count and size on their own, by request at any time.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, rmdir, statat, unlinkat};
use rustix::io::Errno;

use crate::catalog::{self, Entry};
use crate::clock;
use crate::error::{Error, Result};
use crate::event::{EVENTS_KEPT, EventKind, Journal};
use crate::files;
use crate::groups;
use crate::id::JobId;
use crate::names;
use crate::outcome::Outcome;
use crate::state::State;
use crate::sys::lock;
use crate::wire::Retention;

/// How the directory of a job that is being deleted is called, before its id.
const REMOVED: &str = "removed-";
/// Fewer jobs than this are deleted by one thread.
const FEWEST_FOR_THREADS: usize = 256;
/// So many are taken out of the list before that is said in the journal, once for all of them.
const REMOVED_AT_ONCE: usize = 16;
/// A key without a job is given this long to get one.
const KEY_AGE: Duration = Duration::from_mins(1);
/// A spare that nobody holds is given this long: between its making and its lock lies a moment.
const SPARE_AGE: Duration = Duration::from_secs(10);

/// How much ended jobs take, as far as it was counted: a record for each job that ended since the last sum,
/// and one for those before. Whoever appends takes no lock.
const RETAINED: &str = "retained";
/// A record: how many jobs, and how many bytes they take.
const RETAINED_RECORD: usize = 16;
/// So many records are summed up.
const MOST_RECORDS: usize = 512;
/// After so many jobs, or as many for each that is kept, all are looked at, for a killed supervisor appends
/// nothing: what that costs is shared by all of them.
const JOBS_BETWEEN_LOOKS: u64 = 8192;
const LOOKS_APART: u64 = 4;
/// So many are looked at, or deleted, in less time than another supervisor takes.
const FEW_JOBS: usize = 64;
/// So many more than need to are deleted, at most, so that not every job from then on has to make room.
const MOST_AHEAD: usize = 16;
/// What a job leaves in its directory whose supervisor has taken another one.
const USUAL_FILES: [&str; 4] = ["index", "outcome", "output", "request"];

/// Makes room if this job, which has ended and takes so many bytes, was one too many. Costs the job nothing:
/// it is over. `begin` is called before that.
pub(crate) fn after_job(
    state: &State,
    retained: &mut Counter,
    bytes: u64,
    keep: Retention,
    begin: impl FnOnce(),
) {
    let Ok(counted) = retained.count(state, 1, bytes) else { return };
    if Due::of(&counted, keep).is_none() {
        return;
    }
    // One at a time: what another one does at this moment need not be done again.
    let Ok(file) = files::open_or_create(&state.root().join("prune.lock")) else { return };
    if !lock::try_exclusive(&file).unwrap_or(false) {
        return;
    }
    // Nor what another one has just done.
    let Ok(counted) = open_count(state).and_then(|file| self::counted(&file)) else { return };
    let Some(due) = Due::of(&counted, keep) else { return };
    let looks = is_time_to_look(state, &counted, keep);
    if due != Due::Room && !looks {
        let _ = recount(state, counted.jobs, counted.bytes);
        return;
    }
    let ahead = MOST_AHEAD.min(keep.jobs / 16);
    let keep = Retention { jobs: keep.jobs - ahead, bytes: keep.bytes - keep.bytes / 16, ..keep };
    let now = clock::now_us();
    let _ = if looks {
        if due != Due::First || state.job_ids().is_ok_and(|jobs| jobs.len() > FEW_JOBS) {
            begin();
        }
        prune(state, keep, None, now, None, 1).map(drop)
    } else {
        make_room(state, &counted, keep, now, begin)
    };
}

/// What there is to do by what was counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Due {
    /// Room is to be made.
    Room,
    /// The count is long.
    Sum,
    /// The count has just begun.
    First,
}

impl Due {
    fn of(counted: &Counted, keep: Retention) -> Option<Self> {
        let is_full = counted.jobs > keep.jobs as u64 || counted.bytes > keep.bytes;
        let is_aged = keep.age.is_some() && counted.records.is_multiple_of(AGE_LOOKED_AT);
        if is_full || is_aged {
            Some(Self::Room)
        } else if counted.records == 1 {
            Some(Self::First)
        } else {
            (counted.records >= MOST_RECORDS as u64).then_some(Self::Sum)
        }
    }
}

/// Whether all jobs are to be looked at: as many ended as are kept since that was done last, or a count has just
/// begun, and there were jobs before.
fn is_time_to_look(state: &State, counted: &Counted, keep: Retention) -> bool {
    if counted.records == 1 {
        return state.job_ids().is_ok_and(|jobs| jobs.len() as u64 > counted.jobs);
    }
    let between = JOBS_BETWEEN_LOOKS.max((keep.jobs as u64).saturating_mul(LOOKS_APART));
    let ever = catalog::ever(state);
    ever / between > ever.saturating_sub(counted.records) / between
}

/// After every so many jobs those are looked for that are too old.
const AGE_LOOKED_AT: u64 = 32;

/// What was counted.
#[derive(Default)]
struct Counted {
    jobs: u64,
    bytes: u64,
    records: u64,
}

/// The count, held open by a supervisor that has one job after another.
#[derive(Default)]
pub(crate) struct Counter {
    file: Option<File>,
}

impl Counter {
    /// Appends to the count; what it is now.
    fn count(&mut self, state: &State, jobs: u64, bytes: u64) -> io::Result<Counted> {
        // A count that began anew is another file.
        self.file.take_if(|file| file.metadata().is_ok_and(|meta| meta.nlink() == 0));
        let file = self.file.take().map_or_else(|| open_count(state), Ok)?;
        (&file).write_all(&record(jobs, bytes))?;
        let counted = counted(&file)?;
        self.file = Some(file);
        Ok(counted)
    }
}

fn open_count(state: &State) -> io::Result<File> {
    let path = state.root().join(RETAINED);
    files::open_with(OpenOptions::new().create(true).read(true).append(true), &path)
}

fn counted(file: &File) -> io::Result<Counted> {
    let mut counted = Counted::default();
    let mut text = [0; (MOST_RECORDS + 64) * RETAINED_RECORD];
    let length = file.read_at(&mut text, 0)?;
    for record in text[..length].chunks_exact(RETAINED_RECORD) {
        let number = |at: usize| {
            let bytes = record.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        counted.jobs = counted.jobs.saturating_add(number(0));
        counted.bytes = counted.bytes.saturating_add(number(8));
        counted.records += 1;
    }
    Ok(counted)
}

fn record(jobs: u64, bytes: u64) -> [u8; RETAINED_RECORD] {
    let mut record = [0; RETAINED_RECORD];
    record[..8].copy_from_slice(&jobs.to_le_bytes());
    record[8..].copy_from_slice(&bytes.to_le_bytes());
    record
}

/// Begins the count anew. One who appends at this moment may not be in it until all are looked at.
fn recount(state: &State, jobs: u64, bytes: u64) -> io::Result<()> {
    let path = state.root().join(RETAINED);
    let draft = path.with_extension(JobId::generate().as_str());
    fs::write(&draft, record(jobs, bytes))?;
    fs::rename(draft, path)
}

/// Deletes ended jobs: the oldest first until the rest fits `keep`, and all older than `age` or than
/// `keep` says. What is left of their control groups is waited for until the deadline; the next
/// sweep has the rest.
pub(crate) fn prune(
    state: &State,
    keep: Retention,
    age: Option<Duration>,
    now: u64,
    deadline: Option<Instant>,
    threads: usize,
) -> Result<Vec<JobId>> {
    let jobs = Jobs::of(state)?;
    let ids = jobs.ids.clone();
    let (leaving, staying): (Vec<Examined>, Vec<Examined>) =
        examine_all(state, ids, keep, age, now, threads).into_iter().partition(|job| job.leaves);
    let (mut kept_jobs, mut kept_bytes) = (0, 0);
    for job in &staying {
        if !job.is_empty {
            // Something was left alive in its groups; by now it may have ended.
            groups::remove(&state.job(&job.id), None);
        }
        kept_jobs += 1;
        kept_bytes += job.size.unwrap_or(0);
    }
    jobs.delete(state, &leaving, deadline, threads, |stayed| {
        let bytes: u64 = stayed.iter().map(|job| disk_use(state.job(&job.id).path())).sum();
        (kept_jobs + stayed.len() as u64, kept_bytes + bytes)
    })
}

/// As [`prune`], by what the catalog says and what was counted: only the jobs that leave are looked at. `begin`
/// is called before many are deleted.
fn make_room(
    state: &State,
    counted: &Counted,
    keep: Retention,
    now: u64,
    begin: impl FnOnce(),
) -> Result<()> {
    let all = catalog::all(state).map_err(Error::state(state.root()))?;
    let ended = || all.iter().filter(|entry| !entry.is_live());
    let count = ended().count() as u64;
    if count < counted.jobs {
        // Somebody else deleted some, and nobody knows how much they took.
        begin();
        return prune(state, keep, None, now, None, 1).map(drop);
    }
    let oldest = keep.age.map(|age| before(now, age));
    // How many there are is seen; it may be more than were counted.
    let mut surplus_jobs = count.saturating_sub(keep.jobs as u64);
    let mut surplus_bytes = counted.bytes.saturating_sub(keep.bytes);
    let (mut leaving, mut gone) = (Vec::new(), Vec::new());
    for entry in ended() {
        let is_surplus = surplus_jobs > 0 || surplus_bytes > 0;
        let id = entry.job();
        // What was made later has not ended sooner.
        if !is_surplus && oldest.is_none_or(|oldest| id.made_at_ms() * 1000 > oldest) {
            break;
        }
        let directory = state.job(&id);
        let Some(end) = directory.end() else {
            if !directory.exists() {
                surplus_jobs = surplus_jobs.saturating_sub(1);
                gone.push(entry);
            }
            continue;
        };
        if is_surplus || oldest.is_some_and(|oldest| end.ended_at <= oldest) {
            surplus_jobs = surplus_jobs.saturating_sub(1);
            // Otherwise it is seen when it is deleted.
            let size = (surplus_bytes > 0).then(|| disk_use(directory.path()));
            surplus_bytes = surplus_bytes.saturating_sub(size.unwrap_or(0));
            let is_empty = end.contained_by.is_some();
            leaving.push((entry, Examined { id, leaves: true, size, is_empty }));
        }
    }
    if leaving.len() > FEW_JOBS {
        begin();
    }
    let (entries, jobs): (Vec<_>, Vec<_>) = leaving.into_iter().unzip();
    let deleted = Deleted::of(&jobs, remove_all(state, &jobs), state);
    let stays =
        |job: &&Entry| deleted.stayed.iter().any(|stayed| stayed.id.number() == job.number());
    gone.extend(entries.iter().filter(|entry| !stays(entry)));
    // Others have ended meanwhile.
    let since = open_count(state).and_then(|file| self::counted(&file)).unwrap_or_default();
    let more = since.jobs.saturating_sub(counted.jobs);
    let jobs = (count + more).saturating_sub(gone.len() as u64);
    let _ = recount(state, jobs, since.bytes.saturating_sub(deleted.bytes));
    let _ = catalog::clear(state, &all, &gone);
    deleted.failure.map_or(Ok(()), Err)
}

/// The moment so long before another one, in microseconds.
fn before(now: u64, age: Duration) -> u64 {
    now.saturating_sub(u64::try_from(age.as_micros()).unwrap_or(u64::MAX))
}

/// All jobs on disk, of which some are to leave.
struct Jobs {
    /// The oldest first.
    ids: Vec<JobId>,
    /// Where the catalog ended before they were looked for.
    catalog_end: u64,
}

impl Jobs {
    fn of(state: &State) -> Result<Self> {
        let catalog_end = catalog::end(state);
        Ok(Self { ids: state.job_ids()?, catalog_end })
    }

    /// Deletes some of them, and all that is known of them. `count` says how many jobs there are then, and
    /// how much they take, when some of those could not be deleted.
    fn delete(
        &self,
        state: &State,
        leaving: &[Examined],
        deadline: Option<Instant>,
        threads: usize,
        count: impl FnOnce(&[&Examined]) -> (u64, u64),
    ) -> Result<Vec<JobId>> {
        let mut kept: HashSet<u128> = self.ids.iter().map(JobId::number).collect();
        let results = in_parts(leaving, threads, |part| remove_all(state, part));
        let deleted = Deleted::of(leaving, results, state);
        for id in &deleted.removed {
            kept.remove(&id.number());
        }
        let (jobs, bytes) = count(&deleted.stayed);
        let _ = recount(state, jobs, bytes);
        let _ = catalog::forget(state, self.catalog_end, &kept);
        // Of every name, not only those of jobs that leave now: room is made without a look at names.
        names::forget(state, &kept);
        sweep_leftovers(state, deadline);
        if let Ok(journal) = Journal::open(&state.events()) {
            let _ = journal.trim(EVENTS_KEPT);
        }
        // All were tried: what could be deleted is.
        deleted.failure.map_or(Ok(deleted.removed), Err)
    }
}

/// What became of jobs that were to be deleted.
struct Deleted<'a> {
    removed: Vec<JobId>,
    stayed: Vec<&'a Examined>,
    /// What the removed ones took.
    bytes: u64,
    /// The first that went wrong.
    failure: Option<Error>,
}

impl<'a> Deleted<'a> {
    fn of(
        leaving: &'a [Examined],
        results: Vec<std::result::Result<Removal, (Removal, io::Error)>>,
        state: &State,
    ) -> Self {
        let mut deleted = Self { removed: Vec::new(), stayed: Vec::new(), bytes: 0, failure: None };
        for (job, result) in leaving.iter().zip(results) {
            let removal = result.unwrap_or_else(|(removal, source)| {
                let path = state.job(&job.id).path().to_owned();
                deleted.failure.get_or_insert(Error::File { action: "delete", path, source });
                removal
            });
            match removal {
                Removal::Done { bytes } => {
                    deleted.bytes += bytes;
                    deleted.removed.push(job.id.clone());
                }
                Removal::NotYet => deleted.stayed.push(job),
            }
        }
        deleted
    }
}

/// An ended job, and whether it is to leave.
pub(crate) struct Examined {
    pub(crate) id: JobId,
    pub(crate) leaves: bool,
    /// How much it takes; not looked at where it leaves in any case.
    size: Option<u64>,
    /// Whether it is proven that no process of it is left.
    is_empty: bool,
}

/// Looks at all ended jobs, the newest first.
pub(crate) fn examine(
    state: &State,
    keep: Retention,
    age: Option<Duration>,
    now: u64,
) -> Result<Vec<Examined>> {
    Ok(examine_all(state, state.job_ids()?, keep, age, now, 1))
}

/// The same, of these jobs.
fn examine_all(
    state: &State,
    mut ids: Vec<JobId>,
    keep: Retention,
    age: Option<Duration>,
    now: u64,
    threads: usize,
) -> Vec<Examined> {
    let oldest = age.into_iter().chain(keep.age).min().map(|age| before(now, age));
    ids.reverse();
    let look = |part: &[JobId]| part.iter().map(|id| state.job(id).outcome()).collect();
    let outcomes = in_parts(&ids, threads, look);
    let (mut jobs, mut bytes) = (0, 0);
    let examine = |(id, outcome): (JobId, Option<Outcome>)| {
        let outcome = outcome?;
        jobs += 1;
        let is_surplus =
            jobs > keep.jobs || oldest.is_some_and(|oldest| outcome.ended_at <= oldest);
        let size = (!is_surplus).then(|| disk_use(state.job(&id).path()));
        bytes += size.unwrap_or(0);
        let leaves = is_surplus || bytes > keep.bytes;
        Some(Examined { id, leaves, size, is_empty: outcome.contained_by.is_some() })
    };
    ids.into_iter().zip(outcomes).filter_map(examine).collect()
}

/// Does some work on parts of a list at the same time; what came of each item, in their order.
fn in_parts<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&[T]) -> Vec<R> + Sync,
) -> Vec<R> {
    if threads <= 1 || items.len() < FEWEST_FOR_THREADS {
        return work(items);
    }
    let (share, work) = (items.len().div_ceil(threads), &work);
    thread::scope(|scope| {
        let parts: Vec<_> =
            items.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
        parts.into_iter().filter_map(|part| part.join().ok()).flatten().collect()
    })
}

/// What became of a job that was to be deleted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// It is not in the list any more, and took so many bytes.
    Done { bytes: u64 },
    /// Its end is not announced yet, or another process deletes it.
    NotYet,
}

/// Deletes jobs. With an error comes whether it is out of the list: what is left then is swept up later.
fn remove_all(
    state: &State,
    part: &[Examined],
) -> Vec<std::result::Result<Removal, (Removal, io::Error)>> {
    let journal = Journal::open(&state.events()).ok();
    let mut results = Vec::with_capacity(part.len());
    for some in part.chunks(REMOVED_AT_ONCE) {
        let away: Vec<io::Result<Taken>> =
            some.iter().map(|job| take_away(state, &job.id)).collect();
        let is_away = |result: &io::Result<Taken>| matches!(result, Ok(Taken::Away));
        if let Some(journal) = &journal {
            let taken = some.iter().zip(&away).filter(|(_, result)| is_away(result));
            let _ = journal.append_all(taken.map(|(job, _)| (&job.id, &EventKind::Removed)));
        }
        results.extend(some.iter().zip(away).map(|(job, result)| {
            match result {
                Ok(Taken::Away) => erase(&self::away(state, &job.id), job.is_empty)
                    // Whoever sweeps at this moment does the same.
                    .or_else(|error| if is_gone(&error) { Ok(0) } else { Err(error) })
                    .map(|bytes| Removal::Done { bytes })
                    .map_err(|error| (Removal::Done { bytes: 0 }, error)),
                Ok(Taken::NotYet) => Ok(Removal::NotYet),
                Err(error) => Err((Removal::NotYet, error)),
            }
        }));
    }
    results
}

/// Where a job lies that is being deleted.
fn away(state: &State, id: &JobId) -> PathBuf {
    state.spares().join(format!("{REMOVED}{id}"))
}

/// Whether a job was taken out of the list by this process.
enum Taken {
    Away,
    NotYet,
}

/// Takes one ended job out of the list; what is left of it is deleted afterwards.
fn take_away(state: &State, id: &JobId) -> io::Result<Taken> {
    let directory = state.job(id);
    if !directory.is_announced() && directory.is_supervised() {
        return Ok(Taken::NotYet);
    }
    // Whoever renames it is the one to delete it, and to say so.
    match fs::rename(directory.path(), away(state, id)) {
        Ok(()) => Ok(Taken::Away),
        Err(error) if is_gone(&error) => Ok(Taken::NotYet),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

/// Deletes a directory; how many bytes it took. Where no process is left of its job, and the list of its control
/// groups went to the next job of its supervisor, nothing but files is left: they are looked at once.
fn erase(path: &Path, is_empty: bool) -> io::Result<u64> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::open(path, flags, Mode::empty())?;
    let has_list = || statat(&directory, groups::LIST, AtFlags::SYMLINK_NOFOLLOW).is_ok();
    let mut bytes = 0;
    if is_empty && !has_list() {
        for name in USUAL_FILES {
            bytes += erase_file(&directory, name)?;
        }
        match rmdir(path) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            done => return done.map(|()| bytes).map_err(io::Error::from),
        }
    }
    let mut files = Vec::with_capacity(8);
    for entry in Dir::read_from(&directory)? {
        let name = entry?.file_name().to_owned();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let meta = statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        bytes += u64::try_from(meta.st_blocks).unwrap_or(0) * 512;
        files.push((name, FileType::from_raw_mode(meta.st_mode)));
    }
    let is_only_files = files.iter().all(|(name, kind)| {
        *kind != FileType::Directory && name.to_bytes() != groups::LIST.as_bytes()
    });
    if is_empty && is_only_files {
        for (name, _) in &files {
            unlinkat(&directory, name, AtFlags::empty())?;
        }
        fs::remove_dir(path)?;
    } else {
        groups::discard(path, None)?;
    }
    Ok(bytes)
}

/// Deletes a file, if there is one; how many bytes it took.
fn erase_file(directory: &OwnedFd, name: &str) -> io::Result<u64> {
    let meta = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(0),
        meta => meta?,
    };
    if FileType::from_raw_mode(meta.st_mode) == FileType::Directory {
        return Ok(0);
    }
    unlinkat(directory, name, AtFlags::empty())?;
    Ok(u64::try_from(meta.st_blocks).unwrap_or(0) * 512)
}

/// How much a job's directory takes.
pub(crate) fn disk_use(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    entries
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|meta| meta.blocks() * 512)
        .sum()
}

/// Removes what killed processes left (spares nobody holds, keys of jobs that are gone), and what
/// could not be removed with its job: groups in which somebody was alive.
fn sweep_leftovers(state: &State, deadline: Option<Instant>) {
    if let Ok(spares) = fs::read_dir(state.spares()) {
        for spare in spares.flatten() {
            let path = spare.path();
            let is_removed = spare.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes());
            let is_held = files::open(&path.join("lock")).and_then(lock::is_held).unwrap_or(false);
            if is_removed || (!is_held && is_older(&path, SPARE_AGE)) {
                let _ = groups::discard(&path, deadline);
            }
        }
    }
    if let Ok(keys) = fs::read_dir(state.keys()) {
        for key in keys.flatten() {
            let job = fs::read_link(key.path()).ok();
            let is_gone = job.is_none_or(|job| !state.jobs().join(job).exists());
            if is_gone && is_older(&key.path(), KEY_AGE) {
                let _ = fs::remove_file(key.path());
            }
        }
    }
}

fn is_older(path: &Path, than: Duration) -> bool {
    fs::symlink_metadata(path)
        .and_then(|meta| meta.modified())
        .is_ok_and(|at| at.elapsed().is_ok_and(|age| age > than))
}
