//! The agent: sessions that survive, context that fits, and the loop between a model and tools.

pub mod compact;
mod context;
mod entry;
pub mod harmony;
mod message;
mod queue;
mod run;
mod session;
mod tools;

pub use context::{Context, ContextMessage, build_context};
pub use entry::{Entry, EntryKind, Header, SESSION_VERSION};
pub use message::{AgentMessage, Content};
pub use queue::{Delivery, InterruptMode, Queues, QueueMode};
pub use run::{
    Agent, AgentEvent, Candidate, Limit, Limits, Observer, Outcome, RunError, Setup,
};
pub use session::{
    Damage, Durability, Session, SessionError, SessionInfo, ToolStarted, list, session_directory,
    to_html, to_markdown,
};
pub use tools::{BoxFuture, Completion, Invocation, Recovery, ToolOutput, Tools};
