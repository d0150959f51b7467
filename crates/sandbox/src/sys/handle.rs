//! A thread that is held by a descriptor, and whose files it accesses.
#![expect(unsafe_code, reason = "the question about a held thread has no safe wrapper")]

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// `PIDFD_THREAD`; Linux 6.9.
const THREAD: u32 = libc::O_EXCL.cast_unsigned();
/// `PIDFD_GET_INFO`, for the first version of its structure; Linux 6.13.
const GET_INFO: u64 = 0xc040_ff0b;
/// `PIDFD_INFO_CREDS`.
const CREDENTIALS: u64 = 1 << 1;

/// The user and the group by which a thread accesses files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// `struct pidfd_info`, its first version.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    group_of_control: u64,
    /// Its number, its process's, its parent's.
    numbers: [u32; 3],
    /// User and group: real, effective, saved, and for files.
    users: [[u32; 2]; 4],
    exit_code: i32,
}

/// Holds a thread, where the kernel can hold single ones.
pub(crate) fn open(thread: u32) -> Option<OwnedFd> {
    let thread = Pid::from_raw(thread.cast_signed())?;
    pidfd_open(thread, PidfdFlags::from_bits_retain(THREAD)).ok()
}

/// By whom a held thread accesses files; none if it is gone, or the kernel does not say it.
pub(crate) fn access(handle: BorrowedFd<'_>) -> Option<Access> {
    let mut info = Info { mask: CREDENTIALS, ..Info::default() };
    // SAFETY: the structure lives through the call and has the size that the number says.
    let result = unsafe { libc::ioctl(handle.as_raw_fd(), GET_INFO, &raw mut info) };
    let is_told = result == 0 && info.mask & CREDENTIALS != 0;
    let [_, _, _, [user, group]] = info.users;
    is_told.then_some(Access { user, group })
}
