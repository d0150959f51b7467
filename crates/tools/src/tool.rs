//! A tool: a name, a contract, the model's words, and one function.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::toolset::BuildError;

/// A tool as a caller sees it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What a model is told about it.
    pub description: String,
    /// The schema of its arguments.
    pub input_schema: Value,
    /// The schema of its structured result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints for clients; those that are as a client assumes anyway are not written out.
    pub annotations: Annotations,
    /// Whether calls of one caller may overlap.
    #[serde(skip)]
    pub overlap: Overlap,
    #[serde(skip)]
    pub(crate) run: Run,
}

/// What a client may assume about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a hint of the protocol")]
pub struct Annotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "is_false")]
    pub read_only_hint: bool,
    /// It may destroy something.
    #[serde(skip_serializing_if = "is_true")]
    pub destructive_hint: bool,
    /// Twice is the same as once.
    #[serde(skip_serializing_if = "is_false")]
    pub idempotent_hint: bool,
    /// It may reach beyond this machine.
    #[serde(skip_serializing_if = "is_true")]
    pub open_world_hint: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde calls")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Whether calls of one caller may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// They run side by side.
    #[default]
    Parallel,
    /// One after the other; two callers never wait for each other.
    Serial,
}

pub(crate) type Run = fn(&Call<'_>, &Arguments) -> Result<Answer, ToolError>;

/// A tool as its dialect writes it down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// The words for the model, from the `.md` file beside the tool.
    pub(crate) words: &'static str,
    /// Schemas and hints, from the `.json` file beside the tool.
    pub(crate) contract: &'static str,
    pub(crate) run: Run,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    annotations: Annotations,
    input: Value,
    output: Option<Value>,
    #[serde(default)]
    overlap: Overlap,
}

impl Definition {
    pub(crate) fn load(&self) -> Result<Tool, BuildError> {
        let contract: Contract = serde_json::from_str(self.contract)
            .map_err(|source| BuildError::Contract { tool: self.name, source })?;
        Ok(Tool {
            name: self.name,
            description: self.words.trim().to_owned(),
            input_schema: contract.input,
            output_schema: contract.output,
            annotations: contract.annotations,
            overlap: contract.overlap,
            run: self.run,
        })
    }
}
