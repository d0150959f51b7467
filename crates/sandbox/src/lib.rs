//! What a job may touch, enforced by the kernel; and exactly what was stopped.
//!
//! A [`Policy`] says what may be read, written, executed and reached. Whoever asks for a job resolves it to
//! a [`Plan`], plain data that travels with the request. The job's supervisor builds a [`Sandbox`] of it:
//! namespaces, mounts, a Landlock ruleset and a seccomp filter, which the command enters between fork and
//! exec. From then on the supervisor answers for the calls that could be denied, so that every denial is
//! known with operation, target and program, and somebody can still say yes while the call waits.
//!
//! ```
//! use umbo_sandbox::{Policy, Profile, Surroundings};
//!
//! let around = Surroundings { project: std::env::temp_dir(), ..Surroundings::default() };
//! let mut policy = Policy::of(Profile::Workspace, &around)?.unwrap();
//! policy.allow_host("*.example.com")?;
//! let plan = policy.plan()?;
//! assert!(plan.network.is_proxied());
//! # Ok::<(), umbo_sandbox::Error>(())
//! ```

mod denial;
mod filter;
mod first_process;
mod hidden;
mod hosts;
mod known;
mod layout;
mod namespace;
mod notify;
mod plan;
mod policy;
mod probe;
mod proxy;
mod question;
mod ruleset;
mod sandbox;
mod seen;
mod sys;
mod walls;

pub use denial::{Asked, Denied, Operation};
pub use hosts::HostRule;
pub use known::SECRETS_IN_HOME;
pub use namespace::join_network;
pub use plan::{Ask, Network, Plan, Rung, Tell};
pub use policy::{Error, Plans, Policy, Profile, Surroundings};
pub use probe::probe;
pub use proxy::Requested;
pub use question::{Decision, Grant, Question};
pub use sandbox::{Report, Sandbox};
pub use walls::{Refusal, Step};
