//! What the gate promises, proven on real files. One file per noun.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod approvals;
mod audit;
mod interceptor;
mod modes;
mod project;
mod recipes;
mod rules;
mod surroundings;
mod trust;
