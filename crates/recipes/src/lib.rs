//! Recipes: which task runners a folder has, what tasks they offer, and which command an
//! operation means.
//!
//! [`detect`] reads a folder into a [`Project`]; the selectors in [`select`] turn an operation
//! (`test`, `npm:build`, `pkg-a/test --watch`) into the command to run. Nothing is ever run here
//! but a runner's own tool when it is asked for its list, and never in a way that runs code of
//! the project. The library prints nothing and reads no environment: see [`Options`].

mod ask;
mod cache;
mod detect;
mod error;
mod folder;
mod glob;
mod javascript;
mod nature;
mod options;
mod project;
pub mod prompt;
mod python;
mod runners;
pub mod select;
mod task;
mod tree;

pub use cache::Cache;
pub use detect::detect;
pub use error::Error;
pub use options::{Asking, Limits, Options};
pub use project::{Problem, Program, Project, Runner};
pub use task::{
    Arguments, Arity, Invocation, Kind, Language, Lifetime, Parameter, Script, Source, Task,
    TimeoutClass, Visibility,
};
