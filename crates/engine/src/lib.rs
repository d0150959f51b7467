//! Jobs that never lie, never leak and never get lost.
//!
//! A **job** is a command with one id, one log and one outcome, whoever waits for it. Each job has a
//! supervisor process of its own, which outlives its caller, and a directory of plain files, which
//! outlives the supervisor.
//!
//! ```no_run
//! use umbo_engine::{Engine, Environment, Request};
//!
//! fn main() -> umbo_engine::Result<()> {
//!     // First of all: this program may have been started as a supervisor.
//!     umbo_engine::init();
//!
//!     let engine = Engine::builder("/tmp/umbo-state").open()?;
//!     let request = Request::shell("echo hi", ".").env(Environment::inherit());
//!     assert_eq!(engine.read(&request)?, "hi");
//!     Ok(())
//! }
//! ```
//!
//! A library that does not own `main` (a test, a plugin, a `cdylib`) names an executable that
//! supervises instead: [`Builder::supervisor`] or [`Builder::supervisor_on_path`].
//!
//! The same jobs may run elsewhere: [`Backend`] is what callers need, and [`Engine`] is the one for
//! this machine. With the feature `tokio` there are futures and streams as well; dropping one that
//! runs a job stops the job.

mod ahead;
#[cfg(feature = "tokio")]
mod asynchronous;
mod attached;
mod backend;
mod beside;
mod bookmark;
mod builder;
mod catalog;
mod clock;
mod completion;
mod engine;
mod environment;
mod error;
mod event;
mod exit_record;
mod failpoint;
mod files;
mod find;
mod follow;
mod groups;
mod hash;
mod id;
mod idempotency;
mod job;
mod keys;
mod kill_tree;
mod line;
mod local;
mod log;
mod lost;
mod names;
mod outcome;
mod output;
mod probe;
mod prune;
mod repeat;
mod request;
mod rescue;
mod screen;
mod session;
mod shell;
mod spare;
mod state;
mod stray;
mod subscription;
mod supervisor;
mod sys;
mod terminal;
mod turns;
mod wait;
mod wire;

/// What this machine allows.
mod decimal;
pub mod doctor;

pub use ahead::Ahead;
#[cfg(feature = "tokio")]
pub use asynchronous::{EventStream, OutputStream};
pub use attached::{Attached, Heard};
pub use backend::{AttachedJob, Backend, BackendJob, Bookmark, JobHandle, JobWatch};
pub use beside::Beside;
pub use builder::Builder;
pub use clock::Clock;
pub use completion::{Completion, CompletionStream, Ended};
pub use engine::{Engine, Listed, Scope};
pub use error::{Error, ErrorKind, Result};
pub use event::{Event, EventKind, GapKind, Item};
pub use follow::{Followed, Follower};
pub use id::JobId;
pub use job::{FoundBy, Job, Status, Summary, Typed, WaitsFor};
pub use keys::key;
pub use log::{Log, LogSource, Mark, Run, Stream};
pub use names::NameUse;
pub use outcome::{
    Containment, Drained, End, Fate, Leaked, Limit, LostReason, Outcome, ProcessEnd, Stage,
    StoppedBy, Usage,
};
pub use output::Output;
pub use probe::sandbox_rung;
pub use repeat::Repeated;
pub use request::{
    Admission, Attendance, Command, Environment, Ladder, Leaks, Limits, Login, OnDisconnect,
    OutputLimit, OutputPolicy, Profile, Request, Session, SessionDirectory, Shell, Size, Stdin,
    Streams,
};
pub use screen::Screen;
pub use session::{Clearing, ShellSession};
pub use spare::Warmth;
pub use subscription::{EventSource, Subscription};
pub use terminal::{HeldKeys, TerminalKey, TerminalKeys};
pub use turns::{After, AfterEnd, JobGroup};
pub use wait::{Condition, Met};
pub use wire::Reach;

/// What a job may touch, and what was denied.
pub use umbo_sandbox as sandbox;

/// Gives back memory that this process has no use for at the moment: code that ran once, and what the heap has
/// free. For programs that stay, when much is behind them. It takes about a millisecond.
pub fn release_memory() {
    sys::process::trim_heap();
    sys::process::rest();
}

/// Makes this program able to supervise jobs. To be called first in `main`, before threads, a
/// runtime or an argument parser: if this process was started as a supervisor, it never returns.
///
/// Without it [`Builder::open`] fails, unless another executable is named to supervise.
pub fn init() {
    let mut arguments = std::env::args_os().skip(1);
    if let (Some(first), Some(state)) = (arguments.next(), arguments.next()) {
        if first == supervisor::ARGUMENT {
            supervisor::main(state.into());
        } else if first == supervisor::NURSERY {
            supervisor::nursery(state.into());
        } else if first == probe::ARGUMENT {
            probe::main();
        }
    }
    builder::initialised();
}
