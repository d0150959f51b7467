//! Making namespaces and arranging what is seen in them.
#![expect(unsafe_code, reason = "clone3, mount_setattr and interface flags have no safe wrapper")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::Pid;

/// The two sides of a fork.
pub(crate) enum Fork {
    /// In the new process.
    Child,
    /// In the old one, with the new one's pid.
    Parent(Pid),
}

/// Which kinds of namespaces a job has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kinds(u32);

impl Kinds {
    /// All of them; the network and the processes only where they are wanted.
    pub(crate) fn new(network: bool, processes: bool) -> Self {
        let mut flags = libc::CLONE_NEWUSER
            | libc::CLONE_NEWNS
            | libc::CLONE_NEWIPC
            | libc::CLONE_NEWCGROUP
            | libc::CLONE_NEWUTS;
        if network {
            flags |= libc::CLONE_NEWNET;
        }
        if processes {
            flags |= libc::CLONE_NEWPID;
        }
        Self(flags.unsigned_abs())
    }
}

/// Forks this process, the child being the first in new namespaces.
///
/// The caller must be single-threaded: the child goes on in a copy of this memory.
pub(crate) fn fork_into(kinds: Option<Kinds>) -> io::Result<Fork> {
    // Not this process's child: whoever waits for those means the processes of the job.
    let parent = u64::from(libc::CLONE_PARENT.unsigned_abs());
    clone(parent | kinds.map_or(0, |kinds| u64::from(kinds.0)))
}

/// Forks this process. The caller must be single-threaded.
pub(crate) fn fork() -> io::Result<Fork> {
    clone(0)
}

fn clone(flags: u64) -> io::Result<Fork> {
    let signal = u64::from(libc::SIGCHLD.unsigned_abs());
    // SAFETY: without CLONE_VM this is fork(2): the child has its own copy of memory and stack.
    // `clone` and not `clone3`: one sandbox may run inside another, which refuses the latter.
    let result = unsafe { libc::syscall(libc::SYS_clone, flags | signal, 0, 0, 0, 0) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .map(Fork::Parent)
            .ok_or_else(|| io::Error::other("the kernel answered with an impossible pid")),
    }
}

/// Joins the namespaces that `process` is in. Allocates nothing.
pub(crate) fn join(process: BorrowedFd<'_>, kinds: Kinds) -> io::Result<()> {
    let flags = i32::try_from(kinds.0).unwrap_or(0);
    // SAFETY: a plain call on an open descriptor.
    match unsafe { libc::setns(process.as_raw_fd(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Joins the network that a process is in, which has to be one of its own.
pub(crate) fn join_network(process: BorrowedFd<'_>) -> io::Result<()> {
    join(process, Kinds((libc::CLONE_NEWUSER | libc::CLONE_NEWNET).cast_unsigned()))
}

/// Ends this process now, without running destructors or flushing anything it shares.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// `struct mount_attr` of `linux/mount.h`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Whether a change of a mount is for those below it too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// For this one.
    Itself,
    /// For all below.
    Tree,
}

/// Makes the mount at `path` read-only.
pub(crate) fn make_read_only(path: &CStr, reach: Reach) -> io::Result<()> {
    const MOUNT_ATTR_RDONLY: u64 = 1;
    let attributes =
        MountAttributes { set: MOUNT_ATTR_RDONLY, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = match reach {
        Reach::Itself => 0,
        Reach::Tree => libc::AT_RECURSIVE,
    };
    // SAFETY: the path ends with NUL and the structure has the size that is given.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            std::mem::size_of::<MountAttributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches the loopback interface of this network namespace on.
pub(crate) fn raise_loopback() -> io::Result<()> {
    // SAFETY: the request is initialised, names an interface, and lives through the call.
    unsafe {
        let raw = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(raw);
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = from.cast_signed();
        }
        request.ifr_ifru.ifru_flags =
            i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(i16::MAX);
        if libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Dies with the process that made this one.
pub(crate) fn die_with_parent() {
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

/// Leaves the burial of this process's children to the kernel.
pub(crate) fn ignore_children() {
    // SAFETY: this disposition is valid for SIGCHLD.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Takes the burial of this process's children back. What it returns is readable when one has ended.
pub(crate) fn watch_children() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is used, and the disposition is valid for SIGCHLD.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        match libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Closes every descriptor but these: in a process that goes on with nothing else of its maker's.
pub(crate) fn close_all_but(kept: &[BorrowedFd<'_>]) {
    let mut numbers: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().unsigned_abs()).collect();
    numbers.sort_unstable();
    let mut next = 0;
    for number in numbers {
        if number > next {
            // SAFETY: called first thing in a fresh process, which then uses only what is kept.
            unsafe { libc::close_range(next, number - 1, 0) };
        }
        next = number + 1;
    }
    // SAFETY: as above.
    unsafe { libc::close_range(next, u32::MAX, 0) };
}

/// Has every descriptor from 3 on closed when this process becomes another program.
pub(crate) fn close_on_exec() {
    // SAFETY: only marks descriptors; each stays open until exec.
    unsafe { libc::close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed()) };
}
