//! The proxy's process: a thread for each connection, and one that hears the supervisor's answers.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::net::{RecvFlags, SendFlags};

use super::head::{self, How, Wanted};
use super::{Reply, Said};
use crate::hosts::{HostRule, is_private};
use crate::sys::namespace::{close_all_but, die_with_parent, exit_now};

/// How long a client may take to say what it wants.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an address may take to answer.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// What every connection needs.
struct Shared {
    control: OwnedFd,
    /// The hosts that are listed; without a list, all public ones.
    rules: Option<Vec<HostRule>>,
    may_ask: bool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    asked: u64,
    answers: HashMap<u64, Sender<bool>>,
}

/// The life of the process. Never returns.
pub(super) fn live(
    listener: &OwnedFd,
    control: &OwnedFd,
    rules: Option<Vec<HostRule>>,
    may_ask: bool,
) -> ! {
    close_all_but(&[listener.as_fd(), control.as_fd()]);
    die_with_parent();
    let _ = rustix::thread::set_name(c"umbo-proxy");
    let (Ok(listener), Ok(control)) = (listener.try_clone(), control.try_clone()) else {
        exit_now(1)
    };
    let waiting = Mutex::default();
    let shared = Arc::new(Shared { control, rules, may_ask, waiting });
    let listener = TcpListener::from(listener);
    let accepting = Arc::clone(&shared);
    let started = thread::Builder::new().stack_size(STACK).spawn(move || {
        for client in listener.incoming().flatten() {
            let shared = Arc::clone(&accepting);
            let serve = move || {
                let _ = serve(&client, &shared);
            };
            // Where there is no thread for it, the connection is closed.
            let _ = thread::Builder::new().stack_size(STACK).spawn(serve);
        }
    });
    if started.is_err() {
        exit_now(1)
    }
    shared.hear()
}

/// The stack of a thread: names are looked up on it, which takes some.
const STACK: usize = 256 << 10;

impl Shared {
    /// Hears answers until the supervisor is gone.
    fn hear(&self) -> ! {
        let mut buffer = [0; 256];
        loop {
            let count = match rustix::net::recv(&self.control, &mut buffer[..], RecvFlags::empty())
            {
                Ok((_, count)) if count > 0 => count,
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) | Err(_) => exit_now(0),
            };
            let reply = buffer.get(..count).and_then(|text| serde_json::from_slice(text).ok());
            if let Some(Reply { id, allow }) = reply
                && let Some(answer) = self.waiting().answers.remove(&id)
            {
                let _ = answer.send(allow);
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, said: &Said) {
        if let Ok(text) = serde_json::to_vec(said) {
            let _ = rustix::net::send(&self.control, &text, SendFlags::NOSIGNAL);
        }
    }

    /// Says something that is answered, and waits for that.
    fn ask(&self, said: impl FnOnce(u64) -> Said) -> bool {
        let (sender, answer) = channel();
        let id = {
            let mut waiting = self.waiting();
            waiting.asked += 1;
            let id = waiting.asked;
            waiting.answers.insert(id, sender);
            id
        };
        self.say(&said(id));
        answer.recv().unwrap_or(false)
    }

    /// Whether a name was listed.
    fn is_listed(&self, host: &str, port: u16) -> bool {
        match &self.rules {
            None => true,
            Some(rules) => rules.iter().any(|rule| rule.names(host, port)),
        }
    }

    /// Whether an address may be reached, whatever name led to it.
    fn may_reach(&self, address: &SocketAddr) -> bool {
        let lists = |rule: &HostRule| rule.lists(address.ip(), address.port());
        !is_private(address.ip()) || self.rules.iter().flatten().any(lists)
    }

    /// Connects to a host, or says why not.
    fn dial(&self, host: &str, port: u16, peer: u16) -> Result<TcpStream, Refused> {
        // An address that somebody said yes to is listed by that.
        let mut is_approved = false;
        if !self.is_listed(host, port) {
            if !self.may_ask {
                return Err(Refused::Denied(format!(
                    "{host} is not on the list of this job's hosts"
                )));
            }
            if !self.ask(|id| Said::Ask { id, host: host.to_owned(), port, peer }) {
                return Err(Refused::Asked);
            }
            is_approved = host.parse::<IpAddr>().is_ok();
        }
        // Looked up once: what is judged is what is connected to.
        let addresses: Vec<SocketAddr> = (host, port)
            .to_socket_addrs()
            .map_err(|error| Refused::Failed(format!("{host}: {error}")))?
            .collect();
        let reachable: Vec<&SocketAddr> =
            addresses.iter().filter(|address| is_approved || self.may_reach(address)).collect();
        if reachable.is_empty() {
            return Err(Refused::Denied(format!(
                "{host} has a private address; list the address to allow it"
            )));
        }
        let mut last = String::new();
        for address in reachable {
            match TcpStream::connect_timeout(address, DIAL_TIMEOUT) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = format!("{host}: {error}"),
            }
        }
        Err(Refused::Failed(last))
    }
}

/// Why there is no connection.
enum Refused {
    /// Our rules.
    Denied(String),
    /// Somebody's answer, or nobody's; the supervisor knows.
    Asked,
    /// The network.
    Failed(String),
}

impl Refused {
    fn text(&self) -> &str {
        match self {
            Self::Denied(text) | Self::Failed(text) => text,
            Self::Asked => "nobody allowed it",
        }
    }
}

fn serve(client: &TcpStream, shared: &Shared) -> io::Result<()> {
    client.set_read_timeout(Some(HEAD_TIMEOUT))?;
    let peer = client.peer_addr()?.port();
    let mut reader = BufReader::new(client);
    let Wanted { host, port, how } = match head::read(&mut reader, client) {
        Ok(wanted) => wanted,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return answer(client, "400 Bad Request", &error.to_string());
        }
        Err(error) => return Err(error),
    };
    client.set_read_timeout(None)?;
    let dialled = shared.dial(&host, port, peer);
    match &dialled {
        Ok(_) | Err(Refused::Failed(_)) => shared.say(&Said::Request { host, port }),
        Err(Refused::Denied(_)) => {
            shared.ask(|id| Said::Refuse { id, host, port, peer });
        }
        Err(Refused::Asked) => {}
    }
    let server = match (dialled, &how) {
        (Ok(server), _) => server,
        (Err(Refused::Failed(_)), How::Socks) => {
            return (&*client).write_all(&[5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
        }
        (Err(_), How::Socks) => return (&*client).write_all(&[5, 2, 0, 1, 0, 0, 0, 0, 0, 0]),
        (Err(why @ Refused::Failed(_)), _) => return answer(client, "502 Bad Gateway", why.text()),
        (Err(why), _) => return answer(client, "403 Forbidden", why.text()),
    };
    match how {
        How::Connect => (&*client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        How::Socks => (&*client).write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?,
        How::Forward(head) => (&server).write_all(&head)?,
    }
    // What the client sent behind its request is the server's.
    (&server).write_all(reader.buffer())?;
    carry(client, &server)
}

fn answer(mut client: &TcpStream, status: &str, text: &str) -> io::Result<()> {
    let body = format!("umbo sandbox: {text}\n");
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )?;
    client.shutdown(Shutdown::Write)?;
    // What the client still sends is read: closing on it would take the answer from it.
    let mut rest = [0; 4096];
    client.set_read_timeout(Some(Duration::from_secs(1)))?;
    while matches!(client.read(&mut rest), Ok(count) if count > 0) {}
    Ok(())
}

/// Carries bytes both ways until both are at their end.
fn carry(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let up = thread::Builder::new().stack_size(STACK).spawn(move || copy(&from, &to))?;
    copy(server, client);
    let _ = up.join();
    Ok(())
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
