//! Who may start now. A running job holds the lock of one file in a directory of slots, and a job in
//! a session holds that session's: locks that no crash leaves behind, so the count is always true.
//!
//! A job that must wait stands in line with a ticket, and the oldest goes first. A ticket is a named
//! pipe that its job holds open: whoever stands behind it reads from that pipe, and the kernel hangs
//! up when the job leaves the line, however it leaves. So each that leaves wakes one, and only who has
//! nobody before it watches the slots.
//!
//! A job that was started inside another one has that one's slots, not the common ones: it never
//! waits for a place that its own ancestor holds. A session is a lane of its own, with one place; who
//! waits for it holds no slot.

use std::cmp::Reverse;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use crate::files;
use crate::id::JobId;
use crate::state::State;
use crate::sys::lock;
use crate::sys::watch::Watch;
use crate::turns;

/// The directory of tickets beside the slots.
const QUEUE: &str = "queue";

/// What jobs take turns at: a directory with the lock files of those who have their turn, and with the
/// tickets of those who wait.
#[derive(Clone)]
pub(super) struct Lane {
    directory: PathBuf,
    locks: Locks,
}

/// Which files of a lane are locked by those who have their turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Locks {
    /// One of so many, numbered from 0.
    Numbered(usize),
    /// The one of a session, which says who has it.
    Session,
}

impl Lane {
    /// The slots of jobs that run at the same time.
    pub(super) fn slots(directory: PathBuf, most: usize) -> Self {
        Self { directory, locks: Locks::Numbered(most.max(1)) }
    }

    /// A session, which one job has at a time.
    pub(super) fn session(directory: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&directory)?;
        Ok(Self { directory, locks: Locks::Session })
    }

    fn most(&self) -> usize {
        match self.locks {
            Locks::Numbered(most) => most,
            Locks::Session => 1,
        }
    }

    fn open(&self, number: usize) -> io::Result<File> {
        open(&match self.locks {
            Locks::Numbered(_) => self.directory.join(number.to_string()),
            Locks::Session => self.directory.join(SESSION_LOCK),
        })
    }

    /// Takes one of its turns for a job that has not waited, if one is free and not for those who wait. The
    /// one that was had last is tried first: it is likely to be free, and others are likely not to be.
    pub(super) fn take(
        &self,
        job: &JobId,
        order: Order,
        last: &mut usize,
    ) -> io::Result<Option<File>> {
        let kept = match order {
            Order::AfterOthers => kept(&self.directory, Ticket::all(&self.directory)),
            Order::Now => 0,
        };
        let most = self.most();
        let first = if (kept..most).contains(last) { *last } else { kept };
        for number in (first..most).chain(kept..first) {
            let file = self.open(number)?;
            if lock::try_exclusive(&file)? {
                *last = number;
                return self.taken(file, job).map(Some);
            }
        }
        Ok(None)
    }

    /// A session's lock says who has it.
    fn taken(&self, mut file: File, job: &JobId) -> io::Result<File> {
        if self.locks == Locks::Session {
            file.set_len(0)?;
            file.write_all(job.as_str().as_bytes())?;
        }
        Ok(file)
    }
}

/// The lock of a session, in its directory.
const SESSION_LOCK: &str = "lock";

/// The job that has a session, as far as its lock says.
pub(crate) fn session_holder(directory: &Path) -> Option<JobId> {
    let mut holder = String::new();
    let file = files::open(&directory.join(SESSION_LOCK)).ok()?;
    file.take(64).read_to_string(&mut holder).ok()?;
    holder.parse().ok()
}

/// The slots for a job: those of its group, the common ones, or those of the job it was started inside
/// of. Inside of a job of the same group, the group's own may all be its ancestors'.
pub(crate) fn slots(state: &State, parent: Option<&JobId>, group: Option<&str>) -> PathBuf {
    if let Some(group) = group
        && !is_inside_group(state, parent, group)
        && let Ok(slots) = turns::make(state, group)
    {
        return slots;
    }
    let nested = parent.map(|parent| state.job(parent).file("slots"));
    nested.filter(|slots| slots.is_dir() || fs::create_dir(slots).is_ok()).unwrap_or(state.slots())
}

fn is_inside_group(state: &State, parent: Option<&JobId>, group: &str) -> bool {
    let mut ancestor = parent.cloned();
    while let Some((record, _)) = ancestor.and_then(|job| state.job(&job).record().ok()) {
        if record.group.as_deref() == Some(group) {
            return true;
        }
        ancestor = record.parent;
    }
    false
}

/// The place in line of a job that waits, counted from 1.
pub(crate) fn position(slots: &Path, job: &JobId) -> Option<usize> {
    let line = Ticket::all(slots);
    let up_to_own = &line[..=line.iter().position(|ticket| ticket.job == *job)?];
    Some(up_to_own.iter().filter(|ticket| ticket.listen(slots).is_some()).count())
}

/// Whether a job lets others go first that wait already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AfterOthers,
    Now,
}

/// How many slots are for those who wait with these tickets.
fn kept(slots: &Path, mut tickets: Vec<Ticket>) -> usize {
    tickets.sort_by_key(|ticket| Reverse(ticket.most));
    let held = tickets.iter().find(|ticket| ticket.listen(slots).is_some());
    held.map_or(0, |ticket| ticket.most)
}

/// A job's place in line, as the name of its pipe has it.
struct Ticket {
    job: JobId,
    /// How many slots its job may choose from.
    most: usize,
}

impl Ticket {
    /// The tickets that can be seen, the oldest first. Their holders may be gone.
    fn all(slots: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(slots.join(QUEUE)) else { return Vec::new() };
        let mut line: Vec<Self> = entries
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name();
                let (job, most) = name.to_str()?.split_once('.')?;
                Some(Self { job: job.parse().ok()?, most: most.parse().ok()? })
            })
            .collect();
        line.sort_by(|one, other| one.job.cmp(&other.job));
        line
    }

    fn path(&self, slots: &Path) -> PathBuf {
        slots.join(QUEUE).join(format!("{}.{}", self.job, self.most))
    }

    /// Makes the ticket. It is held as long as the file is open.
    fn draw(&self, slots: &Path) -> io::Result<File> {
        let queue = slots.join(QUEUE);
        fs::create_dir_all(&queue)?;
        let draft = queue.join(format!(".{}", self.job));
        mknodat(CWD, &draft, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let held = pipe(OpenOptions::new().read(true).write(true), &draft)?;
        // A ticket that can be seen is held.
        fs::rename(draft, self.path(slots))?;
        Ok(held)
    }

    /// The end that hangs up when its job leaves the line. A ticket that nobody holds any more is
    /// thrown away.
    fn listen(&self, slots: &Path) -> Option<File> {
        let path = self.path(slots);
        let mut end = pipe(OpenOptions::new().read(true), &path).ok()?;
        let is_left = matches!(end.read(&mut [0]), Ok(0));
        if is_left {
            let _ = fs::remove_file(path);
        }
        (!is_left).then_some(end)
    }
}

fn pipe(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0)).open(path)
}

/// What tells a job in line to look again.
pub(super) enum Bell {
    /// Somebody older could use every slot that this job could: that one's ticket.
    Ahead(File),
    /// Nobody does: the slots, and the tickets of the older ones that have fewer slots to choose from.
    Slots(Watch),
    /// The kernel watches only so much for one user (`fs.inotify.max_user_instances`), and that was
    /// used up: the slots again, looked at now and then.
    Clock(OwnedFd),
}

/// How long is now and then.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

impl Bell {
    fn of_slots(slots: &Path) -> io::Result<Self> {
        let watch = || {
            let watch = Watch::new()?;
            watch.closing_in(slots)?;
            watch.closing_in(&slots.join(QUEUE))?;
            io::Result::Ok(watch)
        };
        watch().map(Self::Slots).or_else(|_| clock().map(Self::Clock))
    }
}

/// Becomes readable now and then.
pub(super) fn clock() -> io::Result<OwnedFd> {
    let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
    let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
    let again = Itimerspec { it_interval: PAUSE, it_value: PAUSE };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &again)?;
    Ok(timer)
}

/// A job that stands in line.
pub(super) struct Waiting {
    lane: Lane,
    ticket: Ticket,
    bell: Option<Bell>,
    /// The slots it may choose from, once nobody is in its way. They stay open: closing one is what
    /// wakes those who wait.
    files: Vec<File>,
    held: File,
}

impl Waiting {
    /// Goes to the end of the line.
    pub(super) fn begin(lane: Lane, job: &JobId) -> io::Result<Self> {
        let ticket = Ticket { job: job.clone(), most: lane.most() };
        let held = ticket.draw(&lane.directory)?;
        Ok(Self { lane, ticket, bell: None, files: Vec::new(), held })
    }

    /// Takes a slot if it is this job's turn. One that an older job could use is left to that one.
    pub(super) fn take(&mut self) -> io::Result<Option<File>> {
        self.heed_limit()?;
        let slots = &self.lane.directory;
        let mut older = Ticket::all(slots);
        older.retain(|ticket| ticket.job < self.ticket.job);
        let mut in_the_way = older.iter().rev().filter(|ticket| ticket.most >= self.ticket.most);
        if let Some(end) = in_the_way.find_map(|ticket| ticket.listen(slots)) {
            self.bell = Some(Bell::Ahead(end));
            return Ok(None);
        }
        // Before the slots are looked at: what happens after that is told.
        if !matches!(self.bell, Some(Bell::Slots(_) | Bell::Clock(_))) {
            self.bell = Some(Bell::of_slots(slots)?);
        }
        if self.files.is_empty() {
            let files = (0..self.ticket.most).map(|number| self.lane.open(number));
            self.files = files.collect::<io::Result<_>>()?;
        }
        for number in kept(slots, older)..self.files.len() {
            if lock::try_exclusive(&self.files[number])? {
                let file = self.files.swap_remove(number);
                return self.lane.taken(file, &self.ticket.job).map(Some);
            }
        }
        Ok(None)
    }

    /// Takes another ticket for the same place if the limit of its group has changed.
    fn heed_limit(&mut self) -> io::Result<()> {
        let changed = turns::limit_beside(&self.lane.directory);
        let Some(most) = changed.filter(|most| *most != self.ticket.most) else { return Ok(()) };
        let ticket = Ticket { job: self.ticket.job.clone(), most };
        let held = ticket.draw(&self.lane.directory)?;
        let _ = fs::remove_file(self.ticket.path(&self.lane.directory));
        (self.ticket, self.held) = (ticket, held);
        self.files.clear();
        Ok(())
    }

    /// Leaves the line. What is left to let go of can wait until the job runs: the kernel takes its
    /// time to end a watch.
    pub(super) fn leave(mut self) -> Option<Bell> {
        self.bell.take()
    }

    /// Becomes readable, or hangs up, when it is time to look again.
    pub(super) fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.bell.as_ref().map(|bell| match bell {
            Bell::Ahead(end) => end.as_fd(),
            Bell::Slots(watch) => watch.as_fd(),
            Bell::Clock(timer) => timer.as_fd(),
        })
    }

    /// Makes it silent again. One that hung up is replaced by the next look.
    pub(super) fn silence(&self) {
        match &self.bell {
            Some(Bell::Slots(watch)) => {
                watch.drain();
            }
            Some(Bell::Clock(timer)) => {
                let _ = rustix::io::read(timer, &mut [0_u8; 8]);
            }
            Some(Bell::Ahead(_)) | None => {}
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.ticket.path(&self.lane.directory));
    }
}

fn open(path: &Path) -> io::Result<File> {
    files::open_or_create(path)
}
