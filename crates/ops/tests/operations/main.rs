//! The operations, on every kind of backend there is.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking, and the harness tells what it knows"
)]

mod backend;
mod ends;
mod expiry;

#[path = "../../../engine/examples/remote/client.rs"]
mod client;
#[expect(dead_code, reason = "the tests of the engine use all of it")]
#[path = "../../../engine/tests/engine/harness.rs"]
mod harness;
#[path = "../../../engine/examples/remote/protocol.rs"]
mod protocol;

/// An executable that supervises.
const SUPERVISOR: &str = "remote_jobs";
