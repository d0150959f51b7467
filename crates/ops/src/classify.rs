//! `classify`: what a command would do, without running it.

use serde::Deserialize;
use umbo_command::{Reading, Shell, read};

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

/// Reads a command. The answer is a [`Reading`].
pub fn classify(request: &ClassifyRequest) -> Result<Reading, Error> {
    let shell = match &request.shell {
        Some(name) => language(name)?,
        None => Shell::Bash,
    };
    Ok(read(&request.command, shell))
}

/// The grammar of a shell, by its name.
pub fn language(name: &str) -> Result<Shell, Error> {
    Shell::named(name)
        .ok_or_else(|| Error::argument("shell", format!("{name:?} is not known; use {SHELLS}")))
}
