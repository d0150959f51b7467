//! A place to be written: an open directory and a name in it, whether or not the file exists yet.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::{Located, flattened, is_missing, kind_name, link_of, open_at};
use crate::guard::AccessKind;
use crate::seen::SeenStamp;
use crate::{Error, Session};

/// The largest file that is changed; it is held in memory, twice.
const LARGEST_CHANGED_BYTES: u64 = 64 << 20;
const LINKS_FOLLOWED: usize = 16;

/// Where a file is or will be. Nothing is made until it is staged.
pub(crate) struct Target {
    /// The directory, or the innermost one above it that exists.
    directory: OwnedFd,
    /// Directories between it and the file, which do not exist yet.
    missing: Vec<OsString>,
    name: OsString,
    /// Without links, absolute.
    pub(crate) real: PathBuf,
    pub(crate) shown: String,
}

/// A file as it was when it was read.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
    stat: Stamp,
    seen_stamp: SeenStamp,
    owner: (u32, u32),
    pub(crate) hard_links: u64,
}

impl Before {
    pub(crate) fn seen_stamp(&self) -> SeenStamp {
        self.seen_stamp
    }
}

/// By what a file is known to be the same and unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl Session {
    /// The place that a caller wants to change. A link leads to what it points at.
    pub(crate) fn target(&self, input: &str, kind: AccessKind) -> Result<Target, Error> {
        let target = match self.locate_unchecked(input) {
            Ok(located) => self.existing(&located)?,
            Err(Error::NotFound { .. }) => self.new_file(&self.absolute(input)?, LINKS_FOLLOWED)?,
            Err(error) => return Err(error),
        };
        self.permit(kind, &target.real)?;
        Ok(target)
    }

    /// The same for a path that needs no reading.
    pub(crate) fn target_at(&self, path: &Path, kind: AccessKind) -> Result<Target, Error> {
        let target = match self.locate_exactly(path) {
            Ok(located) => self.existing(&located)?,
            Err(Error::NotFound { .. }) => self.new_file(path, LINKS_FOLLOWED)?,
            Err(error) => return Err(error),
        };
        self.permit(kind, &target.real)?;
        Ok(target)
    }

    fn existing(&self, located: &Located) -> Result<Target, Error> {
        let shown = located.shown.clone();
        if located.kind() != FileType::RegularFile {
            let is = kind_name(located.kind());
            return Err(Error::WrongKind { path: shown, is, wanted: "regular file" });
        }
        self.in_directory(&located.real, shown)
    }

    /// A resolved path, as a name in its directory.
    fn in_directory(&self, real: &Path, shown: String) -> Result<Target, Error> {
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(Error::WrongKind { path: shown, is: "directory", wanted: "regular file" });
        };
        let (directory, place, _) =
            open_at(parent).map_err(Error::io("open the directory of", &shown))?;
        // The parent may have been exchanged for a link since it was resolved.
        let real = place.join(name);
        let shown = self.workspace.shown(&real);
        Ok(Target { directory, missing: Vec::new(), name: name.to_owned(), real, shown })
    }

    fn new_file(&self, path: &Path, links: usize) -> Result<Target, Error> {
        let shown = self.workspace.shown(path);
        let wrong = |problem: &str| Error::bad("path", &shown, problem);
        let is_directory_name = path.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = path.file_name().filter(|_| !is_directory_name) else {
            return Err(wrong("a file is needed, and this names a directory"));
        };
        let mut missing: Vec<OsString> = Vec::new();
        let mut above = path.parent().unwrap_or(Path::new("/"));
        let (directory, mut real) = loop {
            match open_at(above) {
                Ok((directory, real, stat)) => {
                    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
                        let path = self.workspace.shown(&real);
                        return Err(Error::WrongKind { path, is: "file", wanted: "directory" });
                    }
                    break (directory, real);
                }
                Err(error) if is_missing(&error) => {}
                Err(error) => return Err(Error::io("open the directory of", &shown)(error)),
            }
            let part = above.components().next_back();
            let (Some(Component::Normal(part)), Some(next)) = (part, above.parent()) else {
                return Err(wrong("`..` behind a directory that does not exist leads nowhere"));
            };
            missing.insert(0, part.to_owned());
            above = next;
        };
        if missing.is_empty() {
            // A link that points at nothing: what it points at is to be made.
            if let Ok(to) = rustix::fs::readlinkat(&directory, name, Vec::new()) {
                let to = real.join(OsStr::new(&to.to_string_lossy().into_owned()));
                return if links == 0 {
                    Err(wrong("too many links"))
                } else {
                    self.new_file(&flattened_below(&to), links - 1)
                };
            }
        }
        real.extend(&missing);
        real.push(name);
        let shown = self.workspace.shown(&real);
        Ok(Target { directory, missing, name: name.to_owned(), real, shown })
    }
}

/// The end of a link, without `.`; `..` is left to the kernel where it exists.
fn flattened_below(path: &Path) -> PathBuf {
    if path.parent().is_some_and(Path::exists) { path.to_path_buf() } else { flattened(path) }
}

impl Target {
    /// The file as it is now; `None` if there is none.
    pub(crate) fn read(&self) -> Result<Option<Before>, Error> {
        if !self.missing.is_empty() {
            return Ok(None);
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let file = match rustix::fs::openat(&self.directory, &self.name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(Error::io("open", &self.shown)(error.into())),
        };
        let failed = || Error::io("read", &self.shown);
        let stat = rustix::fs::fstat(&file).map_err(|e| failed()(e.into()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile {
            let (path, is) = (self.shown.clone(), kind_name(kind));
            return Err(Error::WrongKind { path, is, wanted: "regular file" });
        }
        let mut bytes = Vec::new();
        let mut limited = (&file).take(LARGEST_CHANGED_BYTES + 1);
        limited.read_to_end(&mut bytes).map_err(failed())?;
        if bytes.len() as u64 > LARGEST_CHANGED_BYTES {
            return Err(Error::TooLarge {
                path: self.shown.clone(),
                what: format!("a size of {} bytes", stat.st_size),
                limit: format!("{LARGEST_CHANGED_BYTES} bytes for files that are changed"),
            });
        }
        Ok(Some(Before {
            bytes,
            mode: stat.st_mode & 0o7777,
            stat: Stamp::of(&stat),
            seen_stamp: SeenStamp::of(&stat),
            owner: (stat.st_uid, stat.st_gid),
            hard_links: stat.st_nlink,
        }))
    }

    /// Whether directories must be made for it.
    pub(crate) fn lacks_directory(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Makes the missing directories; gives those that were made, outermost first.
    pub(crate) fn make_directories(&mut self) -> Result<Vec<PathBuf>, Error> {
        let mut made = Vec::new();
        let mut place = self.real.clone();
        (0..=self.missing.len()).for_each(|_| {
            place.pop();
        });
        for part in std::mem::take(&mut self.missing) {
            place.push(&part);
            let failed = |e: Errno| Error::io("make the directory for", &self.shown)(e.into());
            match rustix::fs::mkdirat(&self.directory, &part, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.push(place.clone()),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error)),
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            self.directory =
                rustix::fs::openat(&self.directory, &part, flags, Mode::empty()).map_err(failed)?;
        }
        Ok(made)
    }

    /// Writes the new content beside the file, and makes it durable.
    pub(crate) fn stage(
        &self,
        bytes: &[u8],
        mode: Option<u32>,
        before: Option<&Before>,
    ) -> Result<Staged<'_>, Error> {
        let failed = || Error::io("write", &self.shown);
        let staged = Staged { target: self, temporary: temporary_name(), done: false };
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let first_mode = if mode.is_some() { 0o600 } else { 0o666 };
        let fd = rustix::fs::openat(
            &self.directory,
            &staged.temporary,
            flags,
            Mode::from_raw_mode(first_mode),
        );
        let mut file = File::from(fd.map_err(|e| failed()(e.into()))?);
        file.write_all(bytes).map_err(failed())?;
        if let Some(before) = before {
            keep_owner(&file, before);
        }
        if let Some(mode) = mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(|e| failed()(e.into()))?;
        }
        file.sync_all().map_err(failed())?;
        Ok(staged)
    }

    /// Removes the file, if it is still what was read.
    pub(crate) fn remove(&self, before: &Before) -> Result<(), Error> {
        self.is_unchanged(before)?;
        rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())
            .map_err(|e| Error::io("delete", &self.shown)(e.into()))?;
        self.sync_directory();
        Ok(())
    }

    fn is_unchanged(&self, before: &Before) -> Result<(), Error> {
        let now = rustix::fs::statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        if now.is_ok_and(|now| Stamp::of(&now) == before.stat) {
            return Ok(());
        }
        let diff = "(it changed while it was being edited; read it again)".to_owned();
        Err(Error::ChangedSinceRead { path: self.shown.clone(), diff })
    }

    /// Best effort: some file systems cannot.
    fn sync_directory(&self) {
        if let Ok(directory) = File::open(link_of(self.directory.as_fd())) {
            let _ = directory.sync_all();
        }
    }
}

/// The same owner as before, where that is possible and not already so.
fn keep_owner(file: &File, before: &Before) {
    let (user, group) = before.owner;
    let is_same = rustix::fs::fstat(file).is_ok_and(|now| (now.st_uid, now.st_gid) == before.owner);
    if !is_same {
        let _ = rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
    }
}

fn temporary_name() -> String {
    format!(".umbo-{}.tmp", ulid::Ulid::generate().to_string().to_lowercase())
}

/// New content that waits beside its file. Dropped without `commit`, it is removed.
pub(crate) struct Staged<'a> {
    target: &'a Target,
    temporary: String,
    done: bool,
}

impl Staged<'_> {
    /// Puts the new content in place, by one rename, if the file is still what was read.
    pub(crate) fn commit(mut self, before: Option<&Before>) -> Result<(), Error> {
        let flags = match before {
            Some(before) => {
                self.target.is_unchanged(before)?;
                RenameFlags::empty()
            }
            None => RenameFlags::NOREPLACE,
        };
        let directory = &self.target.directory;
        let renamed = rustix::fs::renameat_with(
            directory,
            &self.temporary,
            directory,
            &self.target.name,
            flags,
        );
        let renamed = match renamed {
            // Not every file system can refuse to replace.
            Err(Errno::INVAL) if before.is_none() => self.link_into_place(),
            other => other,
        };
        match renamed {
            Ok(()) => {
                self.done = true;
                self.target.sync_directory();
                Ok(())
            }
            Err(Errno::EXIST) => Err(Error::Exists { path: self.target.shown.clone() }),
            Err(error) => Err(Error::io("replace", &self.target.shown)(io::Error::from(error))),
        }
    }

    fn link_into_place(&self) -> rustix::io::Result<()> {
        let (directory, name) = (&self.target.directory, &self.target.name);
        rustix::fs::linkat(directory, &self.temporary, directory, name, AtFlags::empty())?;
        rustix::fs::unlinkat(directory, &self.temporary, AtFlags::empty())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.done {
            let directory = &self.target.directory;
            let _ = rustix::fs::unlinkat(directory, &self.temporary, AtFlags::empty());
        }
    }
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Target({}, directory {})", self.shown, self.directory.as_raw_fd())
    }
}
