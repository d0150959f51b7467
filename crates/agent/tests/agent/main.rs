//! The crate from outside: real files, and a scripted model server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod context;
mod killed;
mod run;
mod session;
mod world;
