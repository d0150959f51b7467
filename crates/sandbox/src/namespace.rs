//! A job's namespaces, in the hands of its supervisor: made before there is a command, by their
//! [`crate::first_process`]. As long as that lives they are there, and when it ends the kernel ends every
//! process in them.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags,
    SocketType, socketpair,
};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::first_process::{self, Birth, LONGEST_WORD_BYTES, Look, READY, WHEN_ALONE, Word};
use crate::hidden::{self, Covers, Node};
use crate::layout::{Failed, Processes, at};
use crate::plan::{Network, Plan};
use crate::sys::namespace::{Fork, Kinds, fork_into, join};

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
    /// Whether it tells of looks at what is hidden.
    hears_looks: bool,
    looks: Vec<Look>,
    is_asked: bool,
    is_alone: bool,
}

impl Namespace {
    /// Makes namespaces for a plan. The caller must be single-threaded.
    pub(crate) fn make(plan: &Plan, processes: Processes) -> Result<Self, Failed> {
        let kinds = Kinds::new(plan.network != Network::On, processes == Processes::Own);
        let (ours, theirs) = socket_pair().map_err(at("make a socket"))?;
        let maps = Maps::read();
        let covers = hidden::nodes(plan);
        let first = match fork_into(Some(kinds)).map_err(at("make namespaces"))? {
            Fork::Child => {
                drop(ours);
                first_process::live(&Birth { plan, processes, maps: &maps, covers }, &theirs)
            }
            Fork::Parent(pid) => pid,
        };
        drop(theirs);
        let handle = pidfd_open(first, PidfdFlags::empty()).map_err(at("hold the namespaces"))?;
        let mut namespace = Self {
            first,
            handle,
            socket: ours,
            kinds,
            processes,
            proxy: None,
            hears_looks: covers.is_empty(),
            looks: Vec::new(),
            is_asked: false,
            is_alone: false,
        };
        // What root may map, the process inside may not: it waits until it is told.
        let outcome = maps.write_for(first);
        let word: &[u8] = if outcome.is_ok() { b"m" } else { b"s" };
        send(&namespace.socket, word).map_err(at("map users"))?;
        namespace.hear(covers)?;
        if plan.network.is_proxied() {
            let proxy = receive_fd(&namespace.socket).map_err(at("take the proxy's socket"))?;
            namespace.proxy = Some(proxy);
        }
        // From here on its words may be about a process, which the kernel then names as we number it.
        rustix::net::sockopt::set_socket_passcred(&namespace.socket, true)
            .map_err(at("hear of looks"))?;
        Ok(namespace)
    }

    /// Waits until it is ready. Meanwhile the nodes that cover what is hidden are looked up by the process
    /// that will answer for them later, so this one answers.
    fn hear(&mut self, nodes: Vec<Node>) -> Result<(), Failed> {
        let mut nodes = Some(nodes);
        let mut covers: Option<Covers> = None;
        loop {
            let mut fds = vec![PollFd::new(&self.socket, PollFlags::IN)];
            fds.extend(
                covers.iter().map(|covers| PollFd::from_borrowed_fd(covers.fd(), PollFlags::IN)),
            );
            rustix::io::retry_on_intr(|| poll(&mut fds, None)).map_err(at("make namespaces"))?;
            let is_said = fds.first().is_some_and(|fd| !fd.revents().is_empty());
            drop(fds);
            if !is_said {
                if let Some(covers) = &covers {
                    covers.answer(&mut |_| {});
                }
                continue;
            }
            let mut buffer = [0; LONGEST_WORD_BYTES];
            let (count, device) =
                receive(&self.socket, &mut buffer).map_err(at("make namespaces"))?;
            if let Some(device) = device {
                covers = Some(Covers::new(device, nodes.take().unwrap_or_default()));
                self.hears_looks = true;
                continue;
            }
            return outcome(buffer.get(..count).unwrap_or_default());
        }
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
        self.listen();
        std::mem::take(&mut self.is_alone)
    }

    /// Takes what the first process said.
    fn listen(&mut self) {
        let mut buffer = [0; LONGEST_WORD_BYTES];
        loop {
            let word = match first_process::hear(&self.socket, &mut buffer) {
                Ok(Some(word)) => word,
                Ok(None) => return,
                // It is dead, and with it all others.
                Err(_) => Word::Alone,
            };
            match word {
                Word::Alone => {
                    self.is_asked = false;
                    self.is_alone = true;
                    return;
                }
                Word::Looked(look) => self.looks.push(look),
            }
        }
    }

    /// Looks at what is hidden, since the last time.
    pub(crate) fn looks(&mut self) -> Vec<Look> {
        self.listen();
        std::mem::take(&mut self.looks)
    }

    /// Whether it tells of looks at what is hidden.
    pub(crate) fn hears_looks(&self) -> bool {
        self.hears_looks
    }

    /// Readable when the first process said something; at its end it says no more.
    pub(crate) fn news(&self) -> Option<BorrowedFd<'_>> {
        (!self.is_alone).then(|| self.socket.as_fd())
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

/// Makes this process, which has to be single-threaded, one of the network that a job has for itself: `process` is
/// one of the job's. Sockets that are open already stay where they are.
pub fn join_network(process: i32) -> io::Result<()> {
    let is_same =
        fs::read_link("/proc/self/ns/net")? == fs::read_link(format!("/proc/{process}/ns/net"))?;
    if is_same {
        return Err(io::Error::other("it has none of its own: its ports are this machine's"));
    }
    let pid = Pid::from_raw(process).ok_or(io::ErrorKind::NotFound)?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    crate::sys::namespace::join_network(handle.as_fd())
}

/// Which users and groups there are inside, and who they are outside: themselves.
pub(crate) struct Maps {
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
    pub(crate) fn write_own(&self) -> io::Result<()> {
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{0} {0} 1", self.user))?;
        fs::write("/proc/self/gid_map", format!("{0} {0} 1", self.group))
    }
}

/// Two connected sockets that keep messages apart.
pub(crate) fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

pub(crate) fn send(socket: &OwnedFd, message: &[u8]) -> io::Result<()> {
    rustix::net::send(socket, message, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes a descriptor from the process at the other end.
pub(crate) fn receive_fd(socket: &OwnedFd) -> io::Result<OwnedFd> {
    receive(socket, &mut [0])?.1.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Takes a message, and the descriptor beside it if there is one.
fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(buffer)];
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    let found = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok((received.bytes, found))
}

/// What the first process says when it is done: that it is ready, or which step failed.
fn outcome(message: &[u8]) -> Result<(), Failed> {
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
