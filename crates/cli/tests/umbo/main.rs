//! What umbo promises, proven on the real binary with real processes. One file per verb, then the
//! library, the hostile, the limits, bad input, and the promises P1 to P14.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking, and the harness tells what it knows"
)]

mod agent;
mod ahead;
mod arguments;
mod attach;
mod bad_input;
mod call;
mod completions;
mod config;
mod contracts;
mod control;
mod dialects;
#[path = "../../../engine/tests/engine/disk.rs"]
mod disk;
mod doctor;
mod documents;
mod entry_points;
mod events;
mod exec;
mod files;
mod gate;
mod harness;
mod help;
mod hostile;
mod input;
mod install;
mod jobs;
mod library;
mod limits;
mod mcp;
mod output;
mod person;
mod promises;
mod prune;
mod recipes;
mod sandbox;
mod screen;
mod secrets;
mod session;
mod shells;
mod start;
mod stop;
mod terminal;
mod top;
mod view;
mod wait;
mod watch;
