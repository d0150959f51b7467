//! Dialects: documented contracts over the same operations.
//!
//! A dialect is a folder: its tools with the types of their arguments and answers, the words for the
//! model, its settings as data, its state, and how it tells of jobs that ended. [`Dialect`] says what
//! that comes to; a program may bring one of its own ([`Builder::with_dialect`]). Those of this
//! crate are listed in `REGISTERED`, one line each, and nothing else knows them by name.
//!
//! [`Builder::with_dialect`]: crate::Builder::with_dialect

#![expect(
    clippy::needless_pass_by_value,
    reason = "a tool's function is given its arguments, whether or not it takes them apart"
)]

mod claude_code;
mod codex;
mod kept_text;
pub mod lash;
pub mod meerkat;
mod omp;
mod recipe;
pub mod tasks;
mod umbo;

use std::any::Any;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use umbo_engine::Summary;
use umbo_ops::{Call, Caller};

use crate::answer::ToolError;
use crate::completed::Completed;
use crate::guidance::Guidance;
use crate::schema::Problem;
use crate::settings::{Setting, Settings};
use crate::tool::Tool;

/// One contract: which tools there are, and how they speak.
///
/// Only its name and its tools have to be said; the rest has an answer that suits most. What a
/// dialect has to remember between calls it keeps itself.
pub trait Dialect: Any + Send + Sync {
    /// Its name, which its jobs are labelled with, too.
    fn name(&self) -> &'static str;

    /// Its tools, in the order in which they are listed.
    fn tools(&self) -> Vec<Tool>;

    /// What the operations call a job whose id its contract writes in another way; `None` if this is no such
    /// id. So a person, or another tool, can be given an id as it was read.
    fn job_id(_written: &str) -> Option<&str>
    where
        Self: Sized,
    {
        None
    }

    /// Fits the tools to the place where their caller is.
    fn arrange(&self, _tools: &mut Vec<Tool>, _caller: &Caller) {}

    /// What a model is told about the tools together.
    fn instructions(&self) -> String {
        String::new()
    }

    /// What it adds to a system prompt, if these tools can be called.
    fn guidance(&self, _tools: &[Tool]) -> Vec<Guidance> {
        Vec::new()
    }

    /// Whether its lines are written for bash, where there is one.
    fn prefers_bash(&self) -> bool {
        false
    }

    /// Whether its own answers tell what a caller has to know beside them.
    fn tells_notes(&self) -> bool {
        false
    }

    /// What it says to arguments that do not fit a tool's schema.
    fn refuse(&self, _tool: &Tool, problem: &Problem) -> ToolError {
        problem.clone().into()
    }

    /// What it says to a name that no tool has.
    fn unknown_tool(&self, name: &str, tools: &[Tool]) -> ToolError {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
        let message = format!("Unknown tool: {name}; there are: {}", names.join(" "));
        ToolError::new(umbo_ops::ErrorCode::UnknownTool, message)
    }

    /// What it calls fields that the operations call otherwise: first their name, then its own.
    fn fields(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// An error as its programs are told of it, where a tool gave it no shape of its own.
    fn shape(&self, error: &ToolError) -> Value {
        error.to_value()
    }

    /// What is told when a job has ended unseen; `None` if it is none of its own.
    fn completed(&self, _call: &Call<'_>, job: &Summary) -> Option<Completed> {
        Some(Completed::usual(job))
    }

    /// Puts what ended unseen into a result, if the contract has a place for it.
    fn attach(&self, _structured: &mut Value, _completed: &[Completed]) {}
}

/// The status of a job that was just started, where a contract has a field for it.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum Running {
    /// The only one there is.
    Running,
}

/// What the program around a dialect says of itself and of its caller.
#[derive(Debug)]
#[non_exhaustive]
pub struct Host<'a> {
    /// The values of settings.
    pub settings: &'a Settings,
    /// The project, if it is not the caller's directory.
    pub project: Option<&'a Path>,
    /// How long a call may take where its contract leaves that open.
    pub longest_wait: Duration,
    /// Whether a person sits at a terminal that commands can be given.
    pub has_terminal: bool,
    /// Names of tools that the caller has from elsewhere.
    pub beside: &'a [String],
}

/// A dialect that can be asked for by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registered {
    pub(crate) name: &'static str,
    pub(crate) job_id: fn(&str) -> Option<&str>,
    pub(crate) settings: &'static [Setting],
    /// Where its agents list secrets: files in the user's home, and in the directory they work in.
    pub(crate) secrets: &'static [SecretsFile],
    pub(crate) open: fn(&Host<'_>) -> Box<dyn Dialect>,
}

/// A file in which the agents of a dialect list secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretsFile {
    /// In the user's home.
    Home(&'static str),
    /// In the directory that an agent works in; what it lists counts before the user's.
    Directory(&'static str),
}

/// Every dialect there is.
const REGISTERED: &[Registered] = &[
    umbo::REGISTERED,
    claude_code::REGISTERED,
    codex::REGISTERED,
    lash::REGISTERED,
    meerkat::REGISTERED,
    tasks::REGISTERED,
    omp::REGISTERED,
    recipe::REGISTERED,
];

/// The names of all dialects.
pub fn names() -> Vec<&'static str> {
    REGISTERED.iter().map(|dialect| dialect.name).collect()
}

/// The settings of all dialects.
pub fn settings() -> impl Iterator<Item = &'static Setting> {
    REGISTERED.iter().flat_map(|dialect| dialect.settings)
}

/// What the operations call a job whose id some dialect writes in another way.
pub fn job_id(written: &str) -> Option<&str> {
    REGISTERED.iter().find_map(|dialect| (dialect.job_id)(written))
}

/// Where the agents of a dialect list secrets beside umbo's own files.
pub fn secrets_files(name: &str) -> &'static [SecretsFile] {
    find(name).map_or(&[], |dialect| dialect.secrets)
}

pub(crate) fn find(name: &str) -> Option<Registered> {
    REGISTERED.iter().find(|dialect| dialect.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::SettingDefault;

    #[test]
    fn an_id_as_a_contract_writes_it_is_read() {
        let id = "01hx7z8k9m2n3p4q5r6s7t8v9w";
        assert_eq!(job_id(&format!("job_{id}")), Some(id));
        for other in [id, "job_none", "job_", "build"] {
            assert_eq!(job_id(other), None, "{other}");
        }
    }

    #[test]
    fn names_and_keys_are_unique_and_defaults_are_of_their_kind() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), REGISTERED.len());
        let declared: Vec<&Setting> = settings().collect();
        for (place, setting) in declared.iter().enumerate() {
            let key = setting.key;
            assert!(key.starts_with("tools.") && !setting.doc.is_empty(), "{key}");
            assert!(declared[..place].iter().all(|other| other.key != key), "{key}");
            match setting.default {
                SettingDefault::Nothing => {}
                SettingDefault::Text(text) | SettingDefault::As(_, text) => {
                    assert!(setting.kind.read(text).is_some(), "{key}");
                }
            }
        }
    }
}
