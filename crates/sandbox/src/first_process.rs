//! The first process of a job's namespaces. It makes them as the plan wants them and then waits; it answers
//! for what is hidden, and says who looked at it.
//!
//! It keeps its capabilities and stays readable for the supervisor: without the first the job could read
//! it, without the second nobody could join it.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, UCred,
};
use rustix::process::{Pid, WaitOptions};

use crate::hidden::{self, Covers, Node};
use crate::layout::{self, Failed, Processes, at};
use crate::namespace::{Maps, send};
use crate::notify::program_of;
use crate::plan::{Network, PROXY_PORT, Plan};
use crate::sys::namespace::{
    close_all_but, die_with_parent, exit_now, ignore_children, raise_loopback, watch_children,
};
use crate::sys::socket::send_fd;

/// What the supervisor asks: to hear when nobody is left but this process.
pub(crate) const WHEN_ALONE: &[u8] = b"w";
pub(crate) const READY: &[u8] = b"ok";
const ALONE: &[u8] = b"a";
/// A word fits: a path and a command line are cut.
pub(crate) const LONGEST_WORD_BYTES: usize = 5200;
const LONGEST_PATH_BYTES: usize = 4096;
const LONGEST_PROGRAM_BYTES: usize = 1024;

/// What it says once it is ready.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Nobody is left but itself.
    Alone,
    /// Somebody looked at what is hidden.
    Looked(Look),
}

/// A look at something hidden, as the supervisor hears of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) path: PathBuf,
    /// Who looked, as the supervisor numbers processes; 0 if that is not known.
    pub(crate) pid: u32,
    /// Its command line.
    pub(crate) program: String,
    /// How many looks before this one could not be told.
    pub(crate) missed: u64,
}

/// What it is born with.
pub(crate) struct Birth<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) processes: Processes,
    pub(crate) maps: &'a Maps,
    pub(crate) covers: Vec<Node>,
}

/// The life of the first process. Never returns.
pub(crate) fn live(birth: &Birth<'_>, socket: &OwnedFd) -> ! {
    close_all_but(&[socket.as_fd()]);
    die_with_parent();
    let (proxy, covers) = match settle(birth, socket) {
        Ok(settled) => settled,
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
    let processes = birth.processes;
    let mut waiting = Waiting { socket, processes, covers, children: None, missed: 0 };
    while waiting.turn() {}
    exit_now(0)
}

fn settle(
    birth: &Birth<'_>,
    socket: &OwnedFd,
) -> Result<(Option<OwnedFd>, Option<Covers>), Failed> {
    let Birth { plan, processes, maps, covers } = birth;
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
    let announce = |device: &OwnedFd| send_fd(socket.as_fd(), device.as_fd());
    let device = layout::arrange(plan, *processes, covers, announce)?;
    let covers = device.map(|device| Covers::new(device, covers.clone()));
    if !plan.network.is_proxied() {
        return Ok((None, covers));
    }
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT);
    let listener = std::net::TcpListener::bind(address).map_err(at("open the proxy's port"))?;
    Ok((Some(listener.into()), covers))
}

/// What it waits for.
struct Waiting<'a> {
    socket: &'a OwnedFd,
    processes: Processes,
    covers: Option<Covers>,
    /// From when it is asked on, readable when a child has ended; before, the kernel buries them.
    children: Option<OwnedFd>,
    missed: u64,
}

impl Waiting<'_> {
    /// Waits for one thing and deals with it. `false` when the supervisor is gone.
    fn turn(&mut self) -> bool {
        let covers = self.covers.as_ref().map(Covers::fd);
        let others = covers.into_iter().chain(self.children.as_ref().map(AsFd::as_fd));
        let mut fds = vec![PollFd::new(self.socket, PollFlags::IN)];
        fds.extend(others.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        if rustix::io::retry_on_intr(|| poll(&mut fds, None)).is_err() {
            return false;
        }
        let is_asked = fds.first().is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        if let Some(covers) = &self.covers {
            let (socket, processes, missed) = (self.socket, self.processes, &mut self.missed);
            covers.answer(&mut |look| say_look(socket, processes, look, missed));
        }
        if is_asked {
            let mut buffer = [0; 8];
            match rustix::net::recv(self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((_, count)) if count > 0 => self.children = watch_children().ok(),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Ok(_) | Err(_) => return false,
            }
        }
        self.reap();
        true
    }

    /// Reaps orphans, and says so when there is none any more; if anybody wants to know.
    fn reap(&mut self) {
        let Some(children) = &self.children else { return };
        let mut signals = [0; 1024];
        while matches!(rustix::io::read(children, &mut signals), Ok(count) if count > 0) {}
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => break,
            }
        }
        self.children = None;
        ignore_children();
        let _ = send(self.socket, ALONE);
    }
}

/// Tells the supervisor of a look, and of whose: the kernel translates the number of a process. Never
/// waits, for the supervisor may be waiting for us.
fn say_look(socket: &OwnedFd, processes: Processes, look: &hidden::Look, missed: &mut u64) {
    // While it waits for our answer, it is there to be looked at.
    let program = program_of(look.thread);
    let path = look.path.as_os_str().as_bytes();
    let cut = |bytes: &[u8], most: usize| bytes.get(..most).unwrap_or(bytes).to_vec();
    let word = |kind: char, thread: u32| {
        let head = format!("{kind}{thread}\0{missed}\0").into_bytes();
        let program = cut(program.as_bytes(), LONGEST_PROGRAM_BYTES);
        [head, program, vec![0], cut(path, LONGEST_PATH_BYTES)].concat()
    };
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let who = i32::try_from(look.thread).ok().and_then(Pid::from_raw);
    let named = who.is_some_and(|pid| {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
        control.push(SendAncillaryMessage::ScmCredentials(UCred { pid, uid, gid }));
        let word = word('c', look.thread);
        rustix::net::sendmsg(socket, &[io::IoSlice::new(&word)], &mut control, flags).is_ok()
    });
    // Without processes of its own the job has the supervisor's numbers; with them, they say nothing.
    let number = if processes == Processes::Own { 0 } else { look.thread };
    if named || rustix::net::send(socket, &word('n', number), flags).is_ok() {
        *missed = 0;
    } else {
        *missed += 1;
    }
}

/// In the supervisor: the next word that was said, if there is one. Fails when nobody is there any more.
pub(crate) fn hear(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<Word>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let count = {
        let mut parts = [io::IoSliceMut::new(buffer)];
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        match rustix::net::recvmsg(socket, &mut parts, &mut control, flags) {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    };
    let who = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmCredentials(who) => Some(who.pid.as_raw_nonzero().get()),
        _ => None,
    });
    let word = buffer.get(..count).unwrap_or_default();
    if word.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if word == ALONE {
        return Ok(Some(Word::Alone));
    }
    Ok(parse_look(word, who.and_then(|pid| u32::try_from(pid).ok())).map(Word::Looked))
}

fn parse_look(word: &[u8], named: Option<u32>) -> Option<Look> {
    let mut fields = word.splitn(4, |byte| *byte == 0);
    let (head, missed) = (fields.next()?, fields.next()?);
    let (program, path) = (fields.next()?, fields.next()?);
    let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u64>().ok();
    let pid = match head.split_first()? {
        (b'c', _) => named.unwrap_or(0),
        (_, rest) => number(rest).and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
    };
    let path = Path::new(std::ffi::OsStr::from_bytes(path)).to_owned();
    let program = String::from_utf8_lossy(program).into_owned();
    Some(Look { path, pid, program, missed: number(missed)? })
}
