//! The process that owns a job: its pipes or terminal, its log, its `waitpid`, its limits, its
//! stop ladder and its exit record. The same executable as its caller, started with a hidden first
//! argument before any runtime or argument parser, and a plain poll loop from there on.
//!
//! ```text
//! caller ──posix_spawn──> starter ──fork──> keeper ──fork──> supervisor ──fork──> command
//! ```
//!
//! Where a caller has begun one [`Ahead`](crate::Ahead) of its only job, the starter is a copy of the
//! caller, which is made sooner than a program is started. The starter ends at once, so that none of the others is the caller's child: the caller has
//! nothing to wait for, and nothing of it is left when it ends. A caller that starts many jobs has
//! a [`nursery`] in the starter's place, which stays and forks a keeper for each.
//!
//! One whose job left nothing behind gets ready for another one of the same caller.
//!
//! It prepares all it can before it knows the job ([`prepared`]), takes one message ([`assignment`]),
//! forks once ([`child`]) and then pumps ([`pumping`]). The [`keeper`] above it does nothing
//! but wait: should the supervisor be killed, the orphans come to it and it cleans up; should it be
//! stopped, the keeper wakes it.

mod admission;
mod assignment;
mod child;
mod conclusion;
mod connections;
mod input;
mod keeper;
mod ladder;
mod nursery;
mod others;
mod pause;
mod prepared;
mod pumping;
mod sandbox;
mod supervision;
mod tree;

use std::ffi::CString;
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use umbo_sandbox::Sandbox;

use self::prepared::{Place, PreparedJob};
use crate::failpoint;
use crate::spare::OWN_PROGRAM;
use crate::state::State;
use crate::sys::process::{self, CStrings};
use crate::wire::{self, Frame, Order, Peer, Report};

pub(crate) use admission::{position, session_holder, slots};
pub(crate) use nursery::main as nursery;
pub(crate) use pause::PAUSED;

/// The first argument that makes a process the supervisor of one job; the second is its state
/// directory.
pub(crate) const ARGUMENT: &str = "--umbo-supervisor";

/// The first argument that makes a process the [`nursery`] of its caller.
pub(crate) const NURSERY: &str = "--umbo-nursery";

/// The variable that marks every process of a job.
pub(crate) const TAG: &str = "UMBO_JOB";

/// The life of a process started for one job. Never returns.
pub(crate) fn main(state_root: PathBuf) -> ! {
    let caller = process::take_stdin();
    let umask = leave_caller();
    if !matches!(process::fork(None), Ok(process::Fork::Child)) {
        process::exit_now(0);
    }
    prepare_and_supervise(&State::existing(state_root), umask, caller)
}

/// As [`main`], in a copy of the caller whose starter is above it already, in a session of its own. Never returns.
pub(crate) fn main_in_copy(state: &Path, caller: OwnedFd, cpus: Option<&CpuSet>) -> ! {
    if let Some(cpus) = cpus {
        let _ = sched_setaffinity(None, cpus);
    }
    failpoint::remember();
    process::reset_signals();
    if process::take_place(caller).is_err() {
        process::exit_now(1);
    }
    let caller = process::take_stdin();
    let umask = leave_surroundings();
    // What it was started with tells who a process is, and whose: it must not be the caller's.
    let Ok(program) = CString::new(OWN_PROGRAM) else { process::exit_now(1) };
    let place = state.as_os_str().as_bytes();
    let words = [program.as_bytes(), ARGUMENT.as_bytes(), place, b""].join(&0);
    let words = CStrings::new(words);
    if process::show_as(&words).is_err() {
        mem::forget(caller);
        rustix::process::umask(umask);
        process::execve(&program, &words, &CStrings::new(Vec::new()));
        process::exit_now(1)
    }
    // Of what is wrong with it the caller finds out, too, and tells.
    let Ok(state) = State::open(state) else { process::exit_now(1) };
    prepare_and_supervise(&state, umask, caller)
}

/// Leaves the session of whoever started this process, and its surroundings.
fn leave_caller() -> Mode {
    let _ = rustix::process::setsid();
    leave_surroundings()
}

/// Leaves the directory and the descriptors.
fn leave_surroundings() -> Mode {
    process::close_inherited();
    process::forget_signals();
    let _ = rustix::process::chdir("/");
    rustix::process::umask(Mode::RWXG | Mode::RWXO)
}

/// Prepares for a job that comes over `caller`, as keeper and supervisor.
fn prepare_and_supervise(state: &State, umask: Mode, caller: OwnedFd) -> ! {
    let place = Place::make(state).unwrap_or_else(|error| fail(state, &caller, &error));
    // Of a keeper's death the first process of a sandbox dies, and all of the job with it.
    process::hold_signals().unwrap_or_else(|error| fail(state, &caller, &error));
    // Both have orphans to look after, each those of another one.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    // Now: whatever this process had touched by then, each of both would have for itself.
    let keeper = match process::fork(None) {
        Ok(process::Fork::Parent(supervisor)) => {
            drop(caller);
            keeper::keep(state, &place.keep(), supervisor)
        }
        Ok(process::Fork::Child) => rustix::process::getppid(),
        // Without a keeper all is as before, but for a supervisor that is killed or stopped.
        Err(_) => None,
    };
    match PreparedJob::prepare(state, umask, place) {
        Ok(prepared) => supervise(state, prepared, &caller, keeper),
        Err(error) => fail(state, &caller, &error),
    }
}

/// Ends for lack of what a job needs.
fn fail(state: &State, caller: &OwnedFd, error: &io::Error) -> ! {
    let why = format!("cannot prepare a job in {}: {error}", state.root().display());
    report(caller, &Report::Failed { why });
    process::exit_now(1)
}

/// What a supervisor does when its job is over.
enum Next {
    Exit(i32),
    /// It waits for another one.
    Job(Box<PreparedJob>),
}

fn supervise(state: &State, mut prepared: PreparedJob, caller: &OwnedFd, keeper: Option<Pid>) -> ! {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    prepared.identify(keeper);
    while let Ok(Frame { head, body }) = wire::receive::<Order>(Peer(caller)) {
        match head {
            // Where it cannot be built, that is said when a job needs it.
            Order::Expect(plan) => prepared.sandbox = Sandbox::build(*plan).ok(),
            Order::Assign(assign) => {
                let frame = Frame { head: *assign, body };
                match supervision::run(state, prepared, caller, frame) {
                    Next::Exit(code) => process::exit_now(code),
                    Next::Job(renewed) => prepared = *renewed,
                }
            }
        }
    }
    // The caller went away without a job for us, or speaks another language.
    prepared.abandon();
    process::exit_now(0)
}

/// Tells the caller, who may be gone: then nobody needs to know.
fn report(caller: &OwnedFd, report: &Report) {
    let _ = wire::send(Peer(caller), report, &[]);
}
