//! The operations: what a tool call, a word of the command line or a library call comes to.
//!
//! A [`Caller`] says who asks, from where and with what rights; a [`Ticket`] lets whoever waits for
//! an operation cancel it and hear how it stands. The gate is passed here and nowhere else
//! ([`Gatekeeper`]).
//!
//! Operations block; who has a runtime calls them on a thread that may. Every text that leaves has
//! been through a view: sanitised, masked, bounded.

mod audit_writer;
mod call;
mod caller;
mod caller_jobs;
mod clock;
mod completions;
mod error;
mod gatekeeper;
mod job_log;
mod keyboard;
pub mod project;
pub mod report;
mod text;
mod ticket;
mod typed;

pub use audit_writer::record_missed_ends;
pub use call::{Call, Ran, Whose, fresh_name, text};
pub use caller::{Caller, CallerBuilder, Owner};
pub use caller_jobs::{label_wait, outlasted};
pub use clock::now;
pub use completions::{Awaiting, Completions};
pub use error::{Error, ErrorCode, RefusalDetails};
pub use gatekeeper::{Gatekeeper, Keystrokes, NotAdmitted, Permit, Records};
pub use job_log::JobLog;
pub use text::first_line;
pub use ticket::{Ticket, TicketBuilder};
pub use umbo_gate::{Approver, Covers, Given, Lasts, Question, Reply, show_time};
pub use umbo_view::Tick;
