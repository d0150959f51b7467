//! What a supervisor prepares before it knows its job, so that taking one costs little: the
//! directory with its files, the lock, the socket, the control group and the pipes.
//!
//! The directory lies in `spares/` until the job comes; then one rename makes it the job's. Nobody
//! ever sees a job directory that is half made.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{Mode, OFlags, RenameFlags, openat, renameat, renameat_with};
use rustix::net::{SocketFlags, accept_with};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use umbo_sandbox::Sandbox;

use super::child::Launcher;
use super::pumping::CHUNK;
use crate::catalog::Appender;
use crate::event::Journal;
use crate::exit_record::Draft;
use crate::groups;
use crate::id::JobId;
use crate::log::{INDEX, INDEX_MAGIC, LogWriter, OUTPUT};
use crate::names;
use crate::prune::Counter;
use crate::request::OutputLimit;
use crate::state::{Identity, JobDir, ProcessId, State};
use crate::sys::cgroup::Cgroup;
use crate::sys::{lock, process, procfs, socket};
use crate::wire::Afterwards;

/// The file whose lock says that the supervisor lives.
const LOCK: &str = "lock";
/// The socket where others ask for the job.
const SOCKET: &str = "sock";
/// A supervisor that had so many jobs ends.
const MOST_JOBS: u32 = 1000;

/// A prepared place for a job.
pub(super) struct PreparedJob {
    /// Where it is now.
    pub(super) path: PathBuf,
    /// The directory itself, which stays the same when it is renamed.
    pub(super) directory: Rc<OwnedFd>,
    #[expect(dead_code, reason = "held for the life of the job, and never looked at")]
    lock: File,
    pub(super) cgroup: Option<Cgroup>,
    pub(super) journal: Journal,
    catalog: Appender,
    pub(super) signals: OwnedFd,
    /// For the command's output, until it has them.
    pub(super) pipes: Option<Pipes>,
    /// For commands that read nothing.
    pub(super) null: Rc<OwnedFd>,
    pub(super) launcher: Launcher,
    /// Walls for the job that is expected, if one with walls is.
    pub(super) sandbox: Option<Sandbox>,
    /// Who supervises, beyond doubt.
    identity: Option<Identity>,
    /// What a record says of that if it stays the same from job to job.
    lasting_identity: Vec<u8>,
    files: JobFiles,
    /// Where its control groups are written down.
    groups: File,
    /// The caller's, for the command.
    pub(super) umask: Mode,
    /// What output is read into.
    pub(super) buffer: Vec<u8>,
    /// How much ended jobs take.
    pub(super) retained: Counter,
    /// The number of the slot that its supervisor had last: likely to be free.
    pub(super) last_turn: usize,
    /// How many jobs its supervisor had before.
    jobs: u32,
}

/// Where a job is prepared, so far a directory with a lock.
pub(super) struct Place {
    path: PathBuf,
    directory: Rc<OwnedFd>,
    kept: Kept,
}

/// What the keeper of a prepared job holds on to. Nothing else: an end of a pipe or of the socket in its
/// hands would keep others waiting for a supervisor that is dead, and a directory would pass for its job's.
pub(super) struct Kept {
    /// The name of the first job's place.
    name: String,
    /// It goes from job to job with the supervisor, so where it lies is the job.
    lock: File,
}

impl Place {
    /// Makes one.
    pub(super) fn make(state: &State) -> io::Result<Self> {
        let name = JobId::generate().to_string();
        let path = state.spares().join(&name);
        fs::create_dir(&path)?;
        let locked = || {
            let directory = open_directory(&path)?;
            let lock = create(&directory, LOCK)?;
            lock::try_exclusive(&lock)?;
            io::Result::Ok((directory, lock))
        };
        let (directory, lock) = locked().inspect_err(|_| discard(&path))?;
        Ok(Self { path, directory, kept: Kept { name, lock } })
    }

    /// In the keeper: lets go of all that is the supervisor's.
    pub(super) fn keep(self) -> Kept {
        self.kept
    }
}

impl Kept {
    /// The directory of the job, or of the spare, that the supervisor has now.
    pub(super) fn path(&self) -> Option<PathBuf> {
        let lock = fs::read_link(format!("/proc/self/fd/{}", self.lock.as_raw_fd())).ok()?;
        Some(lock.parent()?.to_owned())
    }

    /// The control groups of that job whose processes can be killed at once.
    pub(super) fn groups(&self, state: &State) -> Vec<Cgroup> {
        let listed = self.path().map(|path| groups::of(&JobDir::at(path))).unwrap_or_default();
        // Should the list be damaged: the one that was made here.
        let first = Cgroup::named(&state.group_name(&self.name)).ok();
        let paths: BTreeSet<PathBuf> = listed.into_iter().chain(first).collect();
        let groups = paths.into_iter().filter_map(|path| Cgroup::open(path).ok());
        groups.filter(Cgroup::can_kill).collect()
    }
}

/// The directory of a supervisor's next job, so far with the socket alone.
pub(super) struct NextPlace {
    name: String,
    path: PathBuf,
    directory: Rc<OwnedFd>,
}

impl NextPlace {
    /// No other job comes.
    pub(super) fn discard(&self) {
        let _ = groups::discard(&self.path, None);
    }
}

/// The files that every job has for itself.
struct JobFiles {
    request: Rc<File>,
    output: Rc<File>,
    index: Rc<File>,
    exit_record: Draft,
    listener: OwnedFd,
}

impl JobFiles {
    /// Makes them, but for the socket if there is one already.
    fn create(directory: &Rc<OwnedFd>, listener: Option<OwnedFd>) -> io::Result<Self> {
        let mut index = create(directory, INDEX)?;
        index.write_all(INDEX_MAGIC)?;
        Ok(Self {
            request: Rc::new(create(directory, "request")?),
            output: Rc::new(create(directory, OUTPUT)?),
            index: Rc::new(index),
            exit_record: Draft::create(Rc::clone(directory))?,
            listener: listener.map_or_else(|| socket::listen_at(directory, SOCKET), Ok)?,
        })
    }
}

fn create(directory: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::APPEND | OFlags::CLOEXEC;
    Ok(openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Removes a half-made place, which is nobody's; where even that fails, a sweep finds it.
fn discard(path: &Path) {
    let _ = groups::discard(path, None);
}

fn open_directory(path: &Path) -> io::Result<Rc<OwnedFd>> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(Rc::new(rustix::fs::open(path, flags, Mode::empty())?))
}

/// What the catalog says of a job.
pub(super) struct NewJob<'a> {
    pub(super) id: &'a JobId,
    pub(super) name: Option<&'a str>,
    pub(super) owner: Option<&'a str>,
}

/// What a command writes into that has no terminal. Whoever reads never waits.
pub(super) struct Pipes {
    pub(super) stdout: Pipe,
    pub(super) stderr: Pipe,
}

impl Pipes {
    fn new() -> io::Result<Self> {
        let pipes = Self { stdout: Pipe::new()?, stderr: Pipe::new()? };
        rustix::io::ioctl_fionbio(&pipes.stdout.read, true)?;
        rustix::io::ioctl_fionbio(&pipes.stderr.read, true)?;
        Ok(pipes)
    }
}

/// A pipe's two ends.
pub(super) struct Pipe {
    pub(super) read: OwnedFd,
    pub(super) write: OwnedFd,
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { read, write })
    }
}

impl PreparedJob {
    /// Puts into a new place what a job needs.
    pub(super) fn prepare(state: &State, umask: Mode, place: Place) -> io::Result<Self> {
        let path = place.path.clone();
        Self::fill(state, umask, place).inspect_err(|_| discard(&path))
    }

    fn fill(state: &State, umask: Mode, place: Place) -> io::Result<Self> {
        let Place { path, directory, kept: Kept { name, lock } } = place;
        let list = create(&directory, groups::LIST)?;
        let note = |group: &Path| groups::note(&list, group);
        let cgroup = Cgroup::create(&state.group_name(&name), note).ok();
        Ok(Self {
            files: JobFiles::create(&directory, None)?,
            cgroup,
            groups: list,
            journal: Journal::open(&state.events())?,
            catalog: Appender::open(state)?,
            signals: process::signal_fd()?,
            pipes: Some(Pipes::new()?),
            null: Rc::new(File::open("/dev/null")?.into()),
            launcher: Launcher::new()?,
            sandbox: None,
            identity: None,
            lasting_identity: Vec::new(),
            buffer: vec![0; CHUNK],
            retained: Counter::default(),
            last_turn: 0,
            lock,
            path,
            directory,
            umask,
            jobs: 0,
        })
    }

    /// Whether the supervisor can take another job after this one.
    pub(super) fn may_serve_again(&self) -> bool {
        let keeper = self.identity.as_ref().and_then(|identity| identity.keeper);
        let parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
        keeper.is_some_and(|keeper| parent == Some(keeper.pid)) && self.jobs < MOST_JOBS
    }

    /// Makes a place for the next job and takes the socket there: it is gone from this job, which says that
    /// the journal has all there is to say. Whoever came to it for this job is sent away.
    pub(super) fn leave(&self, state: &State, job: &JobId) -> io::Result<NextPlace> {
        let name = JobId::generate().to_string();
        let path = state.spares().join(&name);
        fs::create_dir(&path)?;
        let next = NextPlace { directory: open_directory(&path)?, name, path };
        renameat(&self.directory, SOCKET, &next.directory, SOCKET)
            .inspect_err(|_| next.discard())?;
        // Nobody comes any more: who connects afterwards sees that the socket is elsewhere.
        while accept_with(&self.files.listener, SocketFlags::CLOEXEC).is_ok() {}
        self.catalog.mark_ended(state, job);
        Ok(next)
    }

    /// Prepares for another job. What the last one has no more use for goes along: the lock, by which
    /// the keeper knows where the supervisor is, the list of groups, and its control group, if that is as it
    /// was made.
    pub(super) fn renew(
        self,
        state: &State,
        next: NextPlace,
        group: Option<Cgroup>,
    ) -> io::Result<Self> {
        let path = next.path.clone();
        self.renew_in(state, next, group).inspect_err(|_| {
            let _ = groups::discard(&path, None);
        })
    }

    fn renew_in(
        mut self,
        state: &State,
        next: NextPlace,
        group: Option<Cgroup>,
    ) -> io::Result<Self> {
        let NextPlace { name, path, directory } = next;
        // The lock last: until then the keeper looks after the job that was.
        for file in [groups::LIST, LOCK] {
            renameat(&self.directory, file, &directory, file)?;
        }
        let cgroup = if group.is_some() {
            group
        } else {
            self.groups.set_len(0)?;
            let note = |group: &Path| groups::note(&self.groups, group);
            Cgroup::create(&state.group_name(&name), note).ok()
        };
        if let Some(identity) = &mut self.identity {
            identity.cgroup = cgroup.as_ref().map(|group| group.path().to_owned());
        }
        if !self.journal.is_in_place() {
            self.journal = Journal::open(&state.events())?;
        }
        // What was meant for the last job is not for the next.
        drop(process::next_signals(self.signals.as_fd()));
        self.launcher.reset();
        let files = JobFiles::create(&directory, Some(self.files.listener))?;
        let (pipes, jobs) = (Some(Pipes::new()?), self.jobs + 1);
        Ok(Self { path, directory, cgroup, pipes, files, jobs, ..self })
    }

    /// How much the files take that stay when the others go to the next job.
    pub(super) fn disk_use(&self) -> u64 {
        let JobFiles { request, output, index, exit_record, .. } = &self.files;
        let files = [&**request, output, index, exit_record.file()];
        let taken = |file: &File| file.metadata().map_or(0, |meta| meta.blocks() * 512);
        files.into_iter().map(taken).sum()
    }

    /// Makes this the directory of a job. `false` if there is such a job already.
    pub(super) fn become_job(&mut self, state: &State, job: &NewJob<'_>) -> io::Result<bool> {
        let NewJob { id, name, owner } = *job;
        // First: a job that exists is in the catalog.
        self.catalog.add(state, id, owner)?;
        if let Some(name) = name {
            names::add(state, name, id)?;
        }
        let target = state.job(id).path().to_owned();
        let here = rustix::fs::CWD;
        match renameat_with(here, &self.path, here, &target, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.path = target;
                Ok(true)
            }
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::NOTEMPTY) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Where others ask for the job.
    pub(super) fn listener(&self) -> &OwnedFd {
        &self.files.listener
    }

    /// The writer of its log; there is one.
    pub(super) fn log(&self, limit: Option<OutputLimit>) -> LogWriter {
        let (output, index) = (Rc::clone(&self.files.output), Rc::clone(&self.files.index));
        LogWriter::new(output, index, Rc::clone(&self.directory), limit)
    }

    /// Writes down a control group that is about to be made for the job.
    pub(super) fn note_group(&self, group: &Path) -> io::Result<()> {
        groups::note(&self.groups, group)
    }

    /// The file of the request, empty so far: to make one when a job comes could take longer than
    /// the job.
    pub(super) fn request(&self) -> Rc<File> {
        Rc::clone(&self.files.request)
    }

    /// Notes that this process is the one that supervises, and which one waits for it.
    pub(super) fn identify(&mut self, keeper: Option<Pid>) {
        let id = |pid: Pid| ProcessId {
            pid: pid.as_raw_nonzero().get(),
            start_time: procfs::start_time(pid).unwrap_or(0),
        };
        let mut identity = Identity {
            process: id(rustix::process::getpid()),
            keeper: keeper.map(id),
            boot_id: procfs::boot_id().unwrap_or_default(),
            cgroup: None,
        };
        self.lasting_identity = serde_json::to_vec(&identity).unwrap_or_default();
        identity.cgroup = self.cgroup.as_ref().map(|group| group.path().to_owned());
        self.identity = Some(identity);
    }

    /// What the record of a job says of its supervisor. The group of one that gets ready for another job may be
    /// that one's by the time that somebody reads this: the list of groups tells.
    pub(super) fn identity(&self, afterwards: Afterwards) -> io::Result<Cow<'_, [u8]>> {
        match afterwards {
            Afterwards::Return => Ok(Cow::Borrowed(&self.lasting_identity)),
            Afterwards::End => Ok(Cow::Owned(serde_json::to_vec(&self.identity)?)),
        }
    }

    /// Puts the text of the exit record on disk. `false` if one is there already: it stands.
    pub(super) fn conclude(&self, text: &[u8]) -> io::Result<bool> {
        self.files.exit_record.publish(text)
    }

    /// Removes the socket, which says that the journal has all there is to say.
    pub(super) fn remove_socket(&self, state: &State, job: &JobId) {
        let _ = rustix::fs::unlinkat(&self.directory, SOCKET, rustix::fs::AtFlags::empty());
        self.catalog.mark_ended(state, job);
    }

    /// Undoes the preparation: no job came.
    pub(super) fn abandon(&self) {
        let _ = groups::discard(&self.path, None);
    }
}
