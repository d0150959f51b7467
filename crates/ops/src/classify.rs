//! `classify`: what a command would do, without running it.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use umbo_command::{Explained, Given, Reading, Shell, explain};

use crate::error::Error;
use crate::sandbox::{Proposal, propose};

/// The shells whose grammar is known.
const SHELLS: &str = "sh, bash, zsh, fish, nu or pwsh";

/// A command to read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassifyRequest {
    /// The line.
    pub command: String,
    /// The shell it is written for; bash unless given.
    #[serde(default)]
    pub shell: Option<String>,
}

/// What a command would do, and why that is said.
#[derive(Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ClassifyAnswer {
    /// The verdict with its effects.
    #[serde(flatten)]
    #[schemars(with = "ReadingShape")]
    pub reading: Reading,
    /// Each simple command with the row and the option that decided.
    #[schemars(with = "Vec<ExplainedShape>")]
    pub explained: Vec<Explained>,
    /// The smallest sandbox that it needs.
    pub sandbox: Proposal,
}

/// The fields of a [`Reading`]: the room that reads commands knows no schemas.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ReadingShape {
    /// The verdict: the worst of everything found.
    risk: RiskShape,
    /// The part of the command that decided it.
    matched: String,
    /// Whether everything that changes something is `mkdir touch mv cp rmdir ln chmod chown`.
    common_fs: bool,
    /// One sentence saying why.
    reason: String,
    /// What would be done, in the order found.
    effects: Vec<EffectShape>,
    /// What would be run, in the order found.
    commands: Vec<Value>,
    /// Whether the text was understood completely.
    exact: bool,
}

/// How bad it is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum RiskShape {
    ReadOnly,
    Mutate,
    Dangerous,
    Unknown,
}

/// The fields of an effect.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct EffectShape {
    /// What is done.
    kind: String,
    /// How bad it is.
    risk: RiskShape,
    /// The path, host, package or process, when it is literal.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// For a path that is only known at run time: what it most likely is.
    #[serde(skip_serializing_if = "Option::is_none")]
    guess: Option<String>,
    /// For the network: whether something is fetched or sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<String>,
    /// The program that does it.
    program: String,
}

/// The fields of an [`Explained`].
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct ExplainedShape {
    /// The command.
    command: Value,
    /// The verdict on it alone.
    risk: RiskShape,
    /// The row of the tables that it was looked up in, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<String>,
    /// What it would do, with the words that say so.
    because: Vec<Value>,
    /// Words without which the verdict would be less.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    less: Vec<Value>,
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
