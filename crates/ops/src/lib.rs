//! The operations: what a tool call, a word of the command line or a library call comes to.
//!
//! A [`Caller`] is a program or a person with a directory, an environment and rights; a [`Ticket`] lets
//! whoever waits for an operation cancel it and hear how it stands. The gate is passed here and nowhere else
//! ([`Gatekeeper`]).
//!
//! Each operation is one function with a typed request and a typed answer. The command line makes the
//! request from words and prints the answer; the tools of the dialect `umbo` make it from JSON and
//! answer with the same fields, less what a model can do without (`brief`).
//!
//! ```no_run
//! use umbo_engine::Engine;
//! use umbo_ops::{Call, Caller, ExecRequest, Ticket, WaitRequest, exec, wait};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! umbo_engine::init();
//! let engine = Engine::builder("/tmp/umbo-state").open()?;
//! let caller = Caller::builder(engine).environment(std::env::vars_os()).build()?;
//! let ticket = Ticket::default();
//! let call = Call::new(&caller, &ticket);
//! let request = ExecRequest { command: Some("make serve".into()), ..ExecRequest::default() };
//! let started = exec(&call, &ExecRequest { background: true, ..request })?;
//! let pattern = Some("listening on".into());
//! let ready = wait(&call, &WaitRequest { job: started.job, pattern, ..WaitRequest::default() })?;
//! assert_eq!(ready.met.as_str(), "match");
//! # Ok(())
//! # }
//! ```
//!
//! Operations on files are in [`files`]: they pass the same gate, as paths instead of commands.
//!
//! Operations block; who has a runtime calls them on a thread that may. Every text that leaves has
//! been through a view: sanitised, masked, bounded.

mod answer;
mod audit_writer;
mod call;
mod caller;
mod caller_jobs;
mod classify;
mod clock;
mod completions;
mod control;
mod error;
mod events;
mod exec;
pub mod files;
mod gatekeeper;
mod input;
mod job_log;
mod job_secrets;
mod jobs;
mod keyboard;
mod output;
mod progress;
pub mod project;
mod prune;
mod recipe;
mod restart;
mod sandbox;
mod screen;
mod stop;
mod text;
mod ticket;
mod typed;
mod values;
mod wait;

pub use answer::{JobAnswer, JobUsage, LeakedProcess, ListedJob, denials};
pub use audit_writer::record_missed_ends;
pub use call::{Call, Ran, Whose, fresh_name, text};
pub use caller::{BuildError, Caller, CallerBuilder, Owner};
pub use caller_jobs::{label_wait, outlasted};
pub use classify::{ClassifyAnswer, ClassifyRequest, classify, language};
pub use clock::now;
pub use completions::{Awaiting, Completions};
pub use control::{Control, ControlAnswer, ControlRequest, control, parse_signal};
pub use error::{Error, ErrorCode, RefusalDetails};
pub use events::{EventAnswer, Events, EventsRequest, events};
pub use exec::{ExecOptions, ExecRequest, LimitsArgument, OnDisconnect, OutputWanted, exec};
pub use gatekeeper::{AdmissionRequest, Gatekeeper, Keystrokes, NotAdmitted, Permit, Records};
pub use input::{InputAnswer, InputRequest, input};
pub use job_log::JobLog;
pub use jobs::{EndedJobs, JobsAnswer, JobsRequest, WhoseJobs, jobs};
pub use output::{
    ChangesAnswer, OnlyStream, OutputAnswer, OutputOptions, OutputRequest, Read, output, reader,
};
pub use prune::{PruneAnswer, PruneRequest, prune};
pub use recipe::{
    PlanAnswer, RecipeAnswer, RecipeOptions, RecipeRequest, RecipesAnswer, RunAnswer, folder, plan,
    recipe, recipes, run,
};
pub use restart::{RestartAnswer, RestartRequest, restart};
pub use sandbox::{
    OwnProfile, Proposal, SandboxAnswer, SandboxArgument, SandboxSettings, SandboxWords, TryAnswer,
    UsualSandbox, sandbox_explain, sandbox_try,
};
pub use screen::{Attachment, ScreenAnswer, ScreenRequest, attach, screen};
pub use stop::{OneOrMore, StopAnswer, StopRequest, StoppedJob, UnknownJobs, stop};
pub use text::first_line;
pub use ticket::{Ticket, TicketBuilder};
pub use umbo_engine::{Beside, release_memory};
pub use umbo_gate::{
    AccessQuestion, AccessReply, Approver, Covers, Lasts, Question, Reply, ShownInput, show_time,
};
pub use umbo_view::Tick;
pub use values::{Count, Seconds, Time};
pub use wait::{Port, WaitAnswer, WaitReason, WaitRequest, wait};
