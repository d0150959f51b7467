//! A job's sandbox in the loop of its supervisor: built before the command, answered for while it runs.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use umbo_sandbox::{Decision, Question, Sandbox};

use super::report;
use super::supervision::Supervision;
use crate::request::{Leaks, Size};
use crate::sys::pty::{self, Pty};
use crate::wire::Report;

/// What is known about questions: whom they were told to, and how long they kept the job waiting.
#[derive(Default)]
pub(super) struct Questions {
    told: Vec<u64>,
    since: Option<Instant>,
    waited: Duration,
}

impl Questions {
    /// How long the job was kept waiting so far; its limits do not count that.
    pub(super) fn waited(&self, now: Instant) -> Duration {
        self.waited
            + self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since))
    }

    /// Whether somebody is being asked now.
    pub(super) fn is_open(&self) -> bool {
        self.since.is_some()
    }
}

impl Supervision<'_> {
    /// Builds the walls that the request wants; without them nothing runs.
    pub(super) fn prepare_sandbox(&mut self) -> Result<(), String> {
        let Some(plan) = self.assign.sandbox.take() else { return Ok(()) };
        let mut sandbox = match self.prepared.sandbox.take() {
            Some(prepared) if *prepared.plan() == plan => prepared,
            _ => Sandbox::build(plan).map_err(|refusal| {
                format!("{refusal}; `umbo doctor` says what this machine lacks, --sandbox off runs without")
            })?,
        };
        self.program.add_variables(
            sandbox.variables().iter().map(|(name, path)| (*name, path.as_os_str().as_bytes())),
        );
        sandbox.arm(&self.program.path);
        if self.assign.leaks == Leaks::Leave {
            // Nobody would answer for them any more.
            self.assign.leaks = Leaks::Kill;
            self.findings
                .notes
                .push("what outlives a command in a sandbox is not left running".to_owned());
        }
        self.sandbox = Some(sandbox);
        Ok(())
    }

    /// A terminal that is one for the command too.
    pub(super) fn open_terminal(&self, size: Size) -> io::Result<Pty> {
        let Some(sandbox) = &self.sandbox else { return pty::open(size) };
        let pty = match sandbox.open_terminal() {
            Some(controller) => pty::complete(controller?, size)?,
            None => pty::open(size)?,
        };
        sandbox.admit_terminal(pty.terminal.as_fd())?;
        Ok(pty)
    }

    /// The command runs: its calls are answered from now on.
    pub(super) fn begin_sandbox(&mut self, pid: Pid) -> Result<(), String> {
        let Some(sandbox) = &mut self.sandbox else { return Ok(()) };
        sandbox.begin().map_err(|error| {
            let _ = kill_process(pid, Signal::KILL);
            format!("cannot watch over the sandbox: {error}")
        })
    }

    /// The process above those that the job has for itself.
    pub(super) fn first_process(&self) -> Option<Pid> {
        self.sandbox.as_ref().and_then(Sandbox::first_process)
    }

    /// Answers calls, and tells the caller of those that somebody has to decide about.
    pub(super) fn serve_sandbox(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        sandbox.serve();
        self.settle_tree();
        self.tell_questions();
    }

    /// With processes of its own, the job is over when none of these is left.
    pub(super) fn settle_tree(&mut self) {
        if let (Some(tree), Some(sandbox)) = (&mut self.tree, &mut self.sandbox)
            && tree.is_childless
            && !tree.is_empty
        {
            tree.is_empty = sandbox.is_alone();
        }
    }

    fn tell_questions(&mut self) {
        let open = self.open_questions();
        let now = Instant::now();
        match (self.questions.since, open.is_empty()) {
            (None, false) => self.questions.since = Some(now),
            (Some(since), true) => {
                self.questions.waited += now.saturating_duration_since(since);
                self.questions.since = None;
                // It could not say anything while it was held.
                self.capture.last_output = self.capture.last_output.max(now);
            }
            _ => {}
        }
        for question in open {
            if !self.questions.told.contains(&question.number) {
                self.questions.told.push(question.number);
                if let Some(caller) = self.caller {
                    report(caller, &Report::Asked(Box::new(question)));
                }
            }
        }
    }

    /// The calls that wait for somebody's answer.
    pub(super) fn open_questions(&mut self) -> Vec<Question> {
        self.sandbox.as_mut().map(Sandbox::questions).unwrap_or_default()
    }

    /// Somebody's answer to one of them.
    pub(super) fn decide(&mut self, number: u64, decision: &Decision) -> Result<(), String> {
        let is_known =
            self.sandbox.as_mut().is_some_and(|sandbox| sandbox.decide(number, decision));
        self.tell_questions();
        if is_known {
            return Ok(());
        }
        Err(format!(
            "no call waits for an answer to question {number}: it was answered, or is over"
        ))
    }
}
