//! The agent: sessions that survive, context that fits, and the loop between a model and tools.
//!
//! - A [`Session`] is an append-only tree of entries in one file. An entry is in the file before
//!   anybody sees its effect; a damaged line costs that line; a second writer is told.
//! - [`build_context`] derives what a model reads from the beginning to the leaf; [`compact`] makes
//!   it fit: outputs are left out, the beginning becomes a summary, and no cut parts a result from
//!   its call.
//! - [`Agent`] is the loop. It delivers what happened meanwhile at the border of a turn, asks the
//!   model (again, or another one), runs what it calls through [`Tools`], and ends with an
//!   [`Outcome`]. That a call begins is in the session before it begins, under a key that is used
//!   once: after a crash the tools are asked what became of it, and nothing is run twice.
//!
//! The crate is silent: events go to an observer, keys and addresses come from the caller, and the
//! tools are whatever implements [`Tools`]: [`JobTools`] are those of `umbo-tools`, in any dialect.

mod ask;
mod checkpoint;
pub mod compact;
mod context;
mod entry;
pub mod harmony;
mod job_tools;
mod message;
mod previews;
mod queue;
mod run;
mod session;
mod session_tools;
mod todo;
mod toolbox;
mod tools;

pub use ask::{AskOutcome, AskRequest, Asker, Chosen, UserQuestion};
pub use checkpoint::Checkpoint;
pub use context::{Context, ContextMessage, build_context};
pub use entry::{Entry, EntryKind, Header, SESSION_VERSION};
pub use job_tools::{CallApprover, JobTools};
pub use message::{AgentMessage, Content};
pub use previews::Previews;
pub use queue::{Delivery, InterruptMode, QueueMode, Queues};
pub use run::{
    Agent, AgentEvent, Candidate, CompactionReason, Limit, Limits, Mask, Observer, Outcome,
    RunError, Setup,
};
pub use session::{
    Damage, Durability, Session, SessionError, SessionInfo, ToolStarted, list, session_directory,
    to_html, to_markdown,
};
pub use session_tools::{CHECKPOINT, REWIND, SessionTools, TodoStyle};
pub use todo::{Phase, Task, TaskStatus, show_todos};
pub use toolbox::Toolbox;
pub use tools::{BoxFuture, Completion, Effect, Invocation, Progress, Recovery, ToolOutput, Tools};
