//! The tools that agents call.
//!
//! A **tool** is a name, a schema for its arguments and one for its answer, the words for the model
//! in an `.md` file beside it, hints, and one function into the engine and the views. A **dialect**
//! is a table of tools that keeps one documented contract: names, fields, defaults, error texts. A
//! [`Toolset`] is one dialect for one caller; the protocol server, `umbo call` and Rust programs
//! call it the same way.
//!
//! ```no_run
//! use serde_json::json;
//! use umbo_engine::Engine;
//! use umbo_tools::{Ticket, Toolset};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! umbo_engine::init();
//! let engine = Engine::builder("/tmp/umbo-state").open()?;
//! let tools = Toolset::builder().engine(engine).dialect("umbo").build()?;
//! let result = tools.call("exec", json!({"command": "echo hi"}), &Ticket::default());
//! assert_eq!(result.structured["output"], "hi\n");
//! # Ok(())
//! # }
//! ```
//!
//! Calls block; who has a runtime calls them on a thread that may. Every text that leaves has been
//! through a view: sanitised, masked, bounded.

mod answer;
mod arguments;
mod call;
mod clerk;
mod dialect;
mod gatekeeper;
mod guidance;
mod moment;
mod news;
pub mod report;
mod schema;
mod settings;
mod source;
pub mod tasks;
mod ticket;
mod tool;
mod toolset;
mod typed;

pub use answer::{Completed, ToolResult};
pub use clerk::settle;
pub use dialect::names as dialects;
pub use gatekeeper::{Gatekeeper, NotAdmitted, Passage, Records};
pub use guidance::Guidance;
pub use moment::show_time;
pub use schema::{Problem, check};
pub use settings::ShellSettings;
pub use source::JobLog;
pub use ticket::{Ticket, TicketBuilder};
pub use tool::{Annotations, Overlap, Tool};
pub use toolset::{BuildError, Builder, Owner, Toolset};
pub use umbo_view::Tick;
