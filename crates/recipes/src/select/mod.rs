//! Selection: from an operation to the command it means. Three contracts over one model, one
//! small module each: [`omp`] and [`project_recipe`] serve their specifications to the letter,
//! [`umbo`] is our own union of both.

pub mod omp;
pub mod project_recipe;
pub mod umbo;

use serde::{Deserialize, Serialize};

use crate::{project::Runner, task::Task};

/// What an operation means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The id of the runner, in the words of the contract.
    pub runner: String,
    /// The command line for a POSIX shell.
    pub command: String,
    /// The same as words, when every word is known: it can then run without a shell.
    pub argv: Option<Vec<String>>,
    /// Where it runs, relative to the project; `.` is the project itself.
    pub directory: String,
    /// The task that was meant; none when a runner was only chosen as a fallback.
    pub task: Option<Task>,
}

/// The package managers: one of them owns a `package.json`.
const PACKAGE_MANAGERS: [&str; 4] = ["npm", "bun", "pnpm", "yarn"];

fn is_package_manager(runner: &Runner) -> bool {
    PACKAGE_MANAGERS.contains(&runner.id.as_str())
}

/// Names with commas between, at most so many.
fn listing<'a>(names: impl Iterator<Item = &'a str>, limit: usize) -> String {
    let names: Vec<&str> = names.collect();
    let shown = names.iter().take(limit).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(limit) {
        0 => shown,
        more => format!("{shown} … and {more} more"),
    }
}
