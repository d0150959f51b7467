//! The tools of one dialect, ready to be called for one caller.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use umbo_engine::{Attached, Engine, JobId};
use umbo_gate::{Mode, Premises};
use umbo_view::Budget;
use umbo_view::mask::Masker;

use crate::answer::{Answer, Completed, ToolError, ToolResult};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::dialect::{self, Dialect};
use crate::gatekeeper::Gatekeeper;
use crate::guidance::Guidance;
use crate::news::News;
use crate::schema;
use crate::settings::ShellSettings;
use crate::tasks::TaskStore;
use crate::ticket::Ticket;
use crate::tool::{Overlap, Tool};

/// Why a toolset could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no such dialect.
    #[error("there is no dialect {name:?}; there are: {}", dialect::names().join(" "))]
    UnknownDialect {
        /// The name that was given.
        name: String,
    },
    /// A tool's contract is damaged.
    #[error("the contract of {tool} cannot be read: {source}")]
    Contract {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// No engine was given.
    #[error("a toolset needs an engine: call Builder::engine")]
    NoEngine,
    /// The masker cannot be made.
    #[error(transparent)]
    Mask(#[from] umbo_view::mask::MaskError),
    /// The engine cannot be asked.
    #[error(transparent)]
    Engine(#[from] umbo_engine::Error),
}

/// How a toolset is to be.
#[derive(Default)]
pub struct Builder {
    engine: Option<Engine>,
    masker: Option<Masker>,
    dialect: Option<String>,
    directory: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    owner: Option<Owner>,
    budget: Budget,
    shell: ShellSettings,
    hidden: Vec<String>,
    gate: Option<Gatekeeper>,
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// This toolset and no other: its jobs are its own while it lives.
    Fresh,
    /// A caller that comes back under the same name, and is then told what ended meanwhile.
    Named(String),
    /// Nobody in particular: all jobs are everybody's.
    Everybody,
}

impl Builder {
    /// The engine that runs its jobs.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Which secrets are masked in every answer; well-known formats only, unless given.
    #[must_use]
    pub fn masker(mut self, masker: Masker) -> Self {
        self.masker = Some(masker);
        self
    }

    /// The contract; `umbo` unless given.
    #[must_use]
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = Some(name.into());
        self
    }

    /// Where commands run that do not say; the current directory unless given.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The environment that commands start from.
    #[must_use]
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.environment = variables.into_iter().collect();
        self
    }

    /// Who calls; [`Owner::Fresh`] unless given.
    #[must_use]
    pub fn owner(mut self, owner: Owner) -> Self {
        self.owner = Some(owner);
        self
    }

    /// How much text an answer may hold.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// What a configuration says about shell tools.
    #[must_use]
    pub fn shell_settings(mut self, settings: ShellSettings) -> Self {
        self.shell = settings;
        self
    }

    /// Who decides whether a command may run. Unless given, a gatekeeper in mode `guard` whose key
    /// and rules are in the directory `gate` of the engine's state.
    #[must_use]
    pub fn gate(mut self, gate: Gatekeeper) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Leaves a tool out: it is neither listed, nor mentioned, nor callable.
    #[must_use]
    pub fn without(mut self, tool: impl Into<String>) -> Self {
        self.hidden.push(tool.into());
        self
    }

    /// Builds the toolset.
    pub fn build(self) -> Result<Toolset, BuildError> {
        let name = self.dialect.unwrap_or_else(|| "umbo".to_owned());
        let dialect = dialect::find(&name).ok_or(BuildError::UnknownDialect { name })?;
        let mut tools = dialect.load()?;
        tools.retain(|tool| !self.hidden.iter().any(|hidden| hidden == tool.name));
        let engine = self.engine.ok_or(BuildError::NoEngine)?;
        let masker = match self.masker {
            Some(masker) => masker,
            None => Masker::builder().build()?,
        };
        let owner = self.owner.unwrap_or(Owner::Fresh);
        let comes_back = matches!(owner, Owner::Named(_));
        let owner = match owner {
            Owner::Fresh => Some(format!("caller-{}", JobId::generate())),
            Owner::Named(name) => Some(name),
            Owner::Everybody => None,
        };
        let directory = self.directory.unwrap_or_else(|| PathBuf::from("."));
        let gate = self.gate.unwrap_or_else(|| {
            let state = engine.state_directory();
            Gatekeeper::new(Premises::new(state.join("gate"), state), Mode::Guard)
                .run(owner.clone())
        });
        Ok(Toolset {
            gate: gate.base(&directory),
            news: News::new(comes_back),
            dialect,
            tools,
            engine,
            masker: Arc::new(masker),
            directory,
            environment: self.environment,
            owner,
            budget: self.budget,
            shell: self.shell,
            signals: AtomicU64::new(0),
            tasks: TaskStore::new(),
            held: Mutex::default(),
            cursors: Mutex::default(),
            turn: Mutex::default(),
        })
    }
}

/// The tools of one dialect, for one caller. Calls may come from many threads at once.
pub struct Toolset {
    pub(crate) dialect: &'static Dialect,
    tools: Vec<Tool>,
    pub(crate) engine: Engine,
    pub(crate) gate: Gatekeeper,
    pub(crate) masker: Arc<Masker>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) owner: Option<String>,
    pub(crate) budget: Budget,
    pub(crate) shell: ShellSettings,
    /// How often input was sent.
    signals: AtomicU64,
    tasks: TaskStore,
    pub(crate) news: News,
    /// Jobs that end with this toolset.
    held: Mutex<Vec<Attached>>,
    /// How far each job has been read, for dialects that tell only what is new.
    cursors: Mutex<HashMap<JobId, u64>>,
    /// Held by tools whose calls must not overlap.
    turn: Mutex<()>,
}

impl Toolset {
    /// Starts building one.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Its dialect's name.
    pub fn dialect(&self) -> &'static str {
        self.dialect.name
    }

    /// What a model is told about the tools together.
    pub fn instructions(&self) -> &'static str {
        self.dialect.instructions.trim()
    }

    /// The background tasks of the dialect `tasks`, for who observes them.
    pub fn tasks(&self) -> &TaskStore {
        &self.tasks
    }

    /// What it adds to an agent's system prompt.
    pub fn guidance(&self) -> Vec<Guidance> {
        (self.dialect.guidance)(self)
    }

    /// The number of an input that is being sent; later ones have higher numbers.
    pub(crate) fn next_signal(&self) -> u64 {
        self.signals.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The tools, in a fixed order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Calls a tool. Whatever goes wrong is in the result.
    pub fn call(&self, name: &str, arguments: Value, ticket: &Ticket) -> ToolResult {
        let result = self.run(name, arguments, ticket);
        self.release_ended();
        let completed = self.news.take(&Call::new(self, ticket));
        let (structured, text, is_error) = match result {
            Ok(Answer { mut structured, text }) => {
                if self.dialect.tells_in_structure && !completed.is_empty() {
                    structured["completed"] =
                        completed.iter().map(|told| told.event.clone()).collect();
                }
                (structured, text, false)
            }
            Err(error) => (error.to_value(), error.message.clone(), true),
        };
        ToolResult {
            structured: self.masked(structured),
            text: self.masker.mask_text(&text),
            is_error,
            completed: completed.into_iter().map(|told| self.masked_news(told)).collect(),
        }
    }

    fn run(&self, name: &str, arguments: Value, ticket: &Ticket) -> Result<Answer, ToolError> {
        let Some(tool) = self.tool(name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool {name:?}; there are: {}", names.join(" "));
            return Err(ToolError::new("unknown_tool", message));
        };
        if !(self.dialect.is_enabled)(&self.shell) {
            let message = format!(
                "the tools of {} are disabled; set `enabled = true` in [tools.shell], \
                 or UMBO_TOOLS_SHELL_ENABLED=true",
                self.dialect.name
            );
            let shape = json!({"error": "shell_disabled", "message": message});
            return Err(ToolError::new("shell_disabled", message).shaped(shape));
        }
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        if let Err(problem) = schema::check(&tool.input_schema, &arguments) {
            return Err((self.dialect.refusal)(tool, &arguments, &problem));
        }
        let arguments = Arguments::new(arguments, &self.masker);
        let _turn = (tool.overlap == Overlap::Serial)
            .then(|| self.turn.lock().unwrap_or_else(PoisonError::into_inner));
        (tool.run)(&Call::new(self, ticket), &arguments)
    }

    /// Lets the jobs run on that would end with this toolset.
    pub fn detach(self) {
        let held = std::mem::take(&mut *self.held());
        for attached in held {
            attached.detach();
        }
    }

    /// Stops the jobs that end with this toolset.
    pub fn close(&self) {
        self.held().clear();
    }

    pub(crate) fn hold(&self, attached: Attached) {
        self.held().push(attached);
    }

    /// How far a job was read, and a way to say that it was read further.
    pub(crate) fn cursors(&self) -> MutexGuard<'_, HashMap<JobId, u64>> {
        self.cursors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets held jobs that are over.
    fn release_ended(&self) {
        let runs = |attached: &mut Attached| {
            !matches!(attached.wait(Some(std::time::Duration::ZERO)), Ok(Some(_)) | Err(_))
        };
        self.held().retain_mut(runs);
    }

    fn held(&self) -> MutexGuard<'_, Vec<Attached>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn masked_news(&self, told: Completed) -> Completed {
        Completed {
            event: self.masked(told.event),
            sentence: self.masker.mask_text(&told.sentence),
        }
    }

    /// All strings of a value, masked: nothing leaves here that a view has not seen.
    fn masked(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.masker.mask_text(&text)),
            Value::Array(items) => items.into_iter().map(|item| self.masked(item)).collect(),
            Value::Object(map) => {
                map.into_iter().map(|(name, value)| (name, self.masked(value))).collect()
            }
            other => other,
        }
    }

    /// Where programs are looked for.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        let path = self.environment.iter().find(|(variable, _)| variable == "PATH");
        path.is_some_and(|(_, path)| env::split_paths(path).any(|dir| dir.join(name).is_file()))
    }
}

impl Drop for Toolset {
    fn drop(&mut self) {
        self.news.leave(self);
    }
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("dialect", &self.dialect.name)
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("dialect", &self.dialect).finish_non_exhaustive()
    }
}
