//! `classify`: what a command would do, without running it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use umbo_command::{Explained, Given, Reading, Shell, explain};

use crate::error::Error;
use crate::sandbox::{Proposal, propose};

/// The shells whose grammar is known.
const SHELLS: &str = "sh, bash, zsh, fish, nu or pwsh";

/// A command to read.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyRequest {
    /// The line.
    pub command: String,
    /// The shell it is written for; bash unless given.
    #[serde(default)]
    pub shell: Option<String>,
}

/// What a command would do, and why that is said.
#[derive(Debug, Serialize)]
pub struct ClassifyAnswer {
    /// The verdict with its effects.
    #[serde(flatten)]
    pub reading: Reading,
    /// Each simple command with the row and the option that decided.
    pub explained: Vec<Explained>,
    /// The smallest sandbox that it needs.
    pub sandbox: Proposal,
}

/// Reads a command, for a caller in a directory.
pub fn classify(
    request: &ClassifyRequest,
    directory: &Path,
    home: Option<&Path>,
) -> Result<ClassifyAnswer, Error> {
    let shell = match &request.shell {
        Some(name) => language(name)?,
        None => Shell::Bash,
    };
    let line = &request.command;
    let reading = umbo_gate::read_in(line, shell, Given::default(), directory, home);
    let project = umbo_gate::project_of(directory);
    let resolve = |target: &str| match (target.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Some(home.join(rest)),
        _ => Some(umbo_gate::resolve(&directory.join(target))),
    };
    let sandbox = propose(&reading, &project, resolve);
    Ok(ClassifyAnswer { reading, explained: explain(line, shell).commands, sandbox })
}

/// The grammar of a shell, by its name.
pub fn language(name: &str) -> Result<Shell, Error> {
    Shell::named(name)
        .ok_or_else(|| Error::argument("shell", format!("{name:?} is not known; use {SHELLS}")))
}
