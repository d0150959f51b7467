//! A job in the hands of its supervisor: admitted, started, and the state that the loop
//! ([`super::pumping`]) and the end ([`super::conclusion`]) work on.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use rustix::process::Pid;
use umbo_sandbox::Sandbox;

use super::admission::{self, Bell, Lane, Order, Waiting};
use super::assignment::{self, Input as Wanted, Program};
use super::child::{Stage as ChildStage, Terminal};
use super::connections::Connections;
use super::input::Input;
use super::keeper::SHORT_JOB_TIME;
use super::ladder::Climb;
use super::pause::Pause;
use super::prepared::{NewJob, Pipes, PreparedJob};
use super::sandbox::Questions;
use super::tree::Tree;
use super::{Next, report};
use crate::clock;
use crate::event::EventKind;
use crate::failpoint;
use crate::id::JobId;
use crate::log::{LogWriter, Stream};
use crate::outcome::{Drained, Leaked, StoppedBy};
use crate::request::{Admission, Streams};
use crate::session;
use crate::state::{Started, State};
use crate::sys::cgroup::{Bounds, Cgroup, Enforcer};
use crate::sys::process;
use crate::sys::watch::Deserted;
use crate::wire::{Assign, Frame, NotifyOn, Report};

/// Takes a job and sees it through.
pub(super) fn run(
    state: &State,
    mut prepared: PreparedJob,
    caller: &OwnedFd,
    frame: Frame<Assign>,
) -> Next {
    match admit(state, &mut prepared, frame, caller) {
        Ok(admitted) => {
            let mut job = Supervision::new(state, prepared, caller, admitted);
            job.begin();
            job.pump();
            job.conclude()
        }
        Err(refusal) => {
            report(caller, &refusal);
            prepared.abandon();
            Next::Exit(0)
        }
    }
}

/// A job that exists on disk.
struct Admitted {
    assign: Assign,
    program: Program,
    wanted: Wanted,
    request: Rc<File>,
    log: LogWriter,
    /// The lock of its session.
    session: Option<File>,
    /// The lock of its slot; without one it waits.
    slot: Option<File>,
}

/// Makes the prepared directory the job's, or says why not.
fn admit(
    state: &State,
    prepared: &mut PreparedJob,
    frame: Frame<Assign>,
    caller: &OwnedFd,
) -> Result<Admitted, Report> {
    let failed = |what: &'static str| {
        move |error: io::Error| Report::Failed { why: format!("{what}: {error}") }
    };
    let (assign, program, wanted) =
        assignment::split(frame, caller).map_err(failed("cannot take the job"))?;
    // Who waits for other jobs, or for its session, takes no turn from others meanwhile.
    let waits = !assign.after.is_empty();
    let session = if waits { None } else { take_session(state, &assign)? };
    let slot = if waits || (assign.session.is_some() && session.is_none()) {
        None
    } else {
        take_slot(state, &assign, &mut prepared.last_turn)?
    };
    let log = prepared.log(assign.limits.output);
    let request = write_request(state, prepared, &assign)
        .map_err(failed("cannot write the request"))?
        .ok_or(Report::Exists)?;
    failpoint::reach("after_record");
    Ok(Admitted { assign, program, wanted, request, log, session, slot })
}

/// Takes the session of a job; without one it waits, if it may and there is something to wait for.
fn take_session(state: &State, assign: &Assign) -> Result<Option<File>, Report> {
    let Some(name) = &assign.session else { return Ok(None) };
    let directory = state.sessions().join(name);
    let taken = Lane::session(directory.clone())
        .and_then(|lane| lane.take(&assign.job, order(assign.admission), &mut 0));
    match taken {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => {
            let holder = admission::session_holder(&directory);
            let is_own = holder.as_ref().is_some_and(|holder| is_inside(state, assign, holder));
            if assign.admission == Admission::Queue && !is_own {
                return Ok(None);
            }
            let holder = holder.map(|holder| holder.to_string()).unwrap_or_default();
            Err(Report::SessionBusy { holder })
        }
        Err(error) => Err(Report::Failed { why: format!("cannot take session {name}: {error}") }),
    }
}

/// Whether a job was started inside of another: it would wait for what ends only after it.
fn is_inside(state: &State, assign: &Assign, other: &JobId) -> bool {
    let mut ancestor = assign.parent.clone();
    while let Some(job) = ancestor {
        if job == *other {
            return true;
        }
        ancestor = state.job(&job).record().ok().and_then(|(record, _)| record.parent);
    }
    false
}

fn take_slot(state: &State, assign: &Assign, last: &mut usize) -> Result<Option<File>, Report> {
    let slot = slots(state, assign).take(&assign.job, order(assign.admission), last);
    match slot {
        Ok(None) if assign.admission == Admission::Refuse => {
            Err(Report::Full { running: assign.max_running })
        }
        Ok(slot) => Ok(slot),
        Err(error) => Err(Report::Failed { why: format!("cannot take a slot: {error}") }),
    }
}

fn slots(state: &State, assign: &Assign) -> Lane {
    let group = assign.group.as_deref();
    Lane::slots(admission::slots(state, assign.parent.as_ref(), group), assign.max_running)
}

fn order(admission: Admission) -> Order {
    match admission {
        Admission::Queue => Order::AfterOthers,
        Admission::Refuse => Order::Now,
    }
}

/// Writes the request and takes the job's name. `None` if the job exists.
fn write_request(
    state: &State,
    prepared: &mut PreparedJob,
    assign: &Assign,
) -> io::Result<Option<Rc<File>>> {
    // An object with at least a command in it.
    let record = assign.record.strip_suffix(b"}").ok_or(io::ErrorKind::InvalidData)?;
    let identity = prepared.identity(assign.afterwards)?;
    let parts = [record, b",\"supervisor\":", &identity, b"}\n"];
    let line = parts.concat();
    let request = prepared.request();
    io::Write::write_all(&mut &*request, &line)?;
    let (name, owner) = (assign.name.as_deref(), assign.owner.as_deref());
    let job = NewJob { id: &assign.job, name, owner };
    Ok(prepared.become_job(state, &job)?.then_some(request))
}

/// A stream of output being read.
pub(super) struct Source {
    pub(super) fd: OwnedFd,
    pub(super) stream: Stream,
    pub(super) flow: Flow,
    /// Says when a terminal that nobody has open is used again. Meanwhile it is not let go: that would
    /// hang up on a command that merely writes elsewhere.
    pub(super) deserted: Option<Deserted>,
}

impl Source {
    /// Nobody has the terminal open, but the command runs.
    pub(super) fn desert(&mut self) {
        if self.deserted.is_none() {
            self.deserted = Deserted::new(&self.fd).ok();
        }
        if self.deserted.is_none() {
            self.flow = Flow::Ended;
        }
    }
}

/// How much a stream carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// No more than a usual pipe holds.
    Usual,
    /// It filled its pipe once, and got a larger one.
    Flood,
    /// It is at its end.
    Ended,
}

/// How the loop ended.
pub(super) enum Verdict {
    /// As its process did, or as the climb says.
    Over(Drained),
    /// It never began.
    NeverStarted(String),
    /// It was stopped while it waited for its turn.
    StoppedInQueue(StoppedBy),
}

/// A job in the hands of its supervisor.
pub(super) struct Supervision<'a> {
    pub(super) state: &'a State,
    pub(super) prepared: PreparedJob,
    /// Whoever started the job, while it is there.
    pub(super) caller: Option<&'a OwnedFd>,
    pub(super) assign: Assign,
    pub(super) program: Program,
    wanted: Option<Wanted>,
    request: Rc<File>,
    pub(super) capture: Capture,
    pub(super) connections: Connections,
    pub(super) input: Input,
    pub(super) tree: Option<Tree>,
    pub(super) enforcer: Option<Enforcer>,
    /// What the job may touch, and who answers for what it tries.
    pub(super) sandbox: Option<Sandbox>,
    pub(super) questions: Questions,
    pub(super) pause: Pause,
    pub(super) climb: Option<Climb>,
    /// When the command was started, by both clocks.
    pub(super) started: Option<(Instant, u64)>,
    /// When it was seen to have ended.
    pub(super) ended: Option<Instant>,
    /// How large this process was at most when it forked the command.
    pub(super) own_peak: u64,
    pub(super) verdict: Option<Verdict>,
    /// When to give back memory, should the job still run.
    pub(super) rest_at: Option<Instant>,
    pub(super) findings: Findings,
    held: Held,
}

/// What comes out of the command, on its way into the log.
pub(super) struct Capture {
    pub(super) log: LogWriter,
    pub(super) sources: Vec<Source>,
    /// The other ends of its pipes, until it has ended: it would wake us for each that it closes, and stand
    /// still meanwhile.
    pub(super) write_ends: Vec<OwnedFd>,
    /// Whether what the first source has may lie there for a moment.
    pub(super) lies: bool,
    pub(super) last_output: Instant,
    /// When the journal was last told of output, and of how much.
    pub(super) told: (Instant, u64),
    /// Bytes a full disk would not take.
    pub(super) stalled: Option<(Stream, Vec<u8>)>,
    /// How many bytes it never took.
    pub(super) dropped: u64,
}

/// What the outcome will say beside the end.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) leaked: Vec<Leaked>,
    /// How many more leaked than are listed.
    pub(super) more_leaked: usize,
    pub(super) notes: Vec<String>,
}

/// What no other job has while this one runs.
struct Held {
    /// The lock of its slot, once it has one.
    slot: Option<File>,
    /// The lock of its session, if it is in one.
    session: Option<File>,
    /// What the session had before this job.
    session_before: Option<(u64, i64, i64)>,
}

impl<'a> Supervision<'a> {
    fn new(
        state: &'a State,
        prepared: PreparedJob,
        caller: &'a OwnedFd,
        admitted: Admitted,
    ) -> Self {
        let Admitted { assign, program, wanted, request, log, session, slot } = admitted;
        let now = Instant::now();
        Self {
            state,
            prepared,
            caller: Some(caller),
            assign,
            program,
            wanted: Some(wanted),
            request,
            capture: Capture {
                log,
                sources: Vec::new(),
                write_ends: Vec::new(),
                lies: false,
                last_output: now,
                told: (now, 0),
                stalled: None,
                dropped: 0,
            },
            connections: Connections::default(),
            input: Input::default(),
            tree: None,
            enforcer: None,
            sandbox: None,
            questions: Questions::default(),
            pause: Pause::default(),
            climb: None,
            started: None,
            ended: None,
            own_peak: 0,
            verdict: None,
            rest_at: Some(now + SHORT_JOB_TIME),
            findings: Findings::default(),
            held: Held { slot, session, session_before: None },
        }
    }

    pub(super) fn job(&self) -> &JobId {
        &self.assign.job
    }

    /// Starts the command, after waiting for its session and a slot where it has none yet.
    fn begin(&mut self) {
        if self.held.slot.is_some() {
            self.start(&[EventKind::Created, EventKind::Started]);
            return;
        }
        let _ = self.prepared.journal.append(self.job(), &[EventKind::Created]);
        self.await_others();
        match self.await_turn() {
            Ok(_bells) if self.verdict.is_none() => self.start(&[EventKind::Started]),
            Ok(_) => {}
            Err(error) => {
                let why = format!("cannot wait for its turn: {error}");
                self.verdict = Some(Verdict::NeverStarted(why));
            }
        }
    }

    /// Waits until it is this job's turn, or the job has been stopped.
    fn await_turn(&mut self) -> io::Result<[Option<Bell>; 2]> {
        let mut bells = [None, None];
        if self.verdict.is_some() {
            return Ok(bells);
        }
        if let (Some(name), None) = (&self.assign.session, &self.held.session) {
            let lane = Lane::session(self.state.sessions().join(name))?;
            (self.held.session, bells[0]) = self.await_turn_in(lane)?;
            if self.verdict.is_some() {
                return Ok(bells);
            }
            let lane = slots(self.state, &self.assign);
            let last = &mut self.prepared.last_turn;
            self.held.slot = lane.take(&self.assign.job, Order::AfterOthers, last)?;
        }
        if self.held.slot.is_none() {
            let lane = slots(self.state, &self.assign);
            (self.held.slot, bells[1]) = self.await_turn_in(lane)?;
        }
        Ok(bells)
    }

    /// Stands in a line until it is this job's turn there, or the job has been stopped.
    fn await_turn_in(&mut self, lane: Lane) -> io::Result<(Option<File>, Option<Bell>)> {
        let mut queue = Waiting::begin(lane, self.job())?;
        if let Some(caller) = self.caller {
            report(caller, &Report::Queued);
        }
        let mut taken = None;
        while self.verdict.is_none() {
            taken = queue.take()?;
            if taken.is_some() {
                break;
            }
            self.poll_once(queue.bell(), &mut []);
            queue.silence();
        }
        Ok((taken, queue.leave()))
    }

    /// Forks and execs; a failure becomes the job's outcome. `news` ends with the start.
    fn start(&mut self, news: &[EventKind]) {
        // Before the fork: nothing the command does is earlier than its start.
        let (now, at) = (Instant::now(), clock::now_us());
        let session = self.assign.session.as_ref();
        self.held.session_before = session.and_then(|name| session::version(self.state, name));
        // Where the session is by now: nobody else changes it any more.
        let continued = session.filter(|_| self.assign.continues_session);
        let cwd = continued.and_then(|name| session::place(self.state, name));
        match self.try_start() {
            Ok(pid) => {
                self.started = Some((now, at));
                self.capture.last_output = now;
                self.capture.told.0 = now;
                let first = self.first_process();
                self.tree = Some(Tree::new(pid, self.prepared.cgroup.take(), first));
                failpoint::reach("after_fork");
                let started = Started { pid: pid.as_raw_nonzero().get(), at, cwd };
                if let Ok(mut line) = serde_json::to_vec(&started) {
                    line.push(b'\n');
                    let _ = rustix::io::write(&self.request, &line);
                }
                let _ = self.prepared.journal.append(self.job(), news);
                failpoint::reach("after_start");
                if let (Some(caller), NotifyOn::Start) = (self.caller, self.assign.notify_on) {
                    report(caller, &Report::Started { pid: started.pid });
                }
            }
            Err(why) => {
                let _ = self.prepared.journal.append(self.job(), &news[..news.len() - 1]);
                self.verdict = Some(Verdict::NeverStarted(why));
            }
        }
    }

    fn try_start(&mut self) -> Result<Pid, String> {
        let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
        self.prepare_limits();
        self.prepare_sandbox()?;
        let pty = match self.assign.terminal {
            Some(size) => Some(self.open_terminal(size).map_err(failed("cannot open a terminal"))?),
            None => None,
        };
        let wanted = self.wanted.take().unwrap_or(Wanted::Nothing);
        let null = &self.prepared.null;
        let (input, stdin) =
            Input::open(wanted, null).map_err(failed("cannot open standard input"))?;
        self.input = if pty.is_some() { input.at_a_terminal() } else { input };
        let pipes = self.prepared.pipes.take().ok_or("another command has its pipes")?;
        let [stdin, stdout, stderr] = if let Some(pty) = &pty {
            [pty.terminal.as_fd(); 3]
        } else {
            let (stdout, stderr) = (&pipes.stdout.write, &pipes.stderr.write);
            let is_apart = self.assign.streams == Streams::Apart;
            let stderr = if is_apart { stderr } else { stdout };
            [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()]
        };
        let stage = ChildStage {
            stdin,
            stdout,
            stderr,
            terminal: if pty.is_some() { Terminal::Yes } else { Terminal::No },
            cgroup: self.prepared.cgroup.as_ref().map(Cgroup::directory),
            enforcer: self.enforcer.as_ref(),
            nice: self.assign.limits.nice,
            umask: self.prepared.umask,
            sandbox: self.sandbox.as_ref(),
        };
        let pid = self.prepared.launcher.start(&self.program, &stage)?;
        self.begin_sandbox(pid)?;
        // Afterwards: until it became the program, the child had this memory, and made more of it.
        self.own_peak = process::own_peak();
        let terminal = pty.map(|pty| pty.controller);
        self.open_sources(terminal, pipes).map_err(failed("cannot read"))?;
        let terminal = self.capture.sources.first().map(|source| &source.fd);
        self.input.pump(terminal);
        Ok(pid)
    }

    /// Sets up the groups that enforce what the kernel can, and notes what it cannot.
    fn prepare_limits(&mut self) {
        let limits = &self.assign.limits;
        let bounds = Bounds {
            memory_bytes: limits.memory_bytes,
            processes: limits.processes,
            cpu_percent: limits.cpu_percent,
        };
        if bounds.is_empty() {
            return;
        }
        let name = self.state.group_name(self.assign.job.as_str());
        let note = |group: &Path| self.prepared.note_group(group);
        let enforcer = Enforcer::new(bounds, self.prepared.cgroup.as_ref(), &name, &note);
        self.findings.notes.extend(enforcer.missing.iter().map(|missing| {
            format!("the {missing} limit is not enforced: this user has no {missing} control group")
        }));
        self.enforcer = Some(enforcer);
    }

    /// Our ends of the streams.
    fn open_sources(&mut self, terminal: Option<OwnedFd>, pipes: Pipes) -> io::Result<()> {
        let source = |fd, stream| Source { fd, stream, flow: Flow::Usual, deserted: None };
        let Capture { sources, write_ends, lies, .. } = &mut self.capture;
        if let Some(controller) = terminal {
            rustix::io::ioctl_fionbio(&controller, true)?;
            sources.push(source(controller, Stream::Pty));
            return Ok(());
        }
        *lies = true;
        let Pipes { stdout, stderr } = pipes;
        sources.push(source(stdout.read, Stream::Stdout));
        write_ends.push(stdout.write);
        if self.assign.streams == Streams::Apart {
            sources.push(source(stderr.read, Stream::Stderr));
            write_ends.push(stderr.write);
        }
        Ok(())
    }

    /// Notes it when the command's shell ended without saving what it had.
    pub(super) fn check_session(&mut self) {
        if let (Some(name), Some(_)) = (&self.assign.session, self.started)
            && session::version(self.state, name) == self.held.session_before
        {
            self.findings.notes.push(format!(
                "session {name} is as it was before: the shell of this command ended without \
                 saving its state"
            ));
        }
    }

    /// Lets the next job have the slot and the session.
    pub(super) fn release(&mut self) {
        self.held.slot = None;
        self.held.session = None;
    }

    pub(super) fn terminal(&self) -> Option<&OwnedFd> {
        self.capture
            .sources
            .iter()
            .find(|source| source.stream == Stream::Pty)
            .map(|source| &source.fd)
    }
}
