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
    /// Calls as a caller writes them in the language of its contract.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// What the language of its contract calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<Binding>,
    /// Whether calls of one caller may overlap.
    #[serde(skip)]
    pub overlap: Overlap,
    #[serde(skip)]
    pub(crate) run: Run,
}

/// The name of a tool in a language that has modules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The modules it is in, outermost first.
    pub path: Vec<String>,
    /// Its name there.
    pub name: String,
    /// Words under which it is found too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

impl std::fmt::Display for Binding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for module in &self.path {
            write!(f, "{module}.")?;
        }
        f.write_str(&self.name)
    }
}

/// What a client may assume about a tool. Only what differs from what it assumes anyway is written
/// out: of a reader, nobody asks what it destroys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, into = "Hints")]
#[expect(clippy::struct_excessive_bools, reason = "each is a hint of the protocol")]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may destroy something.
    pub destructive_hint: bool,
    /// Twice is the same as once.
    pub idempotent_hint: bool,
    /// It may reach beyond this machine.
    pub open_world_hint: bool,
}

/// The hints that say something, by their names in the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It destroys nothing, though it changes something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Twice is the same as once, though it changes something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It stays on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl From<Annotations> for Hints {
    fn from(told: Annotations) -> Self {
        let changes = !told.read_only_hint;
        Self {
            read_only_hint: told.read_only_hint.then_some(true),
            destructive_hint: (changes && !told.destructive_hint).then_some(false),
            idempotent_hint: (changes && told.idempotent_hint).then_some(true),
            open_world_hint: (!told.open_world_hint).then_some(false),
        }
    }
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
    examples: Vec<String>,
    binding: Option<Binding>,
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
            examples: contract.examples,
            binding: contract.binding,
            overlap: contract.overlap,
            run: self.run,
        })
    }
}
