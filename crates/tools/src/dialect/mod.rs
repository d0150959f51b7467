//! Dialects: thin tables from documented contracts to the same operations.

mod claude_code;
mod codex;
mod lash;
mod meerkat;
mod omp;
mod recipe;
mod tasks;
mod umbo;

use serde_json::Value;
use umbo_engine::Summary;

use crate::answer::ToolError;
use crate::call::Call;
use crate::guidance::Guidance;
use crate::schema::Problem;
use crate::settings::{OmpSettings, ShellSettings};
use crate::tool::{Definition, Tool};
use crate::toolset::{BuildError, Toolset};

/// One contract.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) name: &'static str,
    /// What a model is told about the tools together.
    pub(crate) instructions: &'static str,
    pub(crate) tools: &'static [Definition],
    /// Whether its lines are written for bash, where there is one.
    pub(crate) prefers_bash: bool,
    /// Whether its answers have room for the news of other jobs.
    pub(crate) tells_in_structure: bool,
    /// What it says to arguments that do not fit.
    pub(crate) refusal: fn(&Tool, &Value, &Problem) -> ToolError,
    /// What it calls fields that the engine calls otherwise.
    pub(crate) fields: &'static [(&'static str, &'static str)],
    /// How it tells an error that no tool of it has a shape for.
    pub(crate) shape: fn(&ToolError) -> Value,
    /// What it adds to a system prompt.
    pub(crate) guidance: fn(&Toolset) -> Vec<Guidance>,
    /// Takes from its tools what its settings leave out.
    pub(crate) tailor: fn(&mut Vec<Tool>, &OmpSettings),
    /// Whether its tools may be called at all.
    pub(crate) is_enabled: fn(&ShellSettings) -> bool,
    /// What it tells when a job has ended unseen; `None` if it is none of its own.
    pub(crate) event: fn(&Call<'_>, &Summary) -> Option<Value>,
    /// The same in words.
    pub(crate) sentence: fn(&Summary, &Value) -> String,
}

const DIALECTS: [&Dialect; 8] = [
    &umbo::DIALECT,
    &claude_code::DIALECT,
    &codex::DIALECT,
    &lash::DIALECT,
    &meerkat::DIALECT,
    &tasks::DIALECT,
    &omp::DIALECT,
    &recipe::DIALECT,
];

impl Dialect {
    pub(crate) fn load(&self) -> Result<Vec<Tool>, BuildError> {
        self.tools.iter().map(Definition::load).collect()
    }
}

/// The names of all dialects.
pub fn names() -> Vec<&'static str> {
    DIALECTS.iter().map(|dialect| dialect.name).collect()
}

pub(crate) fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS.into_iter().find(|dialect| dialect.name == name)
}

/// Fits the tools of a dialect to the place where its caller is.
pub(crate) fn arrange(toolset: &mut Toolset) {
    if toolset.dialect.name == omp::DIALECT.name {
        omp::recipe::arrange(toolset);
    }
}

/// What most dialects say to arguments that do not fit.
pub(crate) fn refuse(_tool: &Tool, _arguments: &Value, problem: &Problem) -> ToolError {
    problem.clone().into()
}

/// What most dialects leave out.
pub(crate) fn as_it_is(_tools: &mut Vec<Tool>, _settings: &OmpSettings) {}

/// What most dialects add to a system prompt.
pub(crate) fn no_guidance(_tools: &Toolset) -> Vec<Guidance> {
    Vec::new()
}
