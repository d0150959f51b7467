//! Seccomp: installing a filter, and answering for the calls it asks about.
#![expect(unsafe_code, reason = "seccomp and its notifications have no safe wrapper")]

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::filter::Instruction;

const SECCOMP_SET_MODE_FILTER: u32 = 1;
const NEW_LISTENER: u64 = 1 << 3;
/// A call that waits for its answer is not interrupted by a signal that the process handles.
const WAIT_KILLABLE_RECV: u64 = 1 << 5;

const IOCTL_RECEIVE: u64 = 0xc050_2100;
const IOCTL_SEND: u64 = 0xc018_2101;
const IOCTL_IS_VALID: u64 = 0x4008_2102;
const IOCTL_ADD_FD: u64 = 0x4018_2103;
const IOCTL_SET_FLAGS: u64 = 0x4008_2104;
/// Whoever is woken runs on the processor of the one who wakes it, and at once.
const SYNC_WAKE_UP: u64 = 1;
/// A thread that asked so many times in a row is taken for the only one at work.
const ALONE: u32 = 64;
const FLAG_CONTINUE: u32 = 1;
const ADD_FD_SEND: u32 = 2;

/// A call that a process waits to have answered.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Notification {
    /// Names it in the answer.
    pub(crate) id: u64,
    /// The thread that made it, as we see it.
    pub(crate) thread: u32,
    flags: u32,
    number: i32,
    architecture: u32,
    instruction: u64,
    /// Its arguments.
    pub(crate) arguments: [u64; 6],
}

impl Notification {
    /// The number of the system call.
    pub(crate) fn number(&self) -> i64 {
        i64::from(self.number)
    }

    /// An argument that is a descriptor or a set of flags.
    pub(crate) fn int(&self, index: usize) -> i32 {
        let low = self.arguments.get(index).copied().unwrap_or(0) & u64::from(u32::MAX);
        u32::try_from(low).unwrap_or(0).cast_signed()
    }

    /// An argument that is a set of flags or a mode.
    pub(crate) fn word(&self, index: usize) -> u32 {
        self.int(index).cast_unsigned()
    }

    /// An argument as it is.
    pub(crate) fn long(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().unwrap_or(0)
    }
}

#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

#[repr(C)]
struct AddDescriptor {
    id: u64,
    flags: u32,
    source: u32,
    target: u32,
    target_flags: u32,
}

#[repr(C)]
struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// Installs a filter for this process and returns the listener that its notifications come to.
/// Allocates nothing. `no_new_privs` must be set.
pub(crate) fn install(filter: &[Instruction]) -> io::Result<OwnedFd> {
    let program = Program {
        length: u16::try_from(filter.len()).unwrap_or(u16::MAX),
        instructions: filter.as_ptr(),
    };
    let install = |flags: u64| {
        // SAFETY: the program names a live slice of instructions and its length.
        unsafe {
            libc::syscall(libc::SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        }
    };
    let mut result = install(NEW_LISTENER | WAIT_KILLABLE_RECV);
    if result < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        // Before Linux 5.19.
        result = install(NEW_LISTENER);
    }
    match i32::try_from(result) {
        // SAFETY: the kernel just made this descriptor for us.
        Ok(raw) if raw >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(raw) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Restricts this process to a Landlock ruleset. Allocates nothing.
pub(crate) fn restrict(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a plain call on an open descriptor.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets a ruleset that nobody entered yet have one more file, to read and write as a terminal.
pub(crate) fn add_terminal(ruleset: BorrowedFd<'_>, terminal: BorrowedFd<'_>) -> io::Result<()> {
    /// `struct landlock_path_beneath_attr`.
    #[repr(C, packed)]
    struct PathBeneath {
        rights: u64,
        file: i32,
    }
    const PATH_BENEATH: u32 = 1;
    const WRITE_AND_READ: u64 = 1 << 1 | 1 << 2;
    const CONTROL: u64 = 1 << 15;
    let add = |rights: u64| {
        let rule = PathBeneath { rights, file: terminal.as_raw_fd() };
        // SAFETY: the rule lives through the call and is laid out as the kernel has it.
        let result = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                ruleset.as_raw_fd(),
                PATH_BENEATH,
                &raw const rule,
                0_u32,
            )
        };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // Kernels before 6.10 do not know of control, and do not keep anybody from it.
    add(WRITE_AND_READ | CONTROL).or_else(|_| add(WRITE_AND_READ))
}

/// Where notifications come from and answers go.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
    wakes_here: Cell<bool>,
    /// The thread that asked last, and how many times in a row.
    last: Cell<u32>,
    in_a_row: Cell<u32>,
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Listener {
    pub(crate) fn new(fd: OwnedFd) -> Self {
        let listener =
            Self { fd, wakes_here: Cell::new(false), last: Cell::new(0), in_a_row: Cell::new(0) };
        listener.wake_here(true);
        listener
    }

    /// Whether wake-ups stay on the processor that they come from.
    fn wake_here(&self, here: bool) {
        let flags = if here { SYNC_WAKE_UP } else { 0 };
        if self.wakes_here.replace(here) != here {
            // SAFETY: the flag is a plain number. Before Linux 6.6 this fails, and answers take longer.
            unsafe { libc::ioctl(self.fd.as_raw_fd(), IOCTL_SET_FLAGS, flags) };
        }
    }

    /// Answers by one of the kernel's requests.
    ///
    /// Who asks leaves its processor to us while it waits, so a question wakes us there. An answer leaves it to
    /// the scheduler where to go on: two that ask in turn would both stay with us, and another processor
    /// idle. Only one that asks again and again, alone, is fastest where we are.
    fn answer<T>(&self, request: u64, body: &T) -> io::Result<()> {
        self.wake_here(self.in_a_row.get() >= ALONE);
        // SAFETY: the body lives through the call; both who call this give the one that the request is for.
        let result = unsafe { libc::ioctl(self.fd.as_raw_fd(), request, std::ptr::from_ref(body)) };
        let answered = if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        self.wake_here(true);
        answered
    }

    /// The next notification. Waits for one: ask only when the descriptor is readable.
    pub(crate) fn receive(&self) -> io::Result<Notification> {
        // SAFETY: all-zero is valid, and wanted by the kernel; the structure has its size.
        unsafe {
            let mut notification: Notification = std::mem::zeroed();
            if libc::ioctl(self.fd.as_raw_fd(), IOCTL_RECEIVE, &raw mut notification) != 0 {
                return Err(io::Error::last_os_error());
            }
            let is_same = self.last.replace(notification.thread) == notification.thread;
            self.in_a_row.set(if is_same { self.in_a_row.get().saturating_add(1) } else { 0 });
            Ok(notification)
        }
    }

    /// Whether the one who made the call still waits. What was read of its memory before is its own
    /// only if so.
    pub(crate) fn is_valid(&self, id: u64) -> bool {
        // SAFETY: the id lives through the call.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), IOCTL_IS_VALID, &raw const id) == 0 }
    }

    /// If nobody waits any more, nobody is told.
    fn send(&self, response: &Response) {
        let _ = self.answer(IOCTL_SEND, response);
    }

    /// Has the kernel do the call, as if nobody had been asked.
    pub(crate) fn resume(&self, id: u64) {
        self.send(&Response { id, value: 0, error: 0, flags: FLAG_CONTINUE });
    }

    /// Answers with a result.
    pub(crate) fn succeed(&self, id: u64, value: i64) {
        self.send(&Response { id, value, error: 0, flags: 0 });
    }

    /// Answers with an error.
    pub(crate) fn fail(&self, id: u64, errno: i32) {
        self.send(&Response { id, value: 0, error: -errno, flags: 0 });
    }

    /// Answers with a descriptor of ours, which becomes the lowest free one of the process.
    pub(crate) fn hand_over(&self, id: u64, fd: BorrowedFd<'_>, close_on_exec: bool) {
        let request = AddDescriptor {
            id,
            flags: ADD_FD_SEND,
            source: fd.as_raw_fd().cast_unsigned(),
            target: 0,
            target_flags: if close_on_exec { libc::O_CLOEXEC.cast_unsigned() } else { 0 },
        };
        if let Err(error) = self.answer(IOCTL_ADD_FD, &request) {
            self.fail(id, error.raw_os_error().unwrap_or(libc::EACCES));
        }
    }
}
