//! Where a path leads, seen from the process that gave it.

use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::call::{Links, Place};
use crate::plan::is_below;

/// Where a path leads.
#[derive(Debug)]
pub(super) enum Target {
    /// To something that is there, or could be made there.
    At(Found),
    /// Into the kernel's own files, where only the process itself can follow.
    Special(PathBuf),
    /// Nowhere: a part on the way is missing. The call fails by itself.
    Missing,
    /// To where we cannot look either. What is left of it is the text.
    Closed(PathBuf),
}

/// Something that is there, or could be.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path without any links, as the job sees it.
    pub(super) path: PathBuf,
    /// What it is, if it is there.
    pub(super) kind: Option<FileType>,
}

impl Found {
    pub(super) fn exists(&self) -> bool {
        self.kind.is_some()
    }

    pub(super) fn is_directory(&self) -> bool {
        self.kind == Some(FileType::Directory)
    }
}

/// Follows paths in the job's root directory.
#[derive(Debug)]
pub(super) struct Resolver {
    root: OwnedFd,
    /// Whether that is the machine's own.
    is_shared: bool,
    /// What the job sees below something hidden: the way there is closed to us, but on the machine it is the
    /// same.
    inside: Vec<PathBuf>,
}

impl Resolver {
    pub(super) fn new(root: &Path, inside: Vec<PathBuf>) -> rustix::io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let is_shared = root == Path::new("/");
        Ok(Self { root: rustix::fs::open(root, flags, Mode::empty())?, is_shared, inside })
    }

    pub(super) fn resolve(&self, thread: u32, place: &Place, links: Links) -> Target {
        let Some(text) = absolute(thread, place) else { return Target::Missing };
        let extra = match links {
            Links::Follow => OFlags::empty(),
            Links::Stay => OFlags::NOFOLLOW,
        };
        match self.open(&text, extra) {
            Ok(fd) => found(&fd),
            Err(Errno::NOENT) => self.resolve_new(&text, links, 0),
            Err(Errno::LOOP | Errno::XDEV) => Target::Special(plain(&text)),
            Err(Errno::NOTDIR | Errno::NAMETOOLONG) => Target::Missing,
            Err(_) => Target::Closed(plain(&text)),
        }
    }

    /// A path whose last part is not there yet; or is a link to where nothing is.
    fn resolve_new(&self, text: &Path, links: Links, depth: u32) -> Target {
        /// As many links as the kernel follows.
        const MOST_LINKS: u32 = 40;
        let (Some(parent), Some(name)) = (text.parent(), text.file_name()) else {
            return Target::Missing;
        };
        let parent = match self.open(parent, OFlags::DIRECTORY) {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::XDEV) => return Target::Special(plain(text)),
            Err(Errno::NOENT | Errno::NOTDIR) => return Target::Missing,
            Err(_) => return Target::Closed(plain(text)),
        };
        if links == Links::Follow
            && depth < MOST_LINKS
            && let Ok(target) = rustix::fs::readlinkat(&parent, name, Vec::new())
        {
            let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
            let Some(base) = path_of(parent.as_fd()) else { return Target::Missing };
            return self.resolve_new(&base.join(target), links, depth + 1);
        }
        match path_of(parent.as_fd()) {
            Some(base) => Target::At(Found { path: base.join(name), kind: None }),
            None => Target::Missing,
        }
    }

    fn open(&self, path: &Path, extra: OFlags) -> rustix::io::Result<OwnedFd> {
        self.look(path, extra, ResolveFlags::IN_ROOT)
    }

    fn look(&self, path: &Path, extra: OFlags, how: ResolveFlags) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | extra;
        match openat2(&self.root, path, flags, Mode::empty(), how) {
            Err(Errno::ACCESS) if self.inside.iter().any(|shown| is_below(path, shown)) => {
                openat2(CWD, path, flags, Mode::empty(), how - ResolveFlags::IN_ROOT)
            }
            done => done,
        }
    }

    /// Whether a path in its text is where the kernel gets to: no link is on the way, nor followed at its end.
    pub(super) fn is_plain(&self, path: &Path, links: Links) -> bool {
        let end = match links {
            Links::Follow => OFlags::empty(),
            Links::Stay => OFlags::NOFOLLOW,
        };
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        matches!(self.look(path, end, how), Ok(_) | Err(Errno::NOENT))
    }

    /// The thing at a path without links, to act on.
    pub(super) fn hold(&self, path: &Path) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let how = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
        openat2(&self.root, path, flags, Mode::empty(), how)
    }
}

/// The directory of a path and its name there, on the machine itself and not as the job sees it. Fails if
/// that is not the same directory.
pub(super) fn hold_parent(
    resolver: &Resolver,
    path: &Path,
) -> rustix::io::Result<(OwnedFd, OsString)> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::ACCESS);
    };
    let outside = hold_outside(parent)?;
    if !resolver.is_shared {
        same(resolver.hold(parent)?.as_fd(), outside.as_fd())?;
    }
    Ok((outside, name.to_owned()))
}

/// What a path without links means on the machine itself.
pub(super) fn hold_outside(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Fails unless both are the same file.
pub(super) fn same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let (one, other) = (rustix::fs::fstat(one)?, rustix::fs::fstat(other)?);
    if (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino) {
        Ok(())
    } else {
        Err(Errno::ACCESS)
    }
}

fn found(fd: &OwnedFd) -> Target {
    let kind = rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode));
    match (path_of(fd.as_fd()), kind) {
        (Some(path), Ok(kind)) => Target::At(Found { path, kind: Some(kind) }),
        _ => Target::Missing,
    }
}

/// The path of something open; the kernel's name for what has none.
pub(super) fn path_of(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).ok()
}

/// The text of a path from the root on.
fn absolute(thread: u32, place: &Place) -> Option<PathBuf> {
    let path = Path::new(std::ffi::OsStr::from_bytes(&place.path));
    if path.is_absolute() {
        return Some(path.to_owned());
    }
    let base = match place.directory {
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        fd => format!("/proc/{thread}/fd/{fd}"),
    };
    let base = fs::read_link(base).ok().filter(|base| base.is_absolute())?;
    Some(if place.path.is_empty() { base } else { base.join(path) })
}

/// A path without `.` and `..`, as far as its text tells.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}
