//! A tool: a name, the words for a model, the types of its arguments and of its answer, and one
//! function.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use umbo_ops::{Call, ErrorCode};

use crate::answer::{Answer, ToolError};
use crate::schema::{self, Problem, input_schema, output_schema};

/// A tool as a caller sees it.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What the host of its contract calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'static str>,
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
    /// The schemas with all that is known, where those above are shorter.
    #[serde(skip)]
    full: Option<Box<FullSchemas>>,
    /// Which set of its dialect it belongs to.
    #[serde(skip)]
    pub set: ToolSet,
    /// Whether all that its calls wait for is a command.
    #[serde(skip)]
    pub(crate) attends: bool,
    #[serde(skip)]
    run: Arc<Run>,
    /// Reads arguments as the type that its function takes.
    #[serde(skip)]
    read: fn(Value) -> serde_json::Result<()>,
}

/// Schemas as the types of a tool have them.
#[derive(Clone)]
struct FullSchemas {
    input: Value,
    output: Option<Value>,
}

type Run = dyn Fn(&Call<'_>, Value) -> Result<Answer, ToolError> + Send + Sync;

impl Tool {
    /// A tool that takes an `A` and answers with a `B`. Both say by their derive what they look
    /// like; the doc comments of an `A`'s fields are what a model is told of them.
    pub fn new<A, B>(
        name: &'static str,
        words: &str,
        run: impl Fn(&Call<'_>, A) -> Result<Answer<B>, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        B: Serialize + JsonSchema,
    {
        let run = move |call: &Call<'_>, arguments: Value| {
            let arguments = serde_json::from_value(arguments)
                .map_err(|error| ToolError::new(ErrorCode::InvalidArgument, error.to_string()))?;
            Ok(run(call, arguments)?.untyped())
        };
        Self {
            name,
            id: None,
            description: words.trim().to_owned(),
            input_schema: input_schema::<A>(),
            output_schema: Some(output_schema::<B>()),
            annotations: Annotations::RUNS,
            examples: Vec::new(),
            binding: None,
            overlap: Overlap::Parallel,
            full: None,
            set: ToolSet::Shell,
            attends: false,
            run: Arc::new(run),
            read: |arguments| serde_json::from_value::<A>(arguments).map(drop),
        }
    }

    /// The same for a function that needs the state of its dialect.
    pub fn with_state<S, A, B>(
        state: &Arc<S>,
        name: &'static str,
        words: &str,
        run: fn(&S, &Call<'_>, A) -> Result<Answer<B>, ToolError>,
    ) -> Self
    where
        S: Send + Sync + 'static,
        A: DeserializeOwned + JsonSchema + 'static,
        B: Serialize + JsonSchema + 'static,
    {
        let state = Arc::clone(state);
        Self::new(name, words, move |call: &Call<'_>, arguments: A| run(&state, call, arguments))
    }

    /// With hints for clients; [`Annotations::RUNS`] unless given.
    #[must_use]
    pub fn hints(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Calls of one caller come one after the other.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.overlap = Overlap::Serial;
        self
    }

    /// All that its calls wait for is a command: where a thread listens for the next call meanwhile
    /// ([`Ticket::takes_time`](umbo_ops::Ticket::takes_time)), it need not be told at once that it cannot.
    #[must_use]
    pub fn attending(mut self) -> Self {
        self.attends = true;
        self
    }

    /// In the set of tools for files.
    #[must_use]
    pub fn for_files(mut self) -> Self {
        self.set = ToolSet::Files;
        self
    }

    /// With what the host of its contract calls it.
    #[must_use]
    pub fn id(mut self, id: &'static str) -> Self {
        self.id = Some(id);
        self
    }

    /// With calls as they are written in the language of its contract.
    #[must_use]
    pub fn examples<const N: usize>(mut self, examples: [&str; N]) -> Self {
        self.examples = examples.map(str::to_owned).to_vec();
        self
    }

    /// With its name in the language of its contract.
    #[must_use]
    pub fn binding<const P: usize, const A: usize>(
        mut self,
        path: [&str; P],
        name: &str,
        aliases: [&str; A],
    ) -> Self {
        self.binding = Some(Binding {
            path: path.map(str::to_owned).to_vec(),
            name: name.to_owned(),
            aliases: aliases.map(str::to_owned).to_vec(),
        });
        self
    }

    /// Without a schema of its answer, for a contract that has none.
    #[must_use]
    pub fn without_output_schema(mut self) -> Self {
        self.output_schema = None;
        self
    }

    /// Keeps its schemas as they are now, before a contract that counts bytes shortens them: arguments
    /// are held against the whole.
    #[must_use]
    pub fn keep_full_schemas(mut self) -> Self {
        let (input, output) = (self.input_schema.clone(), self.output_schema.clone());
        self.full = Some(Box::new(FullSchemas { input, output }));
        self
    }

    /// The schema of its arguments with all that is known of them.
    pub fn full_input_schema(&self) -> &Value {
        self.full.as_ref().map_or(&self.input_schema, |full| &full.input)
    }

    /// The schema of its structured result with all that is known of it.
    pub fn full_output_schema(&self) -> Option<&Value> {
        self.full.as_ref().map_or(self.output_schema.as_ref(), |full| full.output.as_ref())
    }

    /// The same tool, listed with its whole schemas.
    #[must_use]
    pub fn in_full(&self) -> Self {
        Self {
            input_schema: self.full_input_schema().clone(),
            output_schema: self.full_output_schema().cloned(),
            ..self.clone()
        }
    }

    /// Whether it takes these arguments; else, the first thing that is wrong with them.
    pub fn check(&self, arguments: Value) -> Result<(), Problem> {
        let prepared = self.prepared(arguments)?;
        let given = prepared.clone();
        (self.read)(prepared).map_err(|error| Problem::new("", &given, error.to_string()))
    }

    /// Arguments that fit its schema, as its function reads them.
    pub(crate) fn prepared(&self, arguments: Value) -> Result<Value, Problem> {
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        let schema = self.full_input_schema();
        let arguments = schema::given(schema, arguments);
        schema::check(schema, &arguments)?;
        Ok(arguments)
    }

    /// Runs it with arguments that fit its schema.
    pub(crate) fn run(&self, call: &Call<'_>, arguments: Value) -> Result<Answer, ToolError> {
        (self.run)(call, arguments)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
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

impl Annotations {
    /// It runs whatever it is given.
    pub const RUNS: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: false,
        open_world_hint: true,
    };
    /// It only looks, at what is on this machine.
    pub const READS: Self = Self {
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };
    /// It changes files on this machine.
    pub const CHANGES: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: false,
        open_world_hint: false,
    };
    /// It ends something on this machine; twice is the same as once.
    pub const STOPS: Self = Self {
        read_only_hint: false,
        destructive_hint: true,
        idempotent_hint: true,
        open_world_hint: false,
    };
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

/// A part of a dialect that a caller may have without the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSet {
    /// Commands, jobs and tasks.
    #[default]
    Shell,
    /// Files.
    Files,
}

impl ToolSet {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Shell, Self::Files];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Files => "files",
        }
    }

    /// The set of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.as_str() == name)
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
