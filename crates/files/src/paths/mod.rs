//! From what a caller wrote to an open file whose place is known.
//!
//! A path is opened first (`O_PATH`: no side effect, not even on a pipe or a device), then the
//! kernel is asked where the open file is, then that place is decided about, and then the same open
//! file is used. So there is no time between the check and the use in which a link could be
//! exchanged.

mod spelling;
mod suffix;
mod target;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::guard::{AccessKind, Place};
use crate::{Call, Error, Session};

#[cfg(any(feature = "databases", feature = "documents"))]
pub(crate) use spelling::percent_decoded_text;
pub use spelling::{escape_bytes, shown, unescape};
pub(crate) use target::{Before, Target};

/// How a path was found when not as it was written.
#[derive(
    Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// In another spelling: without quotes or escapes, or with other Unicode characters.
    Spelling,
    /// As the only file of the project whose path ends so.
    Suffix,
}

/// An open file, and where it is.
pub(crate) struct Located {
    fd: OwnedFd,
    /// Without links, absolute.
    pub(crate) real: PathBuf,
    pub(crate) stat: Stat,
    /// As answers name it.
    pub(crate) shown: String,
    pub(crate) found_by: Option<FoundBy>,
}

impl Located {
    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind() == FileType::Directory
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or_default()
    }

    /// The file for reading; a pipe, socket or device is refused.
    pub(crate) fn open(&self) -> Result<File, Error> {
        if self.kind() != FileType::RegularFile {
            let (path, is) = (self.shown.clone(), kind_name(self.kind()));
            return Err(Error::WrongKind { path, is, wanted: "regular file" });
        }
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        options.open(link_of(self.fd.as_fd())).map_err(Error::io("open", &self.shown))
    }

    /// A regular file below this directory, for reading.
    pub(crate) fn open_beneath(&self, path: &Path) -> io::Result<File> {
        let relative = path.strip_prefix(&self.real).map_err(|_| Errno::XDEV)?;
        open_beneath(self.fd.as_fd(), relative)
    }
}

/// What a kind of file is called.
pub(crate) fn kind_name(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "regular file",
        FileType::Directory => "directory",
        FileType::Symlink => "symbolic link",
        FileType::Fifo => "named pipe",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "file of unknown kind",
    }
}

/// The name under which the kernel knows an open file.
fn link_of(fd: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()))
}

/// Where an open file is.
fn place_of(fd: BorrowedFd<'_>) -> io::Result<PathBuf> {
    std::fs::read_link(link_of(fd))
}

/// Opens without reading, following links, and says where that led.
fn open_at(path: &Path) -> io::Result<(OwnedFd, PathBuf, Stat)> {
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let stat = rustix::fs::fstat(&fd)?;
    let real = place_of(fd.as_fd())?;
    // A file that was just removed is named "… (deleted)": that is no place.
    if stat.st_nlink == 0 {
        return Err(Errno::NOENT.into());
    }
    Ok((fd, real, stat))
}

/// Opens a regular file below an open directory for reading, through no link at all.
fn open_beneath(directory: BorrowedFd<'_>, relative: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match rustix::fs::openat2(directory, relative, flags, Mode::empty(), resolve) {
        Ok(fd) => Ok(File::from(fd)),
        // Kernels before 5.6, and filters that do not know the call: ask where it led instead.
        Err(Errno::NOSYS | Errno::PERM) => {
            let file = File::from(rustix::fs::openat(directory, relative, flags, Mode::empty())?);
            let wanted = place_of(directory)?.join(relative);
            if place_of(file.as_fd())? == wanted { Ok(file) } else { Err(Errno::LOOP.into()) }
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether nothing is there. A file where a directory should be counts: nothing can be below it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Session {
    /// The path that a caller means, absolute; `~` and `file://` expanded.
    pub(crate) fn absolute(&self, input: &str) -> Result<PathBuf, Error> {
        if input.is_empty() {
            return Err(Error::bad("path", input, "a path is needed, such as \"src/main.rs\""));
        }
        if input.contains('\0') {
            return Err(Error::bad("path", input, "a path has no NUL character"));
        }
        let path = match (input.strip_prefix("file://"), input.strip_prefix('~')) {
            (Some(rest), _) => spelling::percent_decoded(rest.trim_start_matches("localhost")),
            (None, Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
                let home = self.workspace.home().ok_or_else(|| {
                    Error::bad("path", input, "`~` has no meaning here; write an absolute path")
                })?;
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(input),
        };
        Ok(self.workspace.cwd().join(path))
    }

    /// Opens what is at a path, in the spelling given or a near one, if it may be used so.
    pub(crate) fn locate(&self, input: &str, kind: AccessKind) -> Result<Located, Error> {
        let located = self.locate_unchecked(input)?;
        self.permit(kind, &located.real)?;
        Ok(located)
    }

    /// The same; and if nothing is there, the only file of the project whose path ends so.
    pub(crate) fn locate_or_suffix(
        &self,
        input: &str,
        kind: AccessKind,
        call: &Call,
    ) -> Result<Located, Error> {
        match self.locate(input, kind) {
            Err(Error::NotFound { path, .. }) => {
                let nearest = match suffix::find(self, input, call)? {
                    suffix::Found::One(only) => {
                        let mut located = self.locate_exactly(&only)?;
                        self.permit(kind, &located.real)?;
                        located.found_by = Some(FoundBy::Suffix);
                        return Ok(located);
                    }
                    suffix::Found::Several(nearest) => nearest,
                };
                Err(Error::NotFound { path, nearest })
            }
            other => other,
        }
    }

    fn locate_unchecked(&self, input: &str) -> Result<Located, Error> {
        let exact = self.absolute(input)?;
        match self.locate_exactly(&exact) {
            Err(Error::NotFound { .. }) => {}
            other => return other,
        }
        for other in spelling::variants(input) {
            let path = self.workspace.cwd().join(self.absolute_bytes(&other)?);
            if let Ok(mut located) = self.locate_exactly(&path) {
                located.found_by = Some(FoundBy::Spelling);
                return Ok(located);
            }
        }
        self.may_know_missing(&exact)?;
        Err(Error::NotFound { path: input.to_owned(), nearest: Vec::new() })
    }

    fn absolute_bytes(&self, bytes: &[u8]) -> Result<PathBuf, Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.is_empty() => self.absolute(text),
            _ => Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()))),
        }
    }

    pub(crate) fn locate_exactly(&self, path: &Path) -> Result<Located, Error> {
        let name = self.workspace.shown(path);
        match open_at(path) {
            Ok((fd, real, stat)) => {
                let shown = self.workspace.shown(&real);
                Ok(Located { fd, real, stat, shown, found_by: None })
            }
            Err(error) if is_missing(&error) => {
                Err(Error::NotFound { path: name, nearest: Vec::new() })
            }
            Err(error) => Err(Error::io("open", name)(error)),
        }
    }

    /// That nothing is there is also something to know: outside the roots, the guard is asked.
    fn may_know_missing(&self, path: &Path) -> Result<(), Error> {
        let path = flattened(path);
        match self.workspace.place(&path) {
            Place::Inside(_) => Ok(()),
            Place::Outside => self.permit(AccessKind::Read, &path),
        }
    }
}

/// Without `.` and `..`, by its words alone.
fn flattened(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                flat.pop();
            }
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    flat
}
