//! The tools over the Model Context Protocol. The only crate that knows rmcp and its runtime.
//!
//! [`serve_stdio`] speaks to one client on standard input and output until the client closes its
//! end; an [`HttpServer`] speaks to many. Calls block on threads of their own, so that nothing waits
//! for anything else; a cancelled call stops its command with all its descendants, and the end of a
//! client stops every command that was not started in the background.

mod answer;
mod asking;
mod caller;
mod calls;
mod elicitation;
mod hangup;
mod http;
mod hub;
mod invocation;
mod listener;
mod misfit;
mod progress;
mod resources;
mod server;
mod stdio;
mod tasks;

use std::io;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

pub use http::{Exposure, HttpOptions, HttpServer, Stopper};
pub use stdio::serve_stdio;

/// How long calls may take to end after the client has gone.
const FAREWELL: Duration = Duration::from_secs(10);

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
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Other machines could reach the address, and nobody said that they may.
    #[error(
        "{0} can be reached from other machines, where the token would travel in the clear; listen \
         on 127.0.0.1, or say that a proxy with TLS stands before it"
    )]
    Exposed(std::net::SocketAddr),
    /// What was given as a name of this server is none.
    #[error("{0:?} is no host; accepted: a name or an address, as umbo.example")]
    Host(String),
    /// The token is too easy to guess.
    #[error("the token has {0} characters; accepted: 16 to 1024 visible ASCII characters")]
    Token(usize),
}

/// Where everything here runs. Tools block, each call on a thread of its own.
fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(1).max_blocking_threads(512).enable_all().build()
}
