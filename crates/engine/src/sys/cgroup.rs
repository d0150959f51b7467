//! Control groups: one per job where this user may make them.
//!
//! Version 2 is found by its mount, never assumed at `/sys/fs/cgroup`: on a hybrid machine it is
//! elsewhere and has no controllers. Containment needs only version 2 without any controller;
//! limits use version 2 controllers where they can be enabled and version 1 hierarchies otherwise.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::process::Pid;

use crate::clock;
use crate::sys::procfs;

/// A version 2 group that holds the processes of one job and nothing else.
pub(crate) struct Cgroup {
    path: PathBuf,
    directory: OwnedFd,
    /// Where the kernel says whether a process is in it; opened when that is first asked.
    events: OnceLock<Option<File>>,
    /// Where it says how much memory they had at the most, likewise.
    peak: OnceLock<Option<File>>,
    /// The files of [`AS_MADE`]; opened when they are first compared.
    settings: OnceLock<Option<Vec<File>>>,
}

/// What the files of a group have among their lines as long as no process in it has changed anything: nothing
/// at all where no line is named. A group with controllers has settings besides these, so it is never "as
/// made".
const AS_MADE: [(&str, &[&[u8]]); 7] = [
    ("cgroup.controllers", &[]),
    ("cgroup.freeze", &[b"0"]),
    ("cgroup.max.depth", &[b"max"]),
    ("cgroup.max.descendants", &[b"max"]),
    ("cgroup.stat", &[b"nr_descendants 0", b"nr_dying_descendants 0"]),
    ("cgroup.subtree_control", &[]),
    ("cgroup.type", &[b"domain"]),
];
/// Longer than what any of them says.
const LONGEST_SETTING: usize = 1024;

impl Cgroup {
    /// Makes a group `name` below the one this process is in. `note` hears of it first.
    pub(crate) fn create(
        name: &str,
        note: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        let path = Self::named(name)?;
        note(&path)?;
        fs::create_dir(&path)?;
        let group = Self::open(path.clone()).inspect_err(|_| {
            let _ = fs::remove_dir(&path);
        })?;
        if !group.can_kill() {
            group.remove();
            return Err(io::Error::new(io::ErrorKind::Unsupported, "no cgroup.kill"));
        }
        Ok(group)
    }

    /// Where a group of that name is, if this process made one.
    pub(crate) fn named(name: &str) -> io::Result<PathBuf> {
        Ok(own_v2()?.join(name))
    }

    /// Opens a group that exists.
    pub(crate) fn open(path: PathBuf) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        let directory = open(&path, flags, Mode::empty())?;
        let (events, peak, settings) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { path, directory, events, peak, settings })
    }

    /// For `CLONE_INTO_CGROUP`.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is one whose processes can be killed at once: not every kernel that has version 2
    /// can (5.14 can).
    pub(crate) fn can_kill(&self) -> bool {
        self.path.join("cgroup.kill").exists()
    }

    /// Kills every process in it, also those being forked at this moment.
    pub(crate) fn kill(&self) -> io::Result<()> {
        fs::write(self.path.join("cgroup.kill"), "1")
    }

    /// The most memory its processes had at once, where somebody counts it.
    pub(crate) fn memory_peak(&self) -> Option<u64> {
        let peak = self.peak.get_or_init(|| self.open_file("memory.peak").ok()).as_ref()?;
        let mut text = [0; LONGEST_SETTING];
        let length = peak.read_at(&mut text, 0).ok()?;
        str::from_utf8(&text[..length]).ok()?.trim().parse().ok()
    }

    /// Holds every process in it where it is, as far as that is done by the deadline.
    pub(crate) fn freeze(&self, deadline: Instant) {
        if fs::write(self.path.join("cgroup.freeze"), "1").is_ok() {
            await_event(&self.path, "frozen 1", deadline);
        }
    }

    /// Whether all of them stand still.
    pub(crate) fn is_frozen(&self) -> bool {
        fs::read_to_string(self.path.join("cgroup.events"))
            .is_ok_and(|events| events.lines().any(|line| line == "frozen 1"))
    }

    /// Lets them go on.
    pub(crate) fn thaw(&self) {
        let _ = fs::write(self.path.join("cgroup.freeze"), "0");
    }

    /// The processes in it and in groups below it.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let mut found = Vec::new();
        collect_processes(&self.path, &mut found);
        found
    }

    /// Whether a living process is in it; a zombie is not.
    pub(crate) fn is_populated(&self) -> bool {
        let events = self.events.get_or_init(|| self.open_file("cgroup.events").ok());
        let mut text = [0; LONGEST_SETTING];
        events.as_ref().and_then(|events| events.read_at(&mut text, 0).ok()).is_some_and(|length| {
            text[..length].split(|byte| *byte == b'\n').any(|line| line == b"populated 1")
        })
    }

    /// Whether the group is as it was when it was made, as far as a process in it could have changed it: no
    /// process is in it, no group below it, and every setting has its first value.
    pub(crate) fn is_as_made(&self) -> bool {
        let open = || AS_MADE.iter().map(|(name, _)| self.open_file(name).ok()).collect();
        let Some(settings) = self.settings.get_or_init(open) else { return false };
        let mut text = [0; LONGEST_SETTING];
        let mut says = |file: &File, wanted: &[&[u8]]| {
            let Ok(length) = file.read_at(&mut text, 0) else { return false };
            let has =
                |line: &&[u8]| text[..length].split(|byte| *byte == b'\n').any(|l| l == *line);
            if wanted.is_empty() { length == 0 } else { wanted.iter().all(has) }
        };
        settings.iter().zip(AS_MADE).all(|(file, (_, wanted))| says(file, wanted))
            && !self.is_populated()
    }

    fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(openat(&self.directory, name, flags, Mode::empty())?.into())
    }

    /// Whether the kernel says by the deadline that no process is in it: it may hear of the last one's end
    /// a moment after that one's parent did.
    pub(crate) fn is_empty_by(&self, deadline: Instant) -> bool {
        if !self.is_populated() {
            return true;
        }
        await_event(&self.path, "populated 0", deadline);
        !self.is_populated()
    }

    /// Whether it was removed.
    pub(crate) fn is_gone(&self) -> bool {
        !self.path.exists()
    }

    /// Removes it, with groups the job itself made below it, if no process is left in them.
    pub(crate) fn remove(&self) {
        remove_group(&self.path, None);
    }
}

/// Removes a group of a job, with groups below it. While a process is in one, its end is waited for,
/// at most until the deadline. Whether it is gone.
pub(crate) fn remove_group(path: &Path, deadline: Option<Instant>) -> bool {
    // The path may come from a damaged file: nothing but a group of ours is touched.
    let is_ours =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"umbo-"));
    if !is_ours || !path.join("cgroup.procs").exists() || remove_tree(path).is_ok() {
        return true;
    }
    if let Some(deadline) = deadline {
        await_event(path, "populated 0", deadline);
    }
    remove_tree(path).is_ok() || !path.exists()
}

/// Waits until the kernel says something of a group, at most until the deadline. Version 1 says
/// nothing; there a later look must do.
fn await_event(path: &Path, line: &str, deadline: Instant) {
    let Ok(events) = File::open(path.join("cgroup.events")) else { return };
    let mut text = [0; 256];
    while let Ok(length) = events.read_at(&mut text, 0) {
        let timeout = clock::until(deadline);
        let mut fds = [PollFd::new(&events, PollFlags::PRI)];
        let is_said = String::from_utf8_lossy(&text[..length]).lines().any(|said| said == line);
        if is_said || !matches!(poll(&mut fds, Some(&timeout)), Ok(ready) if ready > 0) {
            return;
        }
    }
}

fn collect_processes(group: &Path, found: &mut Vec<Pid>) {
    if let Ok(list) = fs::read_to_string(group.join("cgroup.procs")) {
        found.extend(list.lines().filter_map(|pid| pid.parse().ok().and_then(Pid::from_raw)));
    }
    for child in child_groups(group) {
        collect_processes(&child, found);
    }
}

fn remove_tree(group: &Path) -> io::Result<()> {
    for child in child_groups(group) {
        remove_tree(&child)?;
    }
    fs::remove_dir(group)
}

fn child_groups(group: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(group) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// What a job may use at most.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
    pub(crate) cpu_percent: Option<u32>,
}

impl Bounds {
    pub(crate) fn is_empty(&self) -> bool {
        self.memory_bytes.is_none() && self.processes.is_none() && self.cpu_percent.is_none()
    }
}

/// Hears of a group that is about to be made.
pub(crate) type Note<'a> = &'a dyn Fn(&Path) -> io::Result<()>;

/// Groups that enforce bounds, and the files a child joins them through.
pub(crate) struct Enforcer {
    groups: Vec<Group>,
    /// Bounds no control group on this machine can enforce.
    pub(crate) missing: Vec<&'static str>,
}

struct Group {
    path: PathBuf,
    /// `None` when the child is born in it.
    join: Option<File>,
}

impl Enforcer {
    /// Applies `bounds` to the job's own group where its controllers are enabled, and makes
    /// version 1 groups `name` for the rest. `note` hears of each before it is made.
    pub(crate) fn new(bounds: Bounds, own: Option<&Cgroup>, name: &str, note: Note<'_>) -> Self {
        let mut enforcer = Self { groups: Vec::new(), missing: Vec::new() };
        if let Some(bytes) = bounds.memory_bytes {
            let text = bytes.to_string();
            enforcer.bound(
                "memory",
                own,
                name,
                note,
                &[("memory.max", &text)],
                &[
                    ("memory.limit_in_bytes", &text),
                    // Only where swap is accounted; without it the first line is the whole limit.
                    ("?memory.memsw.limit_in_bytes", &text),
                ],
            );
        }
        if let Some(processes) = bounds.processes {
            let text = processes.to_string();
            let file = [("pids.max", text.as_str())];
            enforcer.bound("pids", own, name, note, &file, &file);
        }
        if let Some(percent) = bounds.cpu_percent {
            let quota = (u64::from(percent) * 1000).max(1000).to_string();
            let v2 = format!("{quota} 100000");
            enforcer.bound(
                "cpu",
                own,
                name,
                note,
                &[("cpu.max", &v2)],
                &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", &quota)],
            );
        }
        enforcer
    }

    fn bound(
        &mut self,
        controller: &'static str,
        own: Option<&Cgroup>,
        name: &str,
        note: Note<'_>,
        v2: &[(&str, &str)],
        v1: &[(&str, &str)],
    ) {
        if let Some(group) = own {
            if let Some(parent) = group.path.parent() {
                let _ = fs::write(parent.join("cgroup.subtree_control"), format!("+{controller}"));
            }
            if write_all(&group.path, v2).is_ok() {
                self.groups.push(Group { path: group.path.clone(), join: None });
                return;
            }
        }
        let made = own_v1(controller).and_then(|parent| {
            let path = parent.join(name);
            note(&path)?;
            match fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            write_all(&path, v1)?;
            let join = File::options().write(true).open(path.join("cgroup.procs"))?;
            Ok(Group { path, join: Some(join) })
        });
        match made {
            Ok(group) => self.groups.push(group),
            Err(_) => self.missing.push(controller),
        }
    }

    /// In the child: joins the version 1 groups. Only writes; allocates nothing.
    pub(crate) fn join(&self) -> io::Result<()> {
        for file in self.groups.iter().filter_map(|group| group.join.as_ref()) {
            rustix::io::write(file, b"0")?;
        }
        Ok(())
    }

    /// Whether the kernel killed a process of the job for exceeding its memory.
    pub(crate) fn memory_struck(&self) -> bool {
        self.counter(&["memory.events", "memory.oom_control"], "oom_kill ")
    }

    /// Whether the kernel refused a fork for exceeding the number of processes.
    pub(crate) fn processes_struck(&self) -> bool {
        self.counter(&["pids.events"], "max ")
    }

    /// The most memory the job's processes had at once, where it is bounded.
    pub(crate) fn memory_peak(&self) -> Option<u64> {
        let files = ["memory.peak", "memory.max_usage_in_bytes"];
        let read =
            |group: &Group| files.iter().find_map(|file| read_number(&group.path.join(file)));
        self.groups.iter().find_map(read)
    }

    fn counter(&self, files: &[&str], key: &str) -> bool {
        self.groups.iter().any(|group| {
            files.iter().any(|file| {
                fs::read_to_string(group.path.join(file)).is_ok_and(|text| {
                    text.lines().any(|line| line.strip_prefix(key).is_some_and(|n| n != "0"))
                })
            })
        })
    }

    /// Removes the groups it made.
    pub(crate) fn remove(&self) {
        for group in self.groups.iter().filter(|group| group.join.is_some()) {
            remove_group(&group.path, None);
        }
    }
}

fn read_number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn write_all(group: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    for (file, value) in files {
        match file.strip_prefix('?') {
            Some(optional) => {
                let _ = fs::write(group.join(optional), value);
            }
            None => File::options()
                .write(true)
                .open(group.join(file))
                .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))?,
        }
    }
    Ok(())
}

/// The directory of the version 2 group this process was in when it first asked.
pub(crate) fn own_v2() -> io::Result<PathBuf> {
    static FOUND: OnceLock<Result<PathBuf, &'static str>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let relative = own_path("").ok_or("this process is in no cgroup v2")?;
        mounted("cgroup2", None, &relative).ok_or("cgroup v2 is not mounted")
    });
    found.clone().map_err(unsupported)
}

fn own_v1(controller: &str) -> io::Result<PathBuf> {
    let missing = || unsupported("that controller is not mounted");
    let relative = own_path(controller).ok_or_else(missing)?;
    mounted("cgroup", Some(controller), &relative).ok_or_else(missing)
}

fn unsupported(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why)
}

/// The path of this process in a hierarchy: `""` names version 2, else a version 1 controller.
fn own_path(controller: &str) -> Option<String> {
    let text = procfs::text("/proc/self/cgroup").ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        controllers.split(',').any(|c| c == controller).then(|| path.to_owned())
    })
}

/// Where a group of a hierarchy is visible, from the mount table.
fn mounted(kind: &str, controller: Option<&str>, relative: &str) -> Option<PathBuf> {
    let table = procfs::text("/proc/self/mountinfo").ok()?;
    table.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let (found, options) = (right.next()?, right.nth(1)?);
        let wanted = controller.is_none_or(|c| options.split(',').any(|option| option == c));
        if found != kind || !wanted {
            return None;
        }
        let mut left = left.split(' ').skip(3);
        let (root, point) = (left.next()?, left.next()?);
        let below = Path::new(relative).strip_prefix(root).ok()?;
        Some(Path::new(point).join(below))
    })
}
