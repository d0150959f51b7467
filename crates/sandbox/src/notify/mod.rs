//! Answering for a job's calls: what may be done goes on, what may not fails and is written down, and what
//! somebody is to be asked about waits.
//!
//! The kernel does what is answered with "go on", and its walls decide then: a process that changes its
//! arguments after we looked gains nothing. Where no wall stands, nothing goes on: we do it ourselves.

mod call;
mod caller;
mod connect;
mod judge;
mod perform;
mod quick;
mod resolve;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

use self::call::{Call, Links, Place};
use self::caller::{Caller, Callers, command_line};
use self::connect::{Address, Connected, Pending};
use self::judge::{Judge, Judged, Verdict};
use self::perform::{Done, Paths, perform};
use self::resolve::{Resolver, Target};
use crate::denial::{Asked, Denials, Operation};
use crate::plan::{Network, PROXY_PORT, Plan, Rung};
use crate::question::{Decision, Grant, OpenQuestion, OpenQuestions, Question};
use crate::sys::seccomp::{Listener, Notification};

pub(crate) use self::caller::command_line as program_of;

/// So many calls are answered before whatever else there is to do.
const MOST_AT_ONCE: usize = 64;
/// So many calls are held at once; one more is denied.
const MOST_HELD: usize = 256;

/// Answers for the calls of one job.
#[derive(Debug)]
pub(crate) struct Guard {
    listener: Option<Listener>,
    rung: Rung,
    resolver: Resolver,
    /// The port of the proxy on the machine, where the job has no network of its own.
    pub(crate) proxy_port: Option<u16>,
    granted: Vec<PathBuf>,
    /// What of the paths that may be written was, where that is to be known.
    wrote: RefCell<BTreeSet<PathBuf>>,
    /// What is asked about, with the calls that wait for the answer.
    held: OpenQuestions<Vec<Waiting>>,
    pending: Vec<Pending>,
    /// Those who open a pipe to write and wait for its reader.
    writers: RefCell<Vec<Waiting>>,
    callers: Callers,
    /// A call that came and has to be judged in full.
    unanswered: Cell<Option<Notification>>,
}

#[derive(Debug)]
struct Waiting {
    id: u64,
    thread: u32,
    call: Call,
    judged: Judged,
}

impl Guard {
    pub(crate) fn new(
        listener: Listener,
        rung: Rung,
        root: &Path,
        plan: &Plan,
    ) -> io::Result<Self> {
        let inside = plan.shown_inside().map(Path::to_owned).collect();
        Ok(Self {
            listener: Some(listener),
            rung,
            resolver: Resolver::new(root, inside)?,
            proxy_port: None,
            granted: Vec::new(),
            wrote: RefCell::default(),
            held: OpenQuestions::after(0),
            pending: Vec::new(),
            writers: RefCell::default(),
            callers: Callers::default(),
            unanswered: Cell::new(None),
        })
    }

    /// What of the paths that may be written was.
    pub(crate) fn wrote(&self) -> Vec<PathBuf> {
        self.wrote.borrow().iter().cloned().collect()
    }

    /// Readable when a call came.
    pub(crate) fn calls(&self) -> Option<BorrowedFd<'_>> {
        self.listener.as_ref().map(AsFd::as_fd)
    }

    /// What else to wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        self.pending.iter().map(|pending| (pending.fd(), PollFlags::OUT))
    }

    /// Answers the call that came if it is plainly allowed; otherwise it waits for [`Guard::serve`]. To be
    /// called only when there is one.
    pub(crate) fn answer_quickly(&self, plan: &Plan) -> bool {
        let Some(listener) = &self.listener else { return false };
        match listener.receive() {
            // Whoever waits for a reader is looked after by `serve`.
            Ok(asked) if self.try_quickly(&asked, plan) => self.writers.borrow().is_empty(),
            Ok(asked) => {
                self.unanswered.set(Some(asked));
                false
            }
            // Whoever asked may be dead by now.
            Err(_) => false,
        }
    }

    fn try_quickly(&self, asked: &Notification, plan: &Plan) -> bool {
        let Some(listener) = &self.listener else { return false };
        match self.judge(plan).quickly(asked) {
            // If it was not the memory of who asks that was read, nobody hears this.
            Some(Verdict::Resume) => listener.resume(asked.id),
            Some(Verdict::Perform(judged)) => {
                let Some(call) = Call::read(asked) else { return false };
                if listener.is_valid(asked.id) {
                    self.perform(asked.id, asked.thread, &call, &judged);
                }
            }
            Some(Verdict::Fail(_) | Verdict::Deny { .. }) | None => return false,
        }
        true
    }

    /// Deals with what came, without waiting for anything.
    pub(crate) fn serve(&mut self, plan: &Plan, denials: &mut Denials) {
        self.finish_pending();
        if let Some(asked) = self.unanswered.take() {
            self.answer(&asked, plan, denials);
        }
        for _ in 0..MOST_AT_ONCE {
            match self.next() {
                Some(asked) if self.try_quickly(&asked, plan) => {}
                Some(asked) => self.answer(&asked, plan, denials),
                None => break,
            }
        }
        self.retry_writers();
        self.expire(denials);
    }

    /// Tries again for those who wait for the reader of a pipe.
    fn retry_writers(&self) {
        for Waiting { id, thread, call, judged } in self.writers.take() {
            if self.listener.as_ref().is_some_and(|listener| listener.is_valid(id)) {
                self.perform(id, thread, &call, &judged);
            }
        }
    }

    fn next(&mut self) -> Option<Notification> {
        let listener = self.listener.as_ref()?;
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        if poll(&mut fds, Some(&Timespec::default())).ok()? == 0 {
            return None;
        }
        let [fd] = fds;
        if fd.revents().contains(PollFlags::IN) {
            // Whoever asked may be dead by now.
            return listener.receive().ok();
        }
        // Nobody is left who could ask.
        self.listener = None;
        None
    }

    fn answer(&mut self, asked: &Notification, plan: &Plan, denials: &mut Denials) {
        let Some(listener) = &self.listener else { return };
        let call = Call::read(asked);
        // Only now it is known that what was read is the memory of who asks.
        if !listener.is_valid(asked.id) {
            return;
        }
        let Some(call) = call else {
            let is_unwalled =
                asked.number() == crate::sys::calls::SYS_connect || self.rung == Rung::Landlock;
            if is_unwalled {
                listener.fail(asked.id, libc::EFAULT);
            } else {
                listener.resume(asked.id);
            }
            return;
        };
        if let Call::Connect { descriptor, address } = &call {
            return self.connect(asked, plan, denials, *descriptor, address);
        }
        if let Call::Bind { descriptor, address } = &call {
            return self.bind(asked, plan, denials, *descriptor, address);
        }
        if let Call::SendTo { address } = &call {
            return self.send_to(asked, plan, denials, address);
        }
        let verdict = self.judge(plan).judge(asked.thread, &call);
        match verdict {
            Verdict::Resume => listener.resume(asked.id),
            Verdict::Fail(errno) => listener.fail(asked.id, errno),
            Verdict::Perform(judged) => self.perform(asked.id, asked.thread, &call, &judged),
            Verdict::Deny { judged, target } => {
                self.deny_or_hold(asked, plan, denials, call, judged, &target);
            }
        }
    }

    fn judge<'a>(&'a self, plan: &'a Plan) -> Judge<'a> {
        let (resolver, granted, wrote) = (&self.resolver, &self.granted, &self.wrote);
        Judge { plan, rung: self.rung, resolver, granted, wrote }
    }

    fn perform(&self, id: u64, thread: u32, call: &Call, judged: &Judged) {
        let Some(listener) = &self.listener else { return };
        let paths = Paths { first: &judged.first, second: judged.second.as_deref() };
        let caller = self.callers.of(thread, || listener.is_valid(id));
        let done = perform(call, &paths, &self.resolver, &caller);
        match done {
            Ok(Done::Value(value)) => listener.succeed(id, value),
            Ok(Done::Descriptor { fd, close_on_exec }) => {
                listener.hand_over(id, fd.as_fd(), close_on_exec);
            }
            // A pipe that nobody reads yet. We cannot wait for that, but who asked can.
            Err(Errno::NXIO) if self.waits_for_reader(call, judged) => {
                let (call, judged) = (call.clone(), judged.clone());
                self.writers.borrow_mut().push(Waiting { id, thread, call, judged });
            }
            Err(errno) => listener.fail(id, errno.raw_os_error()),
        }
    }

    /// Whether a call opens a pipe, and may wait until somebody reads it: a socket fails the same way.
    fn waits_for_reader(&self, call: &Call, judged: &Judged) -> bool {
        call.may_wait()
            && self.writers.borrow().len() < MOST_HELD
            && self
                .resolver
                .hold(&judged.first)
                .and_then(rustix::fs::fstat)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    }

    fn deny_or_hold(
        &mut self,
        asked: &Notification,
        plan: &Plan,
        denials: &mut Denials,
        call: Call,
        judged: Judged,
        target: &Path,
    ) {
        let operation = refine(&call, &judged);
        let text = target.to_string_lossy();
        let can_ask = !matches!(operation, Operation::Execute | Operation::Connect)
            && !crate::ruleset::is_private(target)
            && Caller::of(asked.thread).is_this_user();
        let held: usize = self.held.iter().map(|held| held.waiting.len()).sum();
        match plan.ask {
            Some(ask) if ask.writes && can_ask && held < MOST_HELD => {
                let waiting = Waiting { id: asked.id, thread: asked.thread, call, judged };
                let timeout = Duration::from_millis(ask.deadline_ms);
                self.hold(operation, target, timeout, waiting);
            }
            _ => {
                let program = command_line(asked.thread);
                denials.add(operation, &text, (asked.thread, &program), None);
                if let Some(listener) = &self.listener {
                    listener.fail(asked.id, libc::EACCES);
                }
            }
        }
    }

    fn hold(&mut self, operation: Operation, target: &Path, timeout: Duration, waiting: Waiting) {
        let text = target.to_string_lossy().into_owned();
        let is_same = |asked: &Question| asked.operation == operation && asked.target == text;
        if let Some(held) = self.held.iter_mut().find(|held| is_same(&held.question)) {
            held.waiting.push(waiting);
            return;
        }
        let mut grants = vec![Grant::Once, Grant::Path(target.to_owned())];
        grants.extend(target.parent().map(|parent| Grant::Directory(parent.to_owned())));
        let question = Question {
            number: 0,
            operation,
            target: text,
            program: command_line(waiting.thread),
            pid: waiting.thread,
            left_ms: 0,
            grants,
        };
        self.held.ask(question, timeout, vec![waiting]);
    }

    /// The questions that wait for an answer.
    pub(crate) fn questions(&mut self) -> Vec<Question> {
        self.forget_dead();
        self.held.list()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        /// Nothing tells when a reader comes.
        const RETRY: Duration = Duration::from_millis(10);
        let retry = (!self.writers.borrow().is_empty()).then(|| Instant::now() + RETRY);
        [self.held.next_deadline(), retry].into_iter().flatten().min()
    }

    /// Lets the calls behind a question go on, or fails them. `false` if there is no such question.
    pub(crate) fn decide(
        &mut self,
        number: u64,
        decision: &Decision,
        denials: &mut Denials,
    ) -> bool {
        let Some(held) = self.held.take(number) else { return false };
        match decision {
            Decision::Deny => self.refuse(&held, Asked::Refused, denials),
            Decision::Allow(grant) => {
                match grant {
                    Grant::Path(path) | Grant::Directory(path) => self.granted.push(path.clone()),
                    Grant::Once | Grant::Host(_) => {}
                }
                for waiting in &held.waiting {
                    let is_waiting = self
                        .listener
                        .as_ref()
                        .is_some_and(|listener| listener.is_valid(waiting.id));
                    if is_waiting {
                        self.perform(waiting.id, waiting.thread, &waiting.call, &waiting.judged);
                    }
                }
            }
        }
        true
    }

    fn refuse(&self, held: &OpenQuestion<Vec<Waiting>>, asked: Asked, denials: &mut Denials) {
        let Some(listener) = &self.listener else { return };
        for waiting in &held.waiting {
            let question = &held.question;
            let who = (question.pid, question.program.as_str());
            denials.add(question.operation, &question.target, who, Some(asked));
            listener.fail(waiting.id, libc::EACCES);
        }
    }

    /// Denies what nobody answered in time.
    fn expire(&mut self, denials: &mut Denials) {
        for held in self.held.take_expired() {
            self.refuse(&held, Asked::Unanswered, denials);
        }
    }

    /// A question is over when nobody waits for its answer any more.
    fn forget_dead(&mut self) {
        let Some(listener) = &self.listener else {
            self.held.take_if(|_| true);
            return;
        };
        for held in self.held.iter_mut() {
            held.waiting.retain(|waiting| listener.is_valid(waiting.id));
        }
        self.held.take_if(|held| held.waiting.is_empty());
    }

    fn finish_pending(&mut self) {
        let Some(listener) = &self.listener else {
            self.pending.clear();
            return;
        };
        self.pending.retain(|pending| {
            let mut fds = [PollFd::from_borrowed_fd(pending.fd(), PollFlags::OUT)];
            if !matches!(poll(&mut fds, Some(&Timespec::default())), Ok(ready) if ready > 0) {
                // Whoever waited may have been killed.
                return listener.is_valid(pending.id);
            }
            match pending.result() {
                0 => listener.succeed(pending.id, 0),
                errno => listener.fail(pending.id, errno),
            }
            false
        });
    }
}

/// Connections.
impl Guard {
    fn connect(
        &mut self,
        asked: &Notification,
        plan: &Plan,
        denials: &mut Denials,
        descriptor: i32,
        bytes: &[u8],
    ) {
        let address = Address::parse(bytes);
        let has_own_network = self.rung != Rung::Landlock && plan.network != Network::On;
        let target = match &address {
            Address::Inet(inet) if has_own_network => {
                if Address::is_local(inet) {
                    Ok(bytes.to_vec())
                } else {
                    Err(libc::ENETUNREACH)
                }
            }
            Address::Inet(_) if plan.network == Network::On => Ok(bytes.to_vec()),
            // Without a network of its own, the job's proxy is on the machine, at another port.
            Address::Inet(inet) if Address::is_local(inet) && inet.port() == PROXY_PORT => {
                self.proxy_port.map(connect::loopback).ok_or(libc::EACCES)
            }
            Address::Nobody => Ok(bytes.to_vec()),
            Address::Abstract(_) | Address::Other(connect::NETLINK) if has_own_network => {
                Ok(bytes.to_vec())
            }
            Address::Inet(_) | Address::Abstract(_) | Address::Other(_) => Err(libc::EACCES),
            Address::Path(path) => {
                return self.connect_path(asked, plan, denials, descriptor, path);
            }
        };
        match target {
            Ok(bytes) => self.make_connection(asked, descriptor, &bytes),
            Err(errno) => self.deny_address(asked, denials, &address, errno),
        }
    }

    fn deny_address(
        &self,
        asked: &Notification,
        denials: &mut Denials,
        address: &Address,
        errno: i32,
    ) {
        let program = command_line(asked.thread);
        denials.add(Operation::Connect, &address.to_string(), (asked.thread, &program), None);
        if let Some(listener) = &self.listener {
            listener.fail(asked.id, errno);
        }
    }

    fn connect_path(
        &mut self,
        asked: &Notification,
        plan: &Plan,
        denials: &mut Denials,
        descriptor: i32,
        path: &Path,
    ) {
        use std::os::unix::ffi::OsStrExt;
        let place = Place { directory: libc::AT_FDCWD, path: path.as_os_str().as_bytes().to_vec() };
        let target = self.resolver.resolve(asked.thread, &place, Links::Follow);
        if let Some(service) = service_at(plan, path, &target) {
            return self.connect_service(asked, descriptor, &service);
        }
        let Some(listener) = &self.listener else { return };
        let found = match target {
            Target::At(found) if found.exists() => found.path,
            // Where it is on the machine, but hidden here, somebody denied it.
            Target::At(found) if rustix::fs::stat(&found.path).is_ok() => {
                let address = Address::Path(found.path);
                return self.deny_address(asked, denials, &address, libc::EACCES);
            }
            Target::Closed(path) | Target::Special(path) => {
                let address = Address::Path(path);
                return self.deny_address(asked, denials, &address, libc::EACCES);
            }
            Target::Missing if path.is_absolute() && rustix::fs::stat(path).is_ok() => {
                let address = Address::Path(path.to_owned());
                return self.deny_address(asked, denials, &address, libc::EACCES);
            }
            Target::At(_) | Target::Missing => return listener.fail(asked.id, libc::ENOENT),
        };
        if !self.judge(plan).may_write(&found) {
            return self.deny_address(asked, denials, &Address::Path(found), libc::EACCES);
        }
        match self.resolver.hold(&found) {
            Ok(held) => {
                self.make_connection(asked, descriptor, &connect::held_socket(&held, None));
            }
            Err(error) => listener.fail(asked.id, error.raw_os_error()),
        }
    }

    /// A service of the machine that the plan lets be asked. Its socket may lie where the job sees none.
    fn connect_service(&mut self, asked: &Notification, descriptor: i32, socket: &Path) {
        match resolve::hold_outside(socket) {
            Ok(held) => self.make_connection(asked, descriptor, &connect::held_socket(&held, None)),
            Err(error) => {
                if let Some(listener) = &self.listener {
                    listener.fail(asked.id, error.raw_os_error());
                }
            }
        }
    }

    fn make_connection(&mut self, asked: &Notification, descriptor: i32, address: &[u8]) {
        let Some(listener) = &self.listener else { return };
        match Caller::of(asked.thread).descriptor(descriptor) {
            Err(error) => listener.fail(asked.id, error.raw_os_error()),
            Ok(socket) => match connect::connect(asked.id, socket, address) {
                Connected::Now(Ok(())) => listener.succeed(asked.id, 0),
                Connected::Now(Err(errno)) => listener.fail(asked.id, errno),
                Connected::Later(pending) => self.pending.push(pending),
            },
        }
    }

    /// A socket's name in the file system is a file that is made; other names concern nobody.
    fn bind(
        &self,
        asked: &Notification,
        plan: &Plan,
        denials: &mut Denials,
        descriptor: i32,
        bytes: &[u8],
    ) {
        use std::os::unix::ffi::OsStrExt;
        let Some(listener) = &self.listener else { return };
        let Address::Path(path) = Address::parse(bytes) else { return listener.resume(asked.id) };
        let at = Place { directory: libc::AT_FDCWD, path: path.as_os_str().as_bytes().to_vec() };
        let call = Call::MakeNode { at, mode: 0 };
        match self.judge(plan).judge(asked.thread, &call) {
            Verdict::Resume => listener.resume(asked.id),
            Verdict::Fail(errno) => listener.fail(asked.id, errno),
            Verdict::Perform(judged) => match self.bind_at(asked, descriptor, &judged.first) {
                Ok(()) => listener.succeed(asked.id, 0),
                Err(errno) => listener.fail(asked.id, errno),
            },
            Verdict::Deny { target, .. } => {
                let program = command_line(asked.thread);
                let who = (asked.thread, program.as_str());
                denials.add(Operation::Create, &target.to_string_lossy(), who, None);
                listener.fail(asked.id, libc::EACCES);
            }
        }
    }

    fn bind_at(&self, asked: &Notification, descriptor: i32, path: &Path) -> Result<(), i32> {
        let raw = |error: rustix::io::Errno| error.raw_os_error();
        let caller = Caller::of(asked.thread);
        if !caller.is_this_user() {
            return Err(libc::EACCES);
        }
        let (parent, name) = resolve::hold_parent(&self.resolver, path).map_err(raw)?;
        let socket = caller.descriptor(descriptor).map_err(raw)?;
        let address = connect::held_socket(&parent, Some(&name));
        let before = rustix::process::umask(caller.umask());
        let result = crate::sys::socket::bind(socket.as_fd(), &address);
        rustix::process::umask(before);
        result
    }

    fn send_to(&self, asked: &Notification, plan: &Plan, denials: &mut Denials, bytes: &[u8]) {
        let Some(listener) = &self.listener else { return };
        let address = Address::parse(bytes);
        match &address {
            Address::Inet(inet) if plan.network != Network::On && !Address::is_local(inet) => {
                self.deny_address(asked, denials, &address, libc::ENETUNREACH);
            }
            // The network namespace is the wall; unix sockets that name a receiver do not exist.
            _ => listener.resume(asked.id),
        }
    }
}

/// The socket on the machine that a path means, if the plan lets its service be asked.
fn service_at(plan: &Plan, path: &Path, target: &Target) -> Option<PathBuf> {
    if plan.connect.is_empty() {
        return None;
    }
    let named = match target {
        Target::At(found) => found.path.clone(),
        Target::Closed(path) => path.clone(),
        // The directory is not there for the job; on the machine it may be.
        Target::Missing if path.is_absolute() => std::fs::canonicalize(path).ok()?,
        Target::Missing | Target::Special(_) => return None,
    };
    plan.connect.iter().any(|allowed| named.starts_with(allowed)).then_some(named)
}

/// What a call does, told by whether its file is there.
fn refine(call: &Call, judged: &Judged) -> Operation {
    match call.operation() {
        Operation::Write if rustix::fs::lstat(&judged.first).is_err() => Operation::Create,
        operation => operation,
    }
}
