//! A system call that the supervisor is asked about, in a form that can be judged and done.

use crate::denial::Operation;
use crate::filter::WRITING;
use crate::sys::calls::{self, old};
use crate::sys::memory;
use crate::sys::seccomp::Notification;

/// A path as a process gave it, and the directory it starts from.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) directory: i32,
    pub(super) path: Vec<u8>,
}

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Stay,
}

/// What is to be changed about a file, besides its content.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Mode(u32),
    Owner {
        user: u32,
        group: u32,
    },
    /// Access and modification time, seconds and nanoseconds each.
    Times([(i64, i64); 2]),
    SetAttribute {
        name: Vec<u8>,
        value: Vec<u8>,
        flags: u32,
    },
    RemoveAttribute {
        name: Vec<u8>,
    },
}

/// What a process wants done.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Open {
        at: Place,
        flags: u32,
        mode: u32,
    },
    MakeDirectory {
        at: Place,
        mode: u32,
    },
    MakeNode {
        at: Place,
        mode: u32,
    },
    Link {
        from: Place,
        to: Place,
        links: Links,
    },
    Symlink {
        target: Vec<u8>,
        at: Place,
    },
    Remove {
        at: Place,
        directory: bool,
    },
    Rename {
        from: Place,
        to: Place,
        flags: u32,
    },
    Truncate {
        at: Place,
        length: u64,
    },
    Change {
        at: Place,
        links: Links,
        change: Change,
    },
    /// The same through a descriptor, for which one that can only read is enough.
    ChangeOpen {
        descriptor: i32,
        change: Change,
    },
    Execute {
        at: Place,
    },
    Connect {
        descriptor: i32,
        address: Vec<u8>,
    },
    Bind {
        descriptor: i32,
        address: Vec<u8>,
    },
    SendTo {
        address: Vec<u8>,
    },
}

impl Call {
    /// Whether an `open` is meant to write.
    pub(super) fn is_writing(flags: u32) -> bool {
        flags & WRITING != 0
    }

    /// Whether it is an `open` that waits where it has to.
    pub(super) fn may_wait(&self) -> bool {
        let at_once = libc::O_NONBLOCK.cast_unsigned();
        matches!(self, Self::Open { flags, .. } if flags & at_once == 0)
    }

    pub(super) fn operation(&self) -> Operation {
        match self {
            Self::Open { flags, .. } if !Self::is_writing(*flags) => Operation::Read,
            Self::Open { .. } | Self::Truncate { .. } => Operation::Write,
            Self::MakeDirectory { .. }
            | Self::MakeNode { .. }
            | Self::Link { .. }
            | Self::Symlink { .. }
            | Self::Bind { .. } => Operation::Create,
            Self::Remove { .. } => Operation::Delete,
            Self::Rename { .. } => Operation::Rename,
            Self::Change { .. } | Self::ChangeOpen { .. } => Operation::Change,
            Self::Execute { .. } => Operation::Execute,
            Self::Connect { .. } | Self::SendTo { .. } => Operation::Connect,
        }
    }

    /// Reads a call out of a notification and the memory of who made it. `None` if that memory cannot
    /// be read: the kernel will find the same.
    pub(super) fn read(asked: &Notification) -> Option<Self> {
        let reader = Reader { asked };
        let at = |directory: usize, path: usize| reader.place(asked.int(directory), path);
        let here = |path: usize| reader.place(libc::AT_FDCWD, path);
        Some(match asked.number() {
            old::OPEN => Self::Open { at: here(0)?, flags: asked.word(1), mode: asked.word(2) },
            calls::SYS_openat => {
                Self::Open { at: at(0, 1)?, flags: asked.word(2), mode: asked.word(3) }
            }
            calls::SYS_openat2 => {
                let (flags, mode) = reader.how(2)?;
                Self::Open { at: at(0, 1)?, flags, mode }
            }
            old::CREAT => {
                let flags = (libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC).cast_unsigned();
                Self::Open { at: here(0)?, flags, mode: asked.word(1) }
            }
            old::MKDIR => Self::MakeDirectory { at: here(0)?, mode: asked.word(1) },
            calls::SYS_mkdirat => Self::MakeDirectory { at: at(0, 1)?, mode: asked.word(2) },
            old::MKNOD => Self::MakeNode { at: here(0)?, mode: asked.word(1) },
            calls::SYS_mknodat => Self::MakeNode { at: at(0, 1)?, mode: asked.word(2) },
            old::LINK => Self::Link { from: here(0)?, to: here(1)?, links: Links::Stay },
            calls::SYS_linkat => {
                let is_followed = asked.word(4) & libc::AT_SYMLINK_FOLLOW.cast_unsigned() != 0;
                let links = if is_followed { Links::Follow } else { Links::Stay };
                Self::Link { from: at(0, 1)?, to: at(2, 3)?, links }
            }
            old::SYMLINK => Self::Symlink { target: reader.text(0)?, at: here(1)? },
            calls::SYS_symlinkat => Self::Symlink { target: reader.text(0)?, at: at(1, 2)? },
            old::UNLINK => Self::Remove { at: here(0)?, directory: false },
            old::RMDIR => Self::Remove { at: here(0)?, directory: true },
            calls::SYS_unlinkat => {
                let directory = asked.word(2) & libc::AT_REMOVEDIR.cast_unsigned() != 0;
                Self::Remove { at: at(0, 1)?, directory }
            }
            old::RENAME => Self::Rename { from: here(0)?, to: here(1)?, flags: 0 },
            calls::SYS_renameat => Self::Rename { from: at(0, 1)?, to: at(2, 3)?, flags: 0 },
            calls::SYS_renameat2 => {
                Self::Rename { from: at(0, 1)?, to: at(2, 3)?, flags: asked.word(4) }
            }
            calls::SYS_truncate => Self::Truncate { at: here(0)?, length: asked.long(1) },
            calls::SYS_execve => Self::Execute { at: here(0)? },
            calls::SYS_execveat => Self::Execute { at: at(0, 1)? },
            calls::SYS_connect => {
                Self::Connect { descriptor: asked.int(0), address: reader.address(1, 2)? }
            }
            calls::SYS_bind => {
                Self::Bind { descriptor: asked.int(0), address: reader.address(1, 2)? }
            }
            calls::SYS_sendto => Self::SendTo { address: reader.address(4, 5)? },
            _ => return Self::read_change(asked),
        })
    }

    /// The same for the calls that change what is known about a file.
    fn read_change(asked: &Notification) -> Option<Self> {
        let reader = Reader { asked };
        let at = |directory: usize, path: usize| reader.place(asked.int(directory), path);
        let here = |path: usize| reader.place(libc::AT_FDCWD, path);
        let follow = |flags: u32| {
            let stay = flags & libc::AT_SYMLINK_NOFOLLOW.cast_unsigned() != 0;
            if stay { Links::Stay } else { Links::Follow }
        };
        Some(match asked.number() {
            old::CHMOD => Reader::change(here(0)?, Links::Follow, Change::Mode(asked.word(1))),
            calls::SYS_fchmodat => {
                Reader::change(at(0, 1)?, Links::Follow, Change::Mode(asked.word(2)))
            }
            calls::SYS_FCHMODAT2 => {
                Reader::change(at(0, 1)?, follow(asked.word(3)), Change::Mode(asked.word(2)))
            }
            calls::SYS_fchmod => {
                Self::ChangeOpen { descriptor: asked.int(0), change: Change::Mode(asked.word(1)) }
            }
            old::CHOWN => Reader::change(here(0)?, Links::Follow, reader.owner(1)),
            old::LCHOWN => Reader::change(here(0)?, Links::Stay, reader.owner(1)),
            calls::SYS_fchownat => {
                Reader::change(at(0, 1)?, follow(asked.word(4)), reader.owner(2))
            }
            calls::SYS_fchown => {
                Self::ChangeOpen { descriptor: asked.int(0), change: reader.owner(1) }
            }
            old::UTIME => {
                let change = Change::Times(reader.times(1, Unit::Seconds)?);
                Reader::change(here(0)?, Links::Follow, change)
            }
            old::UTIMES => {
                let change = Change::Times(reader.times(1, Unit::Micros)?);
                Reader::change(here(0)?, Links::Follow, change)
            }
            old::FUTIMESAT => {
                let change = Change::Times(reader.times(2, Unit::Micros)?);
                reader.at_or_open(0, 1, Links::Follow, change)?
            }
            calls::SYS_utimensat => {
                let change = Change::Times(reader.times(2, Unit::Nanos)?);
                reader.at_or_open(0, 1, follow(asked.word(3)), change)?
            }
            calls::SYS_setxattr => Reader::change(here(0)?, Links::Follow, reader.attribute(1)?),
            calls::SYS_lsetxattr => Reader::change(here(0)?, Links::Stay, reader.attribute(1)?),
            calls::SYS_fsetxattr => {
                Self::ChangeOpen { descriptor: asked.int(0), change: reader.attribute(1)? }
            }
            calls::SYS_removexattr => {
                let change = Change::RemoveAttribute { name: reader.text(1)? };
                Reader::change(here(0)?, Links::Follow, change)
            }
            calls::SYS_lremovexattr => {
                let change = Change::RemoveAttribute { name: reader.text(1)? };
                Reader::change(here(0)?, Links::Stay, change)
            }
            calls::SYS_fremovexattr => Self::ChangeOpen {
                descriptor: asked.int(0),
                change: Change::RemoveAttribute { name: reader.text(1)? },
            },
            _ => return None,
        })
    }
}

/// What times are given in.
#[derive(Clone, Copy)]
enum Unit {
    /// Two whole seconds.
    Seconds,
    /// Seconds and microseconds, twice.
    Micros,
    /// Seconds and nanoseconds, twice.
    Nanos,
}

/// Reads the arguments of a call.
struct Reader<'a> {
    asked: &'a Notification,
}

impl Reader<'_> {
    fn text(&self, argument: usize) -> Option<Vec<u8>> {
        memory::read_path(self.asked.thread, self.asked.long(argument))
    }

    fn place(&self, directory: i32, path: usize) -> Option<Place> {
        Some(Place { directory, path: self.text(path)? })
    }

    fn bytes(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut buffer = vec![0; length];
        (memory::read(self.asked.thread, address, &mut buffer) == length).then_some(buffer)
    }

    /// Flags and mode of `openat2`.
    fn how(&self, argument: usize) -> Option<(u32, u32)> {
        let bytes = self.bytes(self.asked.long(argument), 16)?;
        let word = |at: usize| {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        Some((word(0)?, word(8)?))
    }

    /// A change by path; an empty path means the descriptor itself.
    fn change(at: Place, links: Links, change: Change) -> Call {
        if at.path.is_empty() && at.directory != libc::AT_FDCWD {
            return Call::ChangeOpen { descriptor: at.directory, change };
        }
        // How C libraries change what they hold but may not open.
        let number = [&b"/proc/self/fd/"[..], b"/proc/thread-self/fd/", b"/dev/fd/"]
            .iter()
            .find_map(|start| at.path.strip_prefix(*start))
            .and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
        if let (Some(descriptor), Links::Follow) = (number, links) {
            return Call::ChangeOpen { descriptor, change };
        }
        Call::Change { at, links, change }
    }

    /// The same where no path at all means the descriptor.
    fn at_or_open(
        &self,
        directory: usize,
        path: usize,
        links: Links,
        change: Change,
    ) -> Option<Call> {
        if self.asked.long(path) == 0 {
            return Some(Call::ChangeOpen { descriptor: self.asked.int(directory), change });
        }
        Some(Self::change(self.place(self.asked.int(directory), path)?, links, change))
    }

    fn owner(&self, user: usize) -> Change {
        Change::Owner { user: self.asked.word(user), group: self.asked.word(user + 1) }
    }

    fn times(&self, argument: usize, unit: Unit) -> Option<[(i64, i64); 2]> {
        let address = self.asked.long(argument);
        if address == 0 {
            return Some([(0, libc::UTIME_NOW); 2]);
        }
        let length = if matches!(unit, Unit::Seconds) { 16 } else { 32 };
        let bytes = self.bytes(address, length)?;
        let number = |index: usize| {
            let bytes = bytes.get(index * 8..index * 8 + 8)?.try_into().ok()?;
            Some(i64::from_le_bytes(bytes))
        };
        Some(match unit {
            Unit::Seconds => [(number(0)?, 0), (number(1)?, 0)],
            Unit::Micros => [
                (number(0)?, number(1)?.checked_mul(1000)?),
                (number(2)?, number(3)?.checked_mul(1000)?),
            ],
            Unit::Nanos => [(number(0)?, number(1)?), (number(2)?, number(3)?)],
        })
    }

    /// Name, value, length and flags of an extended attribute, from this argument on.
    fn attribute(&self, first: usize) -> Option<Change> {
        /// The kernel takes no longer value.
        const LONGEST_VALUE: u64 = 64 << 10;
        let length = self.asked.long(first + 2);
        let length = usize::try_from(length).ok().filter(|_| length <= LONGEST_VALUE)?;
        let value = self.bytes(self.asked.long(first + 1), length)?;
        Some(Change::SetAttribute {
            name: self.text(first)?,
            value,
            flags: self.asked.word(first + 3),
        })
    }

    fn address(&self, pointer: usize, length: usize) -> Option<Vec<u8>> {
        /// `struct sockaddr_storage`.
        const LONGEST_ADDRESS: usize = 128;
        let length = usize::try_from(self.asked.word(length)).ok()?;
        if !(2..=LONGEST_ADDRESS).contains(&length) {
            return None;
        }
        self.bytes(self.asked.long(pointer), length)
    }
}
