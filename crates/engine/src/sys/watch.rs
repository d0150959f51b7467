//! Being told by the kernel that files changed, instead of looking again and again.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::{Timespec, epoll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

/// A set of watched paths behind one pollable descriptor.
#[derive(Debug)]
pub(crate) struct Watch {
    fd: OwnedFd,
}

impl Watch {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { fd: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)? })
    }

    /// Watches a file for growth.
    pub(crate) fn growth_of(&self, file: &Path) -> io::Result<()> {
        inotify::add_watch(&self.fd, file, WatchFlags::MODIFY)?;
        Ok(())
    }

    /// Watches a directory for names that appear in it.
    pub(crate) fn names_in(&self, directory: &Path) -> io::Result<()> {
        let flags = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF
            | WatchFlags::DELETE_SELF;
        inotify::add_watch(&self.fd, directory, flags)?;
        Ok(())
    }

    /// Watches the files of a directory for being let go: deleted, or closed, as they are when their
    /// owner dies.
    pub(crate) fn closing_in(&self, directory: &Path) -> io::Result<()> {
        inotify::add_watch(&self.fd, directory, WatchFlags::CLOSE_WRITE | WatchFlags::DELETE)?;
        Ok(())
    }

    /// Takes all waiting notices; whether the kernel had to drop some.
    pub(crate) fn drain(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = inotify::Reader::new(&self.fd, &mut buffer);
        let mut overflow = false;
        while let Ok(event) = reader.next() {
            overflow |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
        }
        overflow
    }
}

/// A terminal that nobody has open, behind a descriptor that is ready when somebody uses it again. The
/// terminal itself would be ready all the time, to say that nobody has it open.
#[derive(Debug)]
pub(crate) struct Deserted {
    fd: OwnedFd,
}

impl Deserted {
    pub(crate) fn new(controller: impl AsFd) -> io::Result<Self> {
        let fd = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&fd, controller, epoll::EventData::new_u64(0), flags)?;
        Ok(Self { fd })
    }

    /// Takes the notice, so that the next one is about what comes after.
    pub(crate) fn drain(&self) {
        let mut notices = [MaybeUninit::uninit(); 1];
        let _ = epoll::wait(&self.fd, &mut notices, Some(&Timespec::default()));
    }
}

impl AsFd for Deserted {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
