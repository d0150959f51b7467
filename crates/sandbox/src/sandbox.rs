//! A job's sandbox in the hands of its supervisor, from before the command to after it.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::denial::{Denials, Denied, Operation};
use crate::first_process::Look;
use crate::namespace::Namespace;
use crate::notify::Guard;
use crate::plan::{Plan, Rung};
use crate::proxy::{Proxy, Requested};
use crate::question::{Decision, Question};
use crate::walls::{Refusal, Step, Walls};

/// What a sandbox was, and what it did, for the exit record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The profile.
    pub profile: String,
    /// How it was enforced.
    pub rung: Rung,
    /// What that does not keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaknesses: Vec<String>,
    /// What went through the proxy, or was refused there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Requested>,
    /// What of the paths that may be written was; only where the supervisor is told of everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<PathBuf>,
}

/// A job's sandbox.
#[derive(Debug)]
pub struct Sandbox {
    walls: Walls,
    guard: Option<Guard>,
    proxy: Option<Proxy>,
    denials: Denials,
}

impl Sandbox {
    /// Builds what a plan wants, in the best way that this machine allows and the plan accepts. The
    /// caller must be single-threaded.
    pub fn build(plan: Plan) -> Result<Self, Refusal> {
        let mut walls = Walls::build(plan)?;
        let proxy = Proxy::new(&mut walls).map_err(|error| Refusal {
            tried: vec![format!("cannot open the proxy's port: {error}")],
        })?;
        Ok(Self { walls, guard: None, proxy, denials: Denials::default() })
    }

    /// The plan it was built for.
    pub fn plan(&self) -> &Plan {
        self.walls.plan()
    }

    /// How it is enforced.
    pub fn rung(&self) -> Rung {
        self.walls.rung()
    }

    /// Gets ready for a command. `program` is the path that its `execve` will be called with: its place
    /// in memory tells that call from all others.
    pub fn arm(&mut self, program: &CStr) {
        self.walls.arm(program);
    }

    /// Whether the command is born in namespaces, which a process before it joins.
    pub fn has_namespaces(&self) -> bool {
        self.walls.namespace().is_some()
    }

    /// In a process between the supervisor and the command: joins the namespaces. Allocates nothing.
    pub fn join(&self) -> io::Result<()> {
        self.walls.join()
    }

    /// In the command, last thing before exec: no way back. Allocates nothing.
    pub fn enter(&self) -> Result<(), (Step, io::Error)> {
        self.walls.enter()
    }

    /// The controlling side of a new terminal, where the job needs one of its own kind.
    pub fn open_terminal(&self) -> Option<io::Result<OwnedFd>> {
        self.walls.open_terminal()
    }

    /// Lets the command open its own terminal by name.
    pub fn admit_terminal(&self, terminal: BorrowedFd<'_>) -> io::Result<()> {
        self.walls.admit_terminal(terminal)
    }

    /// Variables that the command needs to find its way here.
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        self.walls.variables()
    }

    /// The command runs: from now on its calls are answered.
    pub fn begin(&mut self) -> io::Result<()> {
        let listener = self.walls.listener()?;
        let mut guard =
            Guard::new(listener, self.walls.rung(), &self.walls.root(), self.walls.plan())?;
        guard.proxy_port = self.proxy.as_ref().and_then(Proxy::outside_port);
        self.guard = Some(guard);
        Ok(())
    }

    /// Readable when a call of the job waits for an answer. Then [`Sandbox::answer_quickly`] may be tried, and
    /// [`Sandbox::serve`] has something to do unless that answered.
    pub fn calls(&self) -> Option<BorrowedFd<'_>> {
        self.guard.as_ref().and_then(Guard::calls)
    }

    /// Answers the call that came, if it is plainly allowed. Waits if none came.
    pub fn answer_quickly(&self) -> bool {
        self.guard.as_ref().is_some_and(|guard| guard.answer_quickly(self.walls.plan()))
    }

    /// What else to wait for; when one of them is ready, [`Sandbox::serve`] has something to do.
    pub fn fds(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let news = self.walls.namespace().and_then(Namespace::news);
        let proxy = self.proxy.as_ref().and_then(Proxy::fd);
        let guard = self.guard.iter().flat_map(Guard::fds);
        news.into_iter().chain(proxy).map(|fd| (fd, PollFlags::IN)).chain(guard)
    }

    /// Deals with what came, without waiting for anything.
    pub fn serve(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.serve(self.walls.plan(), &mut self.denials);
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.serve(&self.walls, &mut self.denials);
        }
        self.note_looks();
    }

    /// Writes down who looked at what is hidden.
    fn note_looks(&mut self) {
        let looks = self.walls.namespace_mut().map(Namespace::looks).unwrap_or_default();
        for Look { path, pid, program, missed } in looks {
            let target = path.to_string_lossy();
            self.denials.add(Operation::Read, &target, (pid, &program), None);
            self.denials.miss(missed);
        }
    }

    /// The questions that wait for an answer.
    pub fn questions(&mut self) -> Vec<Question> {
        let mut questions = self.guard.as_mut().map(Guard::questions).unwrap_or_default();
        questions.extend(self.proxy.iter().flat_map(Proxy::questions));
        questions
    }

    /// Answers one. `false` if there is no such question: it was answered, or nobody waits any more.
    pub fn decide(&mut self, number: u64, decision: &Decision) -> bool {
        let Self { guard, proxy, denials, .. } = self;
        guard.as_mut().is_some_and(|guard| guard.decide(number, decision, denials))
            || proxy.as_mut().is_some_and(|proxy| proxy.decide(number, decision, denials))
    }

    /// When [`Sandbox::serve`] has something to do though nothing came: a question is overdue.
    pub fn next_deadline(&self) -> Option<Instant> {
        let guard = self.guard.as_ref().and_then(Guard::next_deadline);
        let proxy = self.proxy.as_ref().and_then(Proxy::next_deadline);
        [guard, proxy].into_iter().flatten().min()
    }

    /// The first process of the job's own processes, above all others of them; none where it shares the
    /// machine's.
    pub fn first_process(&self) -> Option<Pid> {
        self.walls.namespace().filter(|space| space.has_processes()).map(Namespace::first)
    }

    /// Whether no process is left in the job's own processes. To be asked when the command has ended.
    pub fn is_alone(&mut self) -> bool {
        match self.walls.namespace_mut() {
            Some(namespace) if namespace.has_processes() => namespace.is_alone(),
            _ => true,
        }
    }

    /// Ends every process of the job, where its processes are its own.
    pub fn kill(&self) {
        if let Some(namespace) = self.walls.namespace()
            && namespace.has_processes()
        {
            namespace.kill();
        }
    }

    /// What was denied so far, and how many calls more than are listed.
    pub fn denied(&mut self) -> (Vec<Denied>, u64) {
        self.note_looks();
        self.denials.take()
    }

    /// What it was, and what it did.
    pub fn report(&mut self) -> Report {
        Report {
            profile: self.walls.plan().profile.clone(),
            rung: self.walls.rung(),
            weaknesses: self.walls.weaknesses(),
            requests: self.proxy.as_mut().map(Proxy::requests).unwrap_or_default(),
            wrote: self.guard.as_ref().map(Guard::wrote).unwrap_or_default(),
        }
    }
}
