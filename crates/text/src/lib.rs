//! Words for shells and for people: [`quote`] writes words so that a shell reads them back, and
//! [`nearest`] finds the name that somebody meant. The other crates write neither themselves, so that
//! umbo quotes and suggests the same way everywhere.
//!
//! The library is pure: no I/O, no environment, no printing.

mod meant;
pub mod quote;

pub use meant::{did_you_mean, distance, nearest};
