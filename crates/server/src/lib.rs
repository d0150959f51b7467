//! The HTTP server that other things are mounted on.
//!
//! A [`Door`] checks every request (its host, the page it comes from, its token), finds the
//! [`Mount`] for its path and hands it over. What is mounted (the Model Context Protocol, a web
//! page) is not the server's business: it never sees a request that was not let in, and it words
//! its own refusals.
//!
//! [`HttpServer`] listens with a runtime of its own; who has a runtime already calls [`serve`], or
//! mounts the door, which is a `tower` service, on a server that is already there.
//!
//! Two things that mounted services share are here as well: [`Sessions`], which end when nobody was
//! there for a while, and a [`Hub`], which passes events on to listeners from one thread.

mod body;
mod connections;
mod door;
mod guard;
mod hub;
mod listen;
mod presence;
mod refusal;
mod sessions;

use std::io;
use std::net::SocketAddr;

pub use body::{Body, RequestBody, read_body};
pub use door::{Answering, Door, DoorBuilder, Mount};
pub use guard::Guard;
pub use hub::{Hub, Listen};
pub use listen::{Exposure, HttpServer, Stopper, serve};
pub use presence::{Presence, Visit};
pub use refusal::Refusal;
pub use sessions::{OnEnd, Sessions};

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime cannot be started.
    #[error("cannot start the server: {0}")]
    Runtime(#[from] io::Error),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// Other machines could reach the address, and nobody said that they may.
    #[error(
        "{0} can be reached from other machines, where the token would travel in the clear; listen \
         on 127.0.0.1, or say that a proxy with TLS stands before it"
    )]
    Exposed(SocketAddr),
    /// What was given as a name of this server is none.
    #[error("{0:?} is no host; accepted: a name or an address, as umbo.example")]
    Host(String),
    /// The token is too easy to guess.
    #[error("the token has {0} characters; accepted: 16 to 1024 visible ASCII characters")]
    Token(usize),
}
