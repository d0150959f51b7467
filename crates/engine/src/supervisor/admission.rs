//! Who may start now. A running job holds the lock of one file in a directory of slots, and a job in
//! a session holds that session's: locks that no crash leaves behind, so the count is always true.
//!
//! A job that must wait stands in line with a ticket, a locked file too, and the oldest goes first.
//! A job that was started inside another one has that one's slots, not the common ones: it never
//! waits for a place that its own ancestor holds.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::id::JobId;
use crate::state::State;
use crate::sys::lock;
use crate::sys::watch::Watch;

/// The directory of tickets beside the slots.
const QUEUE: &str = "queue";

/// The slots for a job: the common ones, or those of the job it was started inside of.
pub(crate) fn slots(state: &State, parent: Option<&JobId>) -> PathBuf {
    let nested = parent.map(|parent| state.job(parent).file("slots"));
    nested.filter(|slots| slots.is_dir() || fs::create_dir(slots).is_ok()).unwrap_or(state.slots())
}

/// The place in line of a job that waits, counted from 1.
pub(crate) fn position(slots: &Path, job: &JobId) -> Option<usize> {
    let line = line(slots);
    line.iter().position(|ticket| ticket.job == *job).map(|before| before + 1)
}

/// The first slot free for a job that has not waited, or `None` when as many jobs run as may.
pub(super) fn take_slot(slots: &Path, most: usize, turn: Turn) -> io::Result<Option<File>> {
    let kept = match turn {
        Turn::AfterOthers => line(slots).iter().map(|ticket| ticket.most).max().unwrap_or(0),
        Turn::Now => 0,
    };
    for number in kept..most.max(1) {
        let file = open(&slots.join(number.to_string()))?;
        if lock::try_exclusive(&file)? {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Whether a job lets others go first that wait already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    AfterOthers,
    Now,
}

/// A ticket that is held.
struct Ticket {
    job: JobId,
    /// How many slots its job may choose from.
    most: usize,
}

/// Those who wait, oldest first. A ticket that nobody holds any more is thrown away.
fn line(slots: &Path) -> Vec<Ticket> {
    line_of(slots, |_| true)
}

/// Those of them that are meant: no ticket of others is opened.
fn line_of(slots: &Path, is_meant: impl Fn(&JobId) -> bool) -> Vec<Ticket> {
    let Ok(entries) = fs::read_dir(slots.join(QUEUE)) else { return Vec::new() };
    let mut line: Vec<Ticket> = entries
        .flatten()
        .filter_map(|entry| {
            let job = entry.file_name().to_str()?.parse().ok().filter(|job| is_meant(job))?;
            let mut file = File::open(entry.path()).ok()?;
            if !lock::is_held(&file).ok()? {
                let _ = fs::remove_file(entry.path());
                return None;
            }
            let mut text = String::new();
            file.read_to_string(&mut text).ok()?;
            Some(Ticket { job, most: text.parse().ok()? })
        })
        .collect();
    line.sort_by(|one, other| one.job.cmp(&other.job));
    line
}

/// Those at the head of the line are told by the kernel when something changes. It tells only so many
/// of one user's processes (`fs.inotify.max_user_instances`), so those far behind look now and then,
/// the more seldom the farther behind they are.
enum Bell {
    Kernel(Watch),
    Timer(OwnedFd),
}

/// So many at the head of the line have the kernel tell them.
const HEAD: usize = 16;
/// How long one waits between two looks for each that is ahead.
const PATIENCE: Duration = Duration::from_millis(2);
const MOST_PATIENCE: Duration = Duration::from_millis(100);

impl Bell {
    fn new(slots: &Path, queue: &Path, ahead: usize) -> io::Result<Self> {
        let watch = || {
            let watch = Watch::new()?;
            watch.closing_in(slots)?;
            watch.closing_in(queue)?;
            io::Result::Ok(watch)
        };
        if ahead < HEAD
            && let Ok(watch) = watch()
        {
            return Ok(Self::Kernel(watch));
        }
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self::Timer(timerfd_create(TimerfdClockId::Monotonic, flags)?))
    }

    /// Sets it for who found so many ahead.
    fn set(&self, ahead: usize) {
        let Self::Timer(timer) = self else { return };
        let pause = PATIENCE.saturating_mul(u32::try_from(ahead + 1).unwrap_or(u32::MAX));
        let pause = pause.min(MOST_PATIENCE);
        let value = Timespec {
            tv_sec: i64::try_from(pause.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(pause.subsec_nanos()),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        let _ = timerfd_settime(timer, TimerfdTimerFlags::empty(), &once);
    }
}

/// A job's place in the line.
pub(super) struct Waiting {
    slots: PathBuf,
    job: JobId,
    /// The slots it may choose from. They stay open: closing one is what wakes those who wait.
    files: Vec<File>,
    ticket: PathBuf,
    bell: Bell,
    /// Its lock says that somebody waits.
    _held: File,
}

impl Waiting {
    /// Goes to the end of the line.
    pub(super) fn begin(slots: &Path, job: &JobId, most: usize) -> io::Result<Self> {
        let queue = slots.join(QUEUE);
        fs::create_dir_all(&queue)?;
        let bell = Bell::new(slots, &queue, line(slots).len())?;
        let (draft, ticket) = (queue.join(format!(".{job}")), queue.join(job.as_str()));
        let mut held = open(&draft)?;
        lock::try_exclusive(&held)?;
        held.write_all(most.to_string().as_bytes())?;
        // A ticket that can be seen is held.
        fs::rename(draft, &ticket)?;
        let files = (0..most.max(1))
            .map(|number| open(&slots.join(number.to_string())))
            .collect::<io::Result<_>>()?;
        let (slots, job) = (slots.to_owned(), job.clone());
        Ok(Self { slots, job, files, ticket, bell, _held: held })
    }

    /// Takes a slot if it is this job's turn. One that an older job could use is left to that one.
    pub(super) fn take(&mut self) -> io::Result<Option<File>> {
        if matches!(self.bell, Bell::Timer(_)) {
            let ahead = self.names_ahead();
            if ahead >= HEAD {
                self.bell.set(ahead);
                return Ok(None);
            }
            self.bell = Bell::new(&self.slots, &self.slots.join(QUEUE), ahead)?;
        }
        let older = line_of(&self.slots, |job| *job < self.job);
        let kept = older.iter().map(|ticket| ticket.most).max().unwrap_or(0);
        for number in kept..self.files.len() {
            if lock::try_exclusive(&self.files[number])? {
                return Ok(Some(self.files.swap_remove(number)));
            }
        }
        self.bell.set(older.len());
        Ok(None)
    }

    /// How many tickets are older, by their names alone: cheap, for those who only want to know
    /// whether they are near the head.
    fn names_ahead(&self) -> usize {
        let Ok(entries) = fs::read_dir(self.slots.join(QUEUE)) else { return 0 };
        let own = self.job.as_str();
        let is_older = |name: &str| !name.starts_with('.') && name < own;
        entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_older)).count()
    }

    /// Becomes readable when a slot may have become free, or the line shorter.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        match &self.bell {
            Bell::Kernel(watch) => watch.as_fd(),
            Bell::Timer(timer) => timer.as_fd(),
        }
    }

    /// Makes it silent again.
    pub(super) fn hush(&self) {
        match &self.bell {
            Bell::Kernel(watch) => {
                watch.drain();
            }
            Bell::Timer(timer) => {
                let _ = rustix::io::read(timer, &mut [0_u8; 8]);
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.ticket);
    }
}

/// Takes a session for a job, or says which job has it.
pub(super) fn take_session(directory: &Path, job: &str) -> io::Result<Result<File, String>> {
    fs::create_dir_all(directory)?;
    let mut file = open(&directory.join("lock"))?;
    if lock::try_exclusive(&file)? {
        file.set_len(0)?;
        file.write_all(job.as_bytes())?;
        return Ok(Ok(file));
    }
    let mut holder = String::new();
    file.rewind()?;
    file.read_to_string(&mut holder)?;
    Ok(Err(holder))
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}
