//! The tools that agents call.
//!
//! A **tool** is a name, a type for its arguments and one for its answer, the words for the model in
//! an `.md` file beside it, hints, and one function into the operations. A **dialect** keeps one
//! documented contract: names, fields, defaults, error texts, settings. A [`Toolset`] is one dialect
//! for one caller; the protocol server, `umbo call` and Rust programs call it the same way.
//!
//! ```no_run
//! use serde_json::json;
//! use umbo_engine::Engine;
//! use umbo_tools::{Caller, Ticket, Toolset};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! umbo_engine::init();
//! let engine = Engine::builder("/tmp/umbo-state").open()?;
//! let tools = Toolset::builder(Caller::builder(engine)).dialect("umbo").build()?;
//! let result = tools.call("exec", json!({"command": "echo hi"}), &Ticket::default());
//! assert_eq!(result.structured["output"], "hi\n");
//! # Ok(())
//! # }
//! ```
//!
//! An agent that follows another contract names it. The guidance for its model comes with it, and
//! tools that cannot be called are not mentioned. What a contract has beside its tools is in the
//! module of its dialect. A program that has a contract of its own implements [`Dialect`]; the
//! example `custom_dialect` shows one.
//!
//! ```no_run
//! # use std::time::Duration;
//! # use serde_json::json;
//! # use umbo_engine::Engine;
//! # use umbo_tools::dialect::lash;
//! # use umbo_tools::{Caller, Owner, Ticket, Toolset};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # umbo_engine::init();
//! let caller = Caller::builder(Engine::builder("/tmp/umbo-state").open()?)
//!     .owner(Owner::Named("my-agent".into()))
//!     .environment(std::env::vars_os());
//! let tools = Toolset::builder(caller).dialect("lash").without("cancel_process").build()?;
//! for tool in tools.tools() {
//!     println!("{} {}", tool.name, tool.input_schema);
//! }
//! for guidance in tools.guidance() {
//!     println!("{guidance}");
//! }
//! // The id of the model's call becomes that of the process; a retry is the same process.
//! let ticket = Ticket::builder().id("call-shell-1").build();
//! tools.call("start_command", json!({"cmd": "python3 -q"}), &ticket);
//! let typed = json!({"process_id": "call-shell-1", "chars": "6 * 7\n"});
//! tools.call("write_stdin", typed, &Ticket::default());
//! if let Some(events) = lash::process_events(&tools, "call-shell-1") {
//!     events.wait_event_after("signal.stdin", 0, Duration::from_secs(1))?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Tools belong to sets, of which a caller may have some: those of the shell, those for files
//! ([`ToolSet`], [`Builder::sets`]).
//!
//! Calls block: a program with an async runtime makes them on a blocking thread. Every text in a
//! result has been through a view: sanitised, masked, bounded.

mod answer;
mod completed;
mod cut;
mod denied;
pub mod dialect;
mod events;
mod guidance;
mod once;
pub mod resource;
mod schema;
mod settings;
mod time;
mod tool;
mod toolset;
mod turn;

pub use answer::{Answer, Image, ToolError, ToolResult};
pub use completed::Completed;
pub use dialect::{
    Dialect, Host, SecretsFile, names as dialects, secrets_files, settings as dialect_settings,
};
pub use events::{JobEvent, JobEventKind, JobEvents};
pub use guidance::Guidance;
pub use once::Made;
pub use schema::{Problem, check, input_schema, output_schema};
pub use settings::{
    Setting, SettingDefault, SettingError, SettingKind, SettingValue, Settings, Tightens,
};
pub use tool::{Annotations, Binding, Hints, Overlap, Tool, ToolSet};
pub use toolset::{BuildError, Builder, Toolset};
pub use umbo_ops::{
    AccessQuestion, AccessReply, Approver, Beside, Call, Caller, CallerBuilder, Covers, ErrorCode,
    Gatekeeper, JobLog, Lasts, Owner, Question, Records, Reply, ShownInput, Tick, Ticket,
    TicketBuilder, release_memory, show_time,
};
pub use umbo_view::{visible, visible_line};
