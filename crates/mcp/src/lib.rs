//! The tools over the Model Context Protocol. The only crate that knows rmcp and its runtime.
//!
//! [`serve_stdio`] speaks to one client on standard input and output until the client closes its
//! end; an [`McpEndpoint`], mounted on a server, speaks to many. Calls block on threads of their own, so that nothing waits
//! for anything else; a cancelled call stops its command with all its descendants, unless the client says
//! that its own time was over ([`OnCancel`]); the end of a client stops every command that it still
//! waits for. [`remote`] is the other end: tools of other servers, for an agent of ours.

mod answer;
mod asking;
mod bad_params;
mod caller;
mod calls;
mod cancellation;
mod client;
mod elicitation;
mod handler;
mod http;
mod invocation;
mod listener;
mod pipe;
mod progress;
pub mod remote;
mod resources;
mod stdin_closed;
mod stdio;
mod tasks;
mod threads;
mod wire;

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

pub use cancellation::OnCancel;
pub use client::{ClientOptions, Structure};
pub use handler::McpHandler;
pub use http::{MCP_PATH, McpEndpoint, McpOptions};
pub use stdio::{serve, serve_stdio};

/// How long calls may take to end after the client has gone.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// Why the server could not serve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime cannot be started.
    #[error("cannot start the server: {0}")]
    Runtime(#[from] io::Error),
    /// The client spoke no protocol that is spoken here.
    #[error("the client did not begin as the protocol says: {0}")]
    Client(String),
    /// The tools cannot be made.
    #[error("{0}")]
    Tools(String),
}

/// Where everything here runs. Tools block, each call on a thread of its own.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().max_blocking_threads(512).enable_all().build()
}
