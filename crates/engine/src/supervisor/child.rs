//! From supervisor to command: one fork, a few calls, one exec.
//!
//! Between the two the child only makes system calls, in memory it may share with us; all it needs
//! was made before. If a call fails it leaves the number of the call and of the error behind.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::Mode;
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use umbo_sandbox::Sandbox;

use super::assignment::Program;
use crate::sys::cgroup::Enforcer;
use crate::sys::process::{self, ChildStack, SharedNumber};

/// What the child's first three descriptors become, and what else it is to be.
pub(super) struct Stage<'a> {
    pub(super) stdin: BorrowedFd<'a>,
    pub(super) stdout: BorrowedFd<'a>,
    pub(super) stderr: BorrowedFd<'a>,
    /// Whether descriptor 0 is a terminal the child shall control.
    pub(super) terminal: Terminal,
    pub(super) cgroup: Option<BorrowedFd<'a>>,
    pub(super) enforcer: Option<&'a Enforcer>,
    pub(super) nice: Option<i32>,
    /// The caller's, not the supervisor's own.
    pub(super) umask: Mode,
    /// What it is born in, or enters before it becomes its program.
    pub(super) sandbox: Option<&'a Sandbox>,
}

/// Whether the child gets a controlling terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminal {
    No,
    Yes,
}

/// The steps that can fail, in the order they are taken.
#[derive(Clone, Copy)]
enum Step {
    Session,
    Descriptors,
    Terminal,
    Directory,
    Limits,
    Nice,
    Namespaces,
    Capabilities,
    NoNewPrivileges,
    Landlock,
    Filter,
    Listener,
    Exec,
}

impl Step {
    const ALL: [Self; 13] = [
        Self::Session,
        Self::Descriptors,
        Self::Terminal,
        Self::Directory,
        Self::Limits,
        Self::Nice,
        Self::Namespaces,
        Self::Capabilities,
        Self::NoNewPrivileges,
        Self::Landlock,
        Self::Filter,
        Self::Listener,
        Self::Exec,
    ];

    fn of_sandbox(step: umbo_sandbox::Step) -> Self {
        match step {
            umbo_sandbox::Step::Capabilities => Self::Capabilities,
            umbo_sandbox::Step::NoNewPrivileges => Self::NoNewPrivileges,
            umbo_sandbox::Step::Landlock => Self::Landlock,
            umbo_sandbox::Step::Filter => Self::Filter,
            umbo_sandbox::Step::Listener => Self::Listener,
        }
    }

    fn describe(self, program: &Program) -> String {
        match self {
            Self::Session => "cannot make a session".into(),
            Self::Descriptors => "cannot place the standard streams".into(),
            Self::Terminal => "cannot take the terminal".into(),
            Self::Directory => {
                format!("cannot change to directory {}", program.directory.to_string_lossy())
            }
            Self::Limits => "cannot join the groups that enforce the limits".into(),
            Self::Nice => "cannot set the niceness".into(),
            Self::Namespaces => "cannot join the namespaces of the sandbox".into(),
            Self::Capabilities => umbo_sandbox::Step::Capabilities.describe().into(),
            Self::NoNewPrivileges => umbo_sandbox::Step::NoNewPrivileges.describe().into(),
            Self::Landlock => umbo_sandbox::Step::Landlock.describe().into(),
            Self::Filter => umbo_sandbox::Step::Filter.describe().into(),
            Self::Listener => umbo_sandbox::Step::Listener.describe().into(),
            Self::Exec => format!("cannot run {}", program.path.to_string_lossy()),
        }
    }
}

/// What starting a child takes, made ahead of time.
pub(super) struct Launcher {
    stack: ChildStack,
    /// For the process that joins namespaces before the command is born in them.
    joining: ChildStack,
    /// What went wrong in the child: 0 as long as nothing has.
    failure: SharedNumber,
    /// The pid of a child that another child made.
    born: SharedNumber,
}

impl Launcher {
    pub(super) fn new() -> io::Result<Self> {
        let (stack, joining) = (ChildStack::new(), ChildStack::new());
        Ok(Self { stack, joining, failure: SharedNumber::new()?, born: SharedNumber::new()? })
    }

    /// Forgets the program that was started before.
    pub(super) fn reset(&mut self) {
        self.failure.set(0);
        self.born.set(0);
    }

    /// Starts the program; when this returns, it runs. The error says which step failed.
    pub(super) fn start(&mut self, program: &Program, stage: &Stage<'_>) -> Result<Pid, String> {
        let Self { stack, joining, failure, born } = self;
        let note = |(step, error): (Step, io::Error)| {
            let code = error.raw_os_error().unwrap_or(libc::EINVAL).unsigned_abs();
            failure.set((step as u64 + 1) << 32 | u64::from(code));
            127
        };
        let is_inside = stage.sandbox.is_some_and(Sandbox::has_namespaces);
        // Inside, it is another process that makes it, and that one would only stand in its way.
        let cpus = if is_inside { None } else { stay_here() };
        let mut work = || note(become_program(program, stage, cpus.as_ref()));
        let child = match stage.sandbox {
            Some(sandbox) if is_inside => {
                let join = || join(sandbox, stage).map_err(note);
                born_inside(stage, (joining, stack), born, &join, &mut work)
            }
            _ => spawn(stage, stack, &mut work),
        };
        if let Some(cpus) = &cpus {
            let _ = sched_setaffinity(None, cpus);
        }
        match (failure.get(), child) {
            (0, child) => child.map_err(|error| format!("cannot fork: {error}")),
            (failed, child) => {
                if let Ok(pid) = child {
                    let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                }
                Err(describe(failed, program))
            }
        }
    }
}

/// Keeps this process, and so the child it is about to make, on its processor. This process stands still until the
/// child is a program: on another processor, which has to be woken, it would only begin later. What both
/// may run on otherwise.
fn stay_here() -> Option<CpuSet> {
    let cpus = sched_getaffinity(None).ok()?;
    let mut here = CpuSet::new();
    here.set(sched_getcpu());
    sched_setaffinity(None, &here).ok()?;
    Some(cpus)
}

fn spawn(
    stage: &Stage<'_>,
    stack: &mut ChildStack,
    work: &mut dyn FnMut() -> i32,
) -> io::Result<Pid> {
    match process::spawn(stage.cgroup, stack, work) {
        // Where the group refuses a newborn, the subreaper still holds it.
        Err(_) if stage.cgroup.is_some() => process::spawn(None, stack, work),
        other => other,
    }
}

/// Has a process join the namespaces of a sandbox and the command be born in them: as its sibling, so
/// that the command is a child of this process all the same.
fn born_inside(
    stage: &Stage<'_>,
    (joining, stack): (&mut ChildStack, &mut ChildStack),
    born: &SharedNumber,
    join: &dyn Fn() -> Result<(), i32>,
    work: &mut dyn FnMut() -> i32,
) -> io::Result<Pid> {
    let mut before = || match join() {
        Ok(()) => match process::spawn_sibling(stack, work) {
            Ok(pid) => {
                born.set(u64::from(pid.as_raw_nonzero().get().unsigned_abs()));
                0
            }
            Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
        },
        Err(code) => code,
    };
    let first = spawn(stage, joining, &mut before)?;
    let status = rustix::process::waitpid(Some(first), WaitOptions::empty())?;
    i32::try_from(born.get()).ok().and_then(Pid::from_raw).ok_or_else(|| {
        let code = status.and_then(|(_, status)| status.exit_status()).unwrap_or(libc::EINVAL);
        io::Error::from_raw_os_error(code)
    })
}

/// What is done outside of the namespaces, for it cannot be done inside.
fn join(sandbox: &Sandbox, stage: &Stage<'_>) -> Result<(), (Step, io::Error)> {
    if let Some(enforcer) = stage.enforcer {
        enforcer.join().map_err(|error| (Step::Limits, error))?;
    }
    sandbox.join().map_err(|error| (Step::Namespaces, error))
}

fn become_program(
    program: &Program,
    stage: &Stage<'_>,
    cpus: Option<&CpuSet>,
) -> (Step, io::Error) {
    if let Some(cpus) = cpus {
        let _ = sched_setaffinity(None, cpus);
    }
    match prepare(program, stage) {
        Ok(()) => {
            (Step::Exec, process::execve(&program.path, &program.arguments, &program.environment))
        }
        Err(failed) => failed,
    }
}

fn prepare(program: &Program, stage: &Stage<'_>) -> Result<(), (Step, io::Error)> {
    let at = |step: Step| move |error: rustix::io::Errno| (step, io::Error::from(error));
    process::reset_signals();
    // Should the supervisor be killed, its command goes first; the keeper sees to the rest.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    rustix::process::setsid().map_err(at(Step::Session))?;
    for (target, fd) in (0..).zip([stage.stdin, stage.stdout, stage.stderr]) {
        process::place_fd(fd, target).map_err(|error| (Step::Descriptors, error))?;
    }
    if stage.terminal == Terminal::Yes {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()).map_err(at(Step::Terminal))?;
    }
    rustix::process::chdir(program.directory.as_c_str()).map_err(at(Step::Directory))?;
    let has_joined = stage.sandbox.is_some_and(Sandbox::has_namespaces);
    if let (Some(enforcer), false) = (stage.enforcer, has_joined) {
        enforcer.join().map_err(|error| (Step::Limits, error))?;
    }
    if let Some(nice) = stage.nice {
        rustix::process::setpriority_process(None, nice).map_err(at(Step::Nice))?;
    }
    rustix::process::umask(stage.umask);
    // Last of all: from here on there is one more call, which the walls expect.
    if let Some(sandbox) = stage.sandbox {
        sandbox.enter().map_err(|(step, error)| (Step::of_sandbox(step), error))?;
    }
    Ok(())
}

/// The step and the error that a child left behind, in words.
fn describe(failed: u64, program: &Program) -> String {
    let step = usize::try_from((failed >> 32) - 1).ok();
    let step = step.and_then(|step| Step::ALL.get(step)).copied().unwrap_or(Step::Exec);
    let code = i32::try_from(failed & u64::from(u32::MAX)).unwrap_or(libc::EINVAL);
    let mut text = format!("{}: {}", step.describe(program), io::Error::from_raw_os_error(code));
    if matches!(step, Step::Exec) && code == libc::E2BIG {
        text.push_str(
            "; one argument may have 128 KiB: write a long script to a file and run that",
        );
    }
    text
}
