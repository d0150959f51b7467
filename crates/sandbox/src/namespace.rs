//! The first process of a job's namespaces. It makes them as the plan wants them and then waits: as long
//! as it lives they are there, and when it ends the kernel ends every process in them.
//!
//! The supervisor makes it before there is a command. It keeps its capabilities and stays readable for
//! the supervisor: without the first the job could read it, without the second nobody could join it.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags,
    SocketType, socketpair,
};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::layout::{self, Failed, Processes, at};
use crate::plan::{Network, PROXY_PORT, Plan};
use crate::sys::namespace::{
    Fork, Kinds, close_all_but, die_with_parent, exit_now, fork_into, ignore_children, join,
    raise_loopback,
};
use crate::sys::socket::send_fd;

/// What the supervisor asks: to hear when nobody is left but this process.
const WHEN_ALONE: &[u8] = b"w";
const ALONE: &[u8] = b"a";
const READY: &[u8] = b"ok";

/// The namespaces of a job.
#[derive(Debug)]
pub(crate) struct Namespace {
    first: Pid,
    handle: OwnedFd,
    socket: OwnedFd,
    kinds: Kinds,
    processes: Processes,
    /// The socket inside, on which the proxy is found.
    pub(crate) proxy: Option<OwnedFd>,
    is_asked: bool,
}

impl Namespace {
    /// Makes namespaces for a plan. The caller must be single-threaded.
    pub(crate) fn make(plan: &Plan, processes: Processes) -> Result<Self, Failed> {
        let kinds = Kinds::new(plan.network != Network::On, processes == Processes::Own);
        let (ours, theirs) = socket_pair().map_err(at("make a socket"))?;
        let maps = Maps::read();
        let first = match fork_into(Some(kinds)).map_err(at("make namespaces"))? {
            Fork::Child => {
                drop(ours);
                live(plan, processes, &maps, &theirs)
            }
            Fork::Parent(pid) => pid,
        };
        drop(theirs);
        let handle = pidfd_open(first, PidfdFlags::empty()).map_err(at("hold the namespaces"))?;
        let mut namespace =
            Self { first, handle, socket: ours, kinds, processes, proxy: None, is_asked: false };
        // What root may map, the process inside may not: it waits until it is told.
        let outcome = maps.write_for(first);
        let word: &[u8] = if outcome.is_ok() { b"m" } else { b"s" };
        send(&namespace.socket, word).map_err(at("map users"))?;
        namespace.hear()?;
        if plan.network.is_proxied() {
            let proxy = receive_fd(&namespace.socket).map_err(at("take the proxy's socket"))?;
            namespace.proxy = Some(proxy);
        }
        Ok(namespace)
    }

    fn hear(&self) -> Result<(), Failed> {
        let mut buffer = [0; 512];
        let count = rustix::io::retry_on_intr(|| {
            rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::empty())
        })
        .map_err(at("make namespaces"))?
        .1;
        let message = buffer.get(..count).unwrap_or_default();
        if message == READY {
            return Ok(());
        }
        let text = String::from_utf8_lossy(message);
        let (errno, step) = text.split_once(' ').unwrap_or(("0", "make namespaces"));
        let error = match errno.parse() {
            Ok(0) | Err(_) => io::Error::other("the first process ended"),
            Ok(errno) => io::Error::from_raw_os_error(errno),
        };
        Err(Failed { step: step.to_owned(), error })
    }

    /// Makes this process one of theirs. Allocates nothing.
    pub(crate) fn join(&self) -> io::Result<()> {
        join(self.handle.as_fd(), self.kinds)
    }

    /// Where its root directory can be reached from here.
    pub(crate) fn root(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.first.as_raw_nonzero()))
    }

    /// Whether its processes are its own: then they end with it.
    pub(crate) fn has_processes(&self) -> bool {
        self.processes == Processes::Own
    }

    /// Whether no process is left in it. To be asked when its command has ended: then whoever is left
    /// has the first process above it.
    pub(crate) fn is_alone(&mut self) -> bool {
        let list = format!("/proc/{0}/task/{0}/children", self.first.as_raw_nonzero());
        if fs::read_to_string(list).is_ok_and(|children| children.trim().is_empty()) {
            return true;
        }
        if !self.is_asked {
            self.is_asked = send(&self.socket, WHEN_ALONE).is_ok();
        }
        let mut buffer = [0; 8];
        match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
            Ok((_, count)) => {
                self.is_asked = false;
                // End of file: it is dead, and with it all others.
                count == 0 || buffer.get(..count) == Some(ALONE)
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Readable when [`Namespace::is_alone`] is worth asking again.
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        self.is_asked.then(|| self.socket.as_fd())
    }

    /// The pid of the first process.
    pub(crate) fn first(&self) -> Pid {
        self.first
    }

    /// Ends every process in it.
    pub(crate) fn kill(&self) {
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.kill();
        // It is over when the last of its processes is; only then nothing is left.
        let _ = poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], None);
    }
}

/// The life of the first process. Never returns.
fn live(plan: &Plan, processes: Processes, maps: &Maps, socket: &OwnedFd) -> ! {
    close_all_but(&[socket.as_fd()]);
    die_with_parent();
    let proxy = match settle(plan, processes, maps, socket) {
        Ok(proxy) => proxy,
        Err(Failed { step, error }) => {
            let message = format!("{} {step}", error.raw_os_error().unwrap_or(libc::EINVAL));
            let _ = send(socket, message.as_bytes());
            exit_now(1)
        }
    };
    let _ = rustix::thread::set_name(c"umbo-sandbox");
    if send(socket, READY).is_err() {
        exit_now(1)
    }
    if let Some(proxy) = proxy
        && send_fd(socket.as_fd(), proxy.as_fd()).is_err()
    {
        exit_now(1)
    }
    let mut buffer = [0; 8];
    loop {
        match rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            Ok((_, count)) if count > 0 => {
                // Orphans are buried by the kernel; this returns when there is none any more.
                while !matches!(
                    rustix::process::wait(rustix::process::WaitOptions::empty()),
                    Err(rustix::io::Errno::CHILD)
                ) {}
                let _ = send(socket, ALONE);
            }
            Ok(_) | Err(_) => exit_now(0),
        }
    }
}

fn settle(
    plan: &Plan,
    processes: Processes,
    maps: &Maps,
    socket: &OwnedFd,
) -> Result<Option<OwnedFd>, Failed> {
    ignore_children();
    let mut word = [0; 8];
    let (_, count) = rustix::net::recv(socket, &mut word[..], RecvFlags::empty())
        .map_err(at("wait for the map of users"))?;
    match word.get(..count) {
        Some(b"m") => {}
        Some(b"s") => maps.write_own().map_err(at("map this user"))?,
        _ => exit_now(0),
    }
    if plan.network != Network::On {
        raise_loopback().map_err(at("raise the loopback interface"))?;
    }
    let _ = rustix::process::chdir("/");
    layout::arrange(plan, processes)?;
    if !plan.network.is_proxied() {
        return Ok(None);
    }
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT);
    let listener = std::net::TcpListener::bind(address).map_err(at("open the proxy's port"))?;
    Ok(Some(listener.into()))
}

/// Which users and groups there are inside, and who they are outside: themselves.
struct Maps {
    users: String,
    groups: String,
    user: u32,
    group: u32,
}

impl Maps {
    fn read() -> Self {
        // All that this process itself knows of.
        let read = |name: &str| {
            let text = fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
            let line = |line: &str| {
                let mut fields = line.split_ascii_whitespace();
                let (inside, count) = (fields.next()?, fields.nth(1)?);
                Some(format!("{inside} {inside} {count}\n"))
            };
            text.lines().filter_map(line).collect()
        };
        Self {
            users: read("uid_map"),
            groups: read("gid_map"),
            user: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
        }
    }

    /// From outside: everybody stays who they are. Only root may.
    fn write_for(&self, process: Pid) -> io::Result<()> {
        if self.user != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let write = |name: &str, text: &str| {
            fs::write(format!("/proc/{}/{name}", process.as_raw_nonzero()), text)
        };
        write("uid_map", &self.users)?;
        write("gid_map", &self.groups)
    }

    /// From inside: this user alone.
    fn write_own(&self) -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", self.user))?;
        fs::write("/proc/self/gid_map", format!("{0} {0} 1", self.group))
    }
}

/// Two connected sockets that keep messages apart.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

fn send(socket: &OwnedFd, message: &[u8]) -> io::Result<()> {
    rustix::net::send(socket, message, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes a descriptor from the process at the other end.
pub(crate) fn receive_fd(socket: &OwnedFd) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let found = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    found.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
