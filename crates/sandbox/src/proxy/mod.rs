//! The only way out of a job's network: a proxy that knows which hosts it may reach.
//!
//! Its socket is inside, made with the namespaces; it is accepted from outside, by a process of its own
//! that is started with the first connection. That process looks names up, once, and connects to the very
//! address that it judged. It tells the supervisor of every request, and asks it where somebody may decide.

mod head;
mod server;
mod who;

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

use crate::denial::{Asked, Denials, Operation};
use crate::namespace::socket_pair;
use crate::plan::{Network, Rung};
use crate::question::{Decision, Grant, OpenQuestions, Question};
use crate::sys::namespace::{Fork, fork_into};
use crate::walls::Walls;

/// So many different requests are listed.
const MOST_LISTED: usize = 100;
/// Numbers of questions from here on are the proxy's.
const FIRST_NUMBER: u64 = 1 << 32;

/// A host that a job asked the proxy for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// The host, as it was named.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether it was let through.
    pub allowed: bool,
    /// How often.
    pub count: u64,
}

/// What the proxy's process tells the supervisor.
#[derive(Debug, Serialize, Deserialize)]
enum Said {
    /// A request was let through.
    Request { host: String, port: u16 },
    /// A request was refused. The client is answered after the supervisor, who looks for it first.
    Refuse { id: u64, host: String, port: u16, peer: u16 },
    /// May this one?
    Ask { id: u64, host: String, port: u16, peer: u16 },
}

/// The answer to [`Said::Ask`] and [`Said::Refuse`].
#[derive(Debug, Serialize, Deserialize)]
struct Reply {
    id: u64,
    allow: bool,
}

/// A connection that waits for an answer about its host.
#[derive(Debug)]
struct Waiting {
    id: u64,
    host: String,
}

/// The proxy of a job, seen from its supervisor.
#[derive(Debug)]
pub(crate) struct Proxy {
    listener: Option<OwnedFd>,
    outside_port: Option<u16>,
    process: Option<Process>,
    requests: Vec<Requested>,
    held: OpenQuestions<Waiting>,
    /// Hosts that somebody allowed for as long as the job runs.
    granted: Vec<String>,
}

#[derive(Debug)]
struct Process {
    control: OwnedFd,
    handle: OwnedFd,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
        let _ = poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], None);
    }
}

impl Proxy {
    /// The proxy of a job that has one.
    pub(crate) fn new(walls: &mut Walls) -> io::Result<Option<Self>> {
        if !walls.plan().network.is_proxied() {
            return Ok(None);
        }
        let inside = walls.namespace_mut().and_then(|namespace| namespace.proxy.take());
        let (listener, outside_port) = match (inside, walls.rung()) {
            (Some(listener), _) => (listener, None),
            (None, Rung::Landlock) => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let port = listener.local_addr()?.port();
                (listener.into(), Some(port))
            }
            (None, _) => return Err(io::ErrorKind::NotConnected.into()),
        };
        Ok(Some(Self {
            listener: Some(listener),
            outside_port,
            process: None,
            requests: Vec::new(),
            held: OpenQuestions::after(FIRST_NUMBER),
            granted: Vec::new(),
        }))
    }

    /// Its port on the machine, where the job has no network of its own.
    pub(crate) fn outside_port(&self) -> Option<u16> {
        self.outside_port
    }

    /// What to wait for.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.process {
            Some(process) => Some(process.control.as_fd()),
            None => self.listener.as_ref().map(AsFd::as_fd),
        }
    }

    /// Starts the process with the first connection; then hears what it says.
    pub(crate) fn serve(&mut self, walls: &Walls, denials: &mut Denials) {
        if self.process.is_none() {
            let Some(listener) = &self.listener else { return };
            let mut fds = [PollFd::new(listener, PollFlags::IN)];
            if !matches!(poll(&mut fds, Some(&Timespec::default())), Ok(ready) if ready > 0) {
                return;
            }
            // Where it cannot be started, the connection is closed, and with it the way out.
            self.process = self.listener.take().and_then(|listener| start(&listener, walls).ok());
            return;
        }
        while let Some(said) = self.hear() {
            match said {
                Said::Request { host, port } => self.note(host, port, true),
                Said::Refuse { id, host, port, peer } => {
                    let (pid, program) = who::is_at(walls, peer);
                    let target = format!("{host}:{port}");
                    denials.add(Operation::Connect, &target, (pid, &program), None);
                    self.note(host, port, false);
                    self.reply(id, false);
                }
                Said::Ask { id, host, port, peer } => self.hold(id, &host, port, peer, walls),
            }
        }
        self.expire(denials);
    }

    fn hear(&mut self) -> Option<Said> {
        let process = self.process.as_ref()?;
        let mut buffer = [0; 1024];
        match rustix::net::recv(&process.control, &mut buffer[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => {
                self.process = None;
                None
            }
            Ok((_, count)) => serde_json::from_slice(buffer.get(..count)?).ok(),
            Err(_) => None,
        }
    }

    fn note(&mut self, host: String, port: u16, allowed: bool) {
        let same = |known: &&mut Requested| {
            known.host == host && known.port == port && known.allowed == allowed
        };
        if let Some(known) = self.requests.iter_mut().find(same) {
            known.count += 1;
        } else if self.requests.len() < MOST_LISTED {
            self.requests.push(Requested { host, port, allowed, count: 1 });
        }
    }

    fn hold(&mut self, id: u64, host: &str, port: u16, peer: u16, walls: &Walls) {
        let Some(ask) = walls.plan().ask.filter(|ask| ask.hosts) else {
            return self.reply(id, false);
        };
        if self.granted.iter().any(|granted| granted == host) {
            return self.reply(id, true);
        }
        let (pid, program) = who::is_at(walls, peer);
        let question = Question {
            number: 0,
            operation: Operation::Connect,
            target: format!("{host}:{port}"),
            program,
            pid,
            left_ms: 0,
            grants: vec![Grant::Once, Grant::Host(host.to_owned())],
        };
        let timeout = Duration::from_millis(ask.deadline_ms);
        self.held.ask(question, timeout, Waiting { id, host: host.to_owned() });
    }

    pub(crate) fn questions(&self) -> Vec<Question> {
        self.held.list()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.held.next_deadline()
    }

    /// Answers a question. `false` if there is no such.
    pub(crate) fn decide(
        &mut self,
        number: u64,
        decision: &Decision,
        denials: &mut Denials,
    ) -> bool {
        let Some(held) = self.held.take(number) else { return false };
        let allow = matches!(decision, Decision::Allow(_));
        if !allow {
            refuse(&held.question, Asked::Refused, denials);
        }
        self.reply(held.waiting.id, allow);
        if let Decision::Allow(Grant::Host(host)) = decision
            && *host == held.waiting.host
        {
            self.grant(host);
        }
        true
    }

    /// Lets a host be reached from now on, by those too who wait already.
    fn grant(&mut self, host: &str) {
        self.granted.push(host.to_owned());
        for held in self.held.take_if(|held| held.waiting.host == host) {
            self.reply(held.waiting.id, true);
        }
    }

    fn expire(&mut self, denials: &mut Denials) {
        for held in self.held.take_expired() {
            refuse(&held.question, Asked::Unanswered, denials);
            self.reply(held.waiting.id, false);
        }
    }

    fn reply(&self, id: u64, allow: bool) {
        if let (Some(process), Ok(text)) = (&self.process, serde_json::to_vec(&Reply { id, allow }))
        {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            let _ = rustix::net::send(&process.control, &text, flags);
        }
    }

    /// The requests so far.
    pub(crate) fn requests(&mut self) -> Vec<Requested> {
        std::mem::take(&mut self.requests)
    }
}

fn refuse(question: &Question, asked: Asked, denials: &mut Denials) {
    let who = (question.pid, question.program.as_str());
    denials.add(Operation::Connect, &question.target, who, Some(asked));
}

fn start(listener: &OwnedFd, walls: &Walls) -> io::Result<Process> {
    let (control, theirs) = socket_pair()?;
    let rules = match &walls.plan().network {
        Network::Hosts(rules) => Some(rules.clone()),
        _ => None,
    };
    let may_ask = walls.plan().ask.is_some_and(|ask| ask.hosts);
    let process = match fork_into(None)? {
        Fork::Child => server::live(listener, &theirs, rules, may_ask),
        Fork::Parent(pid) => pid,
    };
    Ok(Process { control, handle: pidfd_open(process, PidfdFlags::empty())? })
}
