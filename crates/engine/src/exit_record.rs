//! The exit record of a job on its way to disk: the one place that writes it. Its text is in [`plain`].
//!
//! A draft is written, then renamed into place without replacing what is there, so that there is
//! one record and nobody sees a half of it. The draft is made before the job, with room on the disk
//! reserved for it: a full disk cannot refuse the record.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, RenameFlags, fallocate, openat, renameat, renameat_with,
    unlinkat,
};

mod plain;

pub(crate) use plain::{parse, text};

/// The name of a record.
pub(crate) const NAME: &str = "outcome";
/// The name of the draft that is made with the job.
const DRAFT: &str = "outcome.new";
/// Room reserved for a record.
const RESERVED_BYTES: u64 = 4096;

/// A record that is not in place yet.
pub(crate) struct Draft {
    directory: Rc<OwnedFd>,
    file: File,
    /// How long the file is, at the most.
    longest: Cell<u64>,
}

impl Draft {
    /// Makes the draft of a job's directory, which is new.
    pub(crate) fn create(directory: Rc<OwnedFd>) -> io::Result<Self> {
        let file = open(&directory, OFlags::EXCL)?;
        Ok(Self { directory, file, longest: Cell::new(0) })
    }

    /// Makes the draft of a job's directory, or takes the one that a dead supervisor left.
    pub(crate) fn open(directory: Rc<OwnedFd>) -> io::Result<Self> {
        let file = open(&directory, OFlags::empty())?;
        let longest = Cell::new(file.metadata()?.len());
        Ok(Self { directory, file, longest })
    }

    /// The file, which is the record once that is in place.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Puts the text of a record in place. `false` if one is there already: it stands.
    pub(crate) fn publish(&self, text: &[u8]) -> io::Result<bool> {
        self.write(text)?;
        let directory = self.directory.as_fd();
        match renameat_with(directory, DRAFT, directory, NAME, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts the record in place of one that can neither be read nor put aside.
    pub(crate) fn replace(&self) -> io::Result<()> {
        Ok(renameat(&self.directory, DRAFT, &self.directory, NAME)?)
    }

    /// Deletes the draft: another record stands.
    pub(crate) fn discard(&self) {
        let _ = unlinkat(&self.directory, DRAFT, AtFlags::empty());
    }

    fn write(&self, text: &[u8]) -> io::Result<()> {
        let length = text.len() as u64;
        let longest = self.longest.replace(self.longest.get().max(length));
        // From the start: a try before this one may have written a part.
        self.file.write_all_at(text, 0)?;
        if longest > length {
            self.file.set_len(length)?;
        }
        Ok(())
    }
}

fn open(directory: &OwnedFd, how: OFlags) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | how;
    let file = File::from(openat(directory, DRAFT, flags, Mode::RUSR | Mode::WUSR)?);
    // Not every file system can reserve; most can.
    let _ = fallocate(&file, FallocateFlags::KEEP_SIZE, 0, RESERVED_BYTES);
    Ok(file)
}
