//! Jobs that never lie, never leak and never get lost.
//!
//! A **job** is a command with one id, one log and one outcome, whoever waits for it. Each job has a
//! supervisor process of its own, which outlives its caller, and a directory of plain files, which
//! outlives the supervisor.
//!
//! ```no_run
//! use umbo_engine::{Engine, Request};
//!
//! fn main() -> umbo_engine::Result<()> {
//!     // First of all: this program may have been started as a supervisor.
//!     umbo_engine::init();
//!
//!     let engine = Engine::builder("/tmp/umbo-state").open()?;
//!     let (job, outcome) = engine.run(&Request::shell("echo hi", "."))?;
//!     assert_eq!(outcome.exit_code(), Some(0));
//!     assert_eq!(std::fs::read(job.output_path()).unwrap(), b"hi\n");
//!     Ok(())
//! }
//! ```

mod attached;
mod bookmark;
mod clock;
mod engine;
mod error;
mod event;
mod failpoint;
mod follow;
mod groups;
mod hash;
mod id;
mod idempotency;
mod job;
mod keys;
mod line;
mod log;
mod outcome;
mod prune;
mod reconcile;
mod request;
mod rescue;
mod screen;
mod session;
mod shell;
mod spare;
mod state;
mod subscription;
mod supervisor;
mod sys;
mod wait;
mod wire;

/// What this machine allows.
pub mod doctor;

pub use attached::{Attached, Heard};
pub use engine::{Builder, Engine, Listed, Scope};
pub use error::{Error, Result};
pub use event::{Event, EventKind, GapKind, Item};
pub use follow::{Followed, Follower};
pub use id::JobId;
pub use job::{Job, Status, Summary, Typed};
pub use keys::key;
pub use log::{Log, Mark, Run, Stream};
pub use outcome::{
    Containment, Drained, End, Fate, Leaked, Limit, LostReason, Outcome, ProcessEnd, Stage,
    StoppedBy, Usage,
};
pub use request::{
    Admission, Attendance, Command, Environment, Ladder, Leaks, Limits, Login, OnDisconnect,
    OutputLimit, OutputPolicy, Profile, Request, Session, SessionDirectory, Shell, Size, Stdin,
};
pub use screen::Screen;
pub use spare::Warmth;
pub use subscription::Subscription;
pub use wait::{Condition, Met};

/// What a job may touch, and what was denied.
pub use umbo_sandbox as sandbox;

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
        }
    }
    engine::initialised();
}
