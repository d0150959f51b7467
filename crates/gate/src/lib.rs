//! Decides whether a command may run, and never runs anything.
//!
//! A [`Policy`] holds the rules of all layers, the strictest of which wins. [`decide`] weighs a reading
//! of a command against it in a [`Mode`]. A [`Gate`] adds what is stored: approvals, and the audit of
//! everything that was asked and decided.
//!
//! Rules that deny or ask match everything the command may be; rules that allow match only what it
//! certainly is. So where a reading is uncertain, the stricter decision wins.
//!
//! The library prints nothing and reads no environment. The caller passes directories, variables and
//! the time in microseconds since 1970.
//!
//! # What this is not
//!
//! A sandbox. Code that runs as the same user can read the key, leave the job's process tree and
//! control group, rewrite approvals and the audit together with its head, and change a link between
//! the decision and the use of a path. The gate stops a model that is mistaken or misled by what it
//! reads, and leaves traces of more; against a hostile program the operating system has to help.

mod ancestry;
mod approval;
mod approvals;
mod audit;
mod builtin;
mod confirmed;
mod decision;
mod digest;
mod environment;
mod error;
mod files;
mod gate;
mod gate_paths;
mod glob;
mod interceptor;
mod key;
mod mode;
mod place;
mod policy;
mod recipe;
mod refusal;
mod repository;
mod rule;
mod rulefile;
mod sandbox;
mod store;
mod subject;
mod surroundings;
mod time;
mod trust;
mod verdict;

pub use ancestry::{Evidence, inside_job};
pub use approval::{
    AccessQuestion, AccessReply, Answer, Approver, Binding, Covers, Lasts, Question, Reply, Shown,
    ShownEffect, ShownInput, UsableBy,
};
pub use approvals::{APPROVAL_LIFETIME_MICROS, Approval, ApprovalState, Approvals};
pub use audit::{AUDIT_BUDGET, Appended, Audit, Event, Finding, Record, Report};
pub use confirmed::{Change, USER_FILES, UserFile, confirm};
pub use decision::Decision;
pub use digest::Digest;
pub use environment::{EnvironmentPolicy, Inherit};
pub use error::{Error, Result};
pub use files::{FileEffect, Unreadable};
pub use gate::{Admission, Call, Gate, Input, ShellState, answer, overturn};
pub use gate_paths::{GatePaths, RuleSources, RuleText};
pub use interceptor::intercept;
pub use key::Key;
pub use mode::Mode;
pub use place::{Roots, project_of, resolve, restrict_to_project};
pub use policy::{Layer, Matched, Policy, Trust};
pub use recipe::{Recipe, Script};
pub use refusal::{Declined, Refusal};
pub use rule::{Rule, host_of};
pub use sandbox::{Grounds, RuleSandbox};
pub use subject::Subject;
pub use surroundings::read_in;
pub use time::show_time;
pub use trust::{DIRECTORY, FileState, FileTrust, Snapshot, TrustStore};
pub use verdict::{Explanation, Suggestion, Verdict, decide, suggest};
