//! `classify`: what a command would do, without running it.

use std::path::Path;

use serde::{Deserialize, Serialize};
use umbo_command::{Explained, Given, Reading, Shell, explain};

use crate::error::Error;

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
    Ok(ClassifyAnswer { reading, explained: explain(line, shell).commands })
}

/// The grammar of a shell, by its name.
pub fn language(name: &str) -> Result<Shell, Error> {
    Shell::named(name)
        .ok_or_else(|| Error::argument("shell", format!("{name:?} is not known; use {SHELLS}")))
}
