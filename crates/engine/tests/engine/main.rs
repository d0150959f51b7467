//! The library as an embedder uses it, with real processes: a backend and its conformance, running a
//! command, the examples, and what holds when processes are killed, disks are full or files are
//! somebody else's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking, and the harness tells what it knows"
)]

mod another_job;
mod backend;
mod disk;
mod embed;
mod examples;
mod faults;
mod harness;

/// An executable that supervises.
const SUPERVISOR: &str = "supervisor";
