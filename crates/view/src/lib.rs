//! Views: bounded, sanitised, masked text made from a job's exact output log.
//!
//! The bytes on disk are the truth and never change; a view is what a reader with a budget gets to
//! see of them. Everything here is a pure function of a [`Source`], the options, and the secrets
//! that the caller passes in: no process, no printing, no environment, no clock.
//!
//! The way of a byte: a scope of the log ([`Reader`]: stream, offsets, time) is cut at borders,
//! usually line ends; each line is sanitised ([`sanitize`]), then masked ([`mask`]), then clamped,
//! and is charged to a [`Budget`]. What does not fit becomes a [`Part`] that says exactly what is
//! missing and at which offsets to read it.
//!
//! - [`Reader::view`] makes one answer out of a whole log;
//! - [`Reader::page`], [`Reader::lines`], [`Reader::head`], [`Reader::tail`], [`Reader::grep`] and
//!   [`Reader::errors`] read again, with a cursor;
//! - [`compare`] says what changed between two runs: failures that are new, fixed, still there;
//! - [`Follower`] reads a log that grows, [`Progress`] tells a waiting caller how it stands.
//!
//! ```
//! use umbo_view::{Budget, Memory, Reader, ViewOptions, mask::Masker};
//!
//! let masker = Masker::builder().environment([("DB_PASSWORD", "correct horse")]).build()?;
//! let log = Memory::new("10%\r100%\n\x1b[31merror:\x1b[0m login as correct horse\n");
//! let view = Reader::new(&log).mask(&masker).view(&ViewOptions::default())?;
//! let text = view.to_text();
//! assert!(text.starts_with("100%\nerror: login as #"));
//! assert!(masker.restore(&text).ends_with("login as correct horse\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod choose;
mod compare;
mod compose;
mod detect;
mod follow;
pub mod mask;
mod minimize;
mod part;
mod prefix;
mod progress;
mod reader;
mod rule;
mod rules;
pub mod sanitize;
mod select;
mod slab;
mod source;
mod survey;
mod template;
mod tokens;
mod view;
mod visible;
mod walk;
mod windows;

pub use budget::Budget;
pub use compare::{Comparison, Failure, compare};
pub use compose::Counts;
pub use detect::error_rule;
pub use follow::Follower;
pub use minimize::noise_group;
pub use part::Part;
pub use progress::{Progress, TICK, Tick};
pub use reader::Reader;
pub use regex::Regex;
pub use select::{Find, Page, Repeats};
pub use source::{Memory, Run, Source, Stream};
pub use tokens::{TOKEN_METHOD, count_tokens, estimate_tokens};
pub use view::{ErrorScan, NO_OUTPUT, NO_VISIBLE_OUTPUT, Shape, View, ViewOptions};
pub use visible::{is_treacherous, visible, visible_line};
