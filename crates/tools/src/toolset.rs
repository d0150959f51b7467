//! The tools of one dialect, ready to be called for one caller.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tracing::{field, info, info_span};
use umbo_engine::Engine;
use umbo_ops::{Caller, ErrorCode, Gatekeeper, Owner, Ticket};
use umbo_view::Budget;
use umbo_view::mask::Masker;

use crate::answer::{Answer, Completed, ToolError, ToolResult};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::completed::told;
use crate::dialect::{self, Dialect};
use crate::guidance::Guidance;
use crate::process_events::ProcessEvents;
use crate::schema;
use crate::settings::{OmpSettings, ShellSettings};
use crate::tasks::TaskStore;
use crate::tool::{Overlap, Tool};
use crate::turn::Turns;

/// Most clients give up on a call after 60 s.
const LONGEST_WAIT: Duration = Duration::from_secs(40);

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
    minimize: bool,
    timeout: Option<Duration>,
    confinement: Option<PathBuf>,
    shell: ShellSettings,
    omp: OmpSettings,
    longest_wait: Option<Duration>,
    only: Option<Vec<String>>,
    hidden: Vec<String>,
    others: Vec<String>,
    gate: Option<Gatekeeper>,
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

    /// Whether the noise of known tools is folded in answers.
    #[must_use]
    pub fn minimize(mut self, minimize: bool) -> Self {
        self.minimize = minimize;
        self
    }

    /// The time limit of commands that give none, where the contract has none of its own.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// A project: no command starts outside of it, whatever the dialect.
    #[must_use]
    pub fn confine(mut self, project: Option<PathBuf>) -> Self {
        self.confinement = project;
        self
    }

    /// What a configuration says about shell tools.
    #[must_use]
    pub fn shell_settings(mut self, settings: ShellSettings) -> Self {
        self.shell = settings;
        self
    }

    /// What the settings of the dialect `omp` say.
    #[must_use]
    pub fn omp_settings(mut self, settings: OmpSettings) -> Self {
        self.omp = settings;
        self
    }

    /// How long a call may take at most, where its contract has an answer for a command that still
    /// runs; 40 s unless given.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = Some(wait);
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

    /// Leaves out all tools but these. Without any name, none is left out.
    #[must_use]
    pub fn only(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names: Vec<String> = tools.into_iter().map(Into::into).collect();
        self.only = (!names.is_empty()).then_some(names);
        self
    }

    /// Names of tools that the caller has from elsewhere: where one does better what a command
    /// does, a dialect may point to it.
    #[must_use]
    pub fn beside(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.others.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Builds the toolset.
    pub fn build(self) -> Result<Toolset, BuildError> {
        let name = self.dialect.unwrap_or_else(|| "umbo".to_owned());
        let dialect = dialect::find(&name).ok_or(BuildError::UnknownDialect { name })?;
        let longest_wait = self.longest_wait.unwrap_or(LONGEST_WAIT);
        let omp = self.omp.within(longest_wait);
        let mut tools = dialect.load()?;
        (dialect.tailor)(&mut tools, &omp);
        tools.retain(|tool| {
            let is_named = |names: &Vec<String>| names.iter().any(|name| name == tool.name);
            self.only.as_ref().is_none_or(is_named) && !is_named(&self.hidden)
        });
        let engine = self.engine.ok_or(BuildError::NoEngine)?;
        let mut caller = Caller::builder(engine)
            .directory(self.directory.unwrap_or_else(|| PathBuf::from(".")))
            .environment(self.environment)
            .owner(self.owner.unwrap_or(Owner::Fresh))
            .budget(self.budget)
            .minimize(self.minimize)
            .timeout(self.timeout)
            .confine(self.confinement)
            .longest_wait(longest_wait)
            .dialect(dialect.name)
            .tools(tools.iter().map(|tool| tool.name));
        if let Some(masker) = self.masker {
            caller = caller.masker(masker);
        }
        if let Some(gate) = self.gate {
            caller = caller.gate(gate);
        }
        if dialect.prefers_bash {
            caller = caller.prefer_bash();
        }
        let mut toolset = Toolset {
            dialect,
            tools,
            caller: caller.build()?,
            shell: self.shell,
            omp,
            others: self.others,
            tasks: TaskStore::new(),
            turns: Turns::default(),
            busy: Mutex::default(),
        };
        dialect::arrange(&mut toolset);
        Ok(toolset)
    }
}

/// The tools of one dialect, for one caller. Calls may come from many threads at once.
pub struct Toolset {
    pub(crate) dialect: &'static Dialect,
    tools: Vec<Tool>,
    /// Who calls them.
    caller: Caller,
    pub(crate) shell: ShellSettings,
    pub(crate) omp: OmpSettings,
    /// Tools that the caller has from elsewhere.
    others: Vec<String>,
    tasks: TaskStore,
    /// Taken by tools whose calls must not overlap.
    turns: Turns,
    /// How many commands are waited for, for dialects that bound it.
    pub(crate) busy: Mutex<usize>,
}

impl Deref for Toolset {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
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

    /// What a model is told about the tools together, guidance included.
    pub fn instructions(&self) -> String {
        let mut sections = vec![self.dialect.instructions.trim().to_owned()];
        let bound = self.tools.iter().filter_map(|tool| {
            tool.binding.as_ref().map(|binding| format!("`{binding}` is {}", tool.name))
        });
        sections.push(bound.collect::<Vec<_>>().join(", "));
        sections.extend(self.guidance().into_iter().map(|guidance| guidance.to_string()));
        sections.retain(|section| !section.is_empty());
        sections.join("\n\n")
    }

    /// The background tasks of the dialect `tasks`, for who observes them.
    pub fn tasks(&self) -> &TaskStore {
        &self.tasks
    }

    /// The events of a process that was started to stay, by the id that its start answered with.
    pub fn process_events(&self, process_id: &str) -> Option<ProcessEvents> {
        let ticket = Ticket::default();
        Call::new(self, &ticket).named(process_id).map(ProcessEvents::new)
    }

    /// What it adds to an agent's system prompt.
    pub fn guidance(&self) -> Vec<Guidance> {
        (self.dialect.guidance)(self)
    }

    /// The tools, in a fixed order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tools, for a dialect that fits them to where it is.
    pub(crate) fn tools_mut(&mut self) -> &mut Vec<Tool> {
        &mut self.tools
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The names of all tools that the caller has, as far as is known here.
    pub(crate) fn known_tools(&self) -> Vec<&str> {
        let own = self.tools.iter().map(|tool| tool.name);
        own.chain(self.others.iter().map(String::as_str)).collect()
    }

    /// Calls a tool. Whatever goes wrong is in the result.
    pub fn call(&self, name: &str, arguments: Value, ticket: &Ticket) -> ToolResult {
        let span = info_span!(
            "call",
            tool = name,
            dialect = self.dialect.name,
            owner = self.owner.as_deref(),
            job = field::Empty,
        );
        let _entered = span.enter();
        let start = Instant::now();
        let result = self.answer(name, arguments, ticket);
        if let Some(job) = result.structured["job"].as_str() {
            span.record("job", job);
        }
        let code = result.structured["error"]["code"].as_str();
        info!(milliseconds = start.elapsed().as_millis(), error = code, "answered");
        result
    }

    fn answer(&self, name: &str, arguments: Value, ticket: &Ticket) -> ToolResult {
        let result = self.run(name, arguments, ticket);
        self.release_ended();
        let completed = match &result {
            // The call comes again when somebody has answered, and perhaps nobody reads this.
            Err(error) if error.code == ErrorCode::ApprovalRequired => Vec::new(),
            _ => self.completed(ticket),
        };
        let (structured, text, is_error) = match result {
            Ok(Answer { mut structured, text }) => {
                if self.dialect.tells_in_structure && !completed.is_empty() {
                    structured["completed"] =
                        completed.iter().map(|told| told.event.clone()).collect();
                }
                (structured, text, false)
            }
            Err(error) => {
                let error = error.in_words_of(self.dialect.fields);
                let shape = || (self.dialect.shape)(&error);
                (error.structured.clone().unwrap_or_else(shape), error.message, true)
            }
        };
        ToolResult {
            structured: self.masked(structured),
            text: self.masker.mask_text(&text),
            is_error,
            completed: completed.into_iter().map(|told| self.masked_completion(told)).collect(),
        }
    }

    /// What ended since the last result.
    fn completed(&self, ticket: &Ticket) -> Vec<Completed> {
        let call = Call::new(self, ticket);
        self.completions.take(self).iter().filter_map(|summary| told(&call, summary)).collect()
    }

    fn run(&self, name: &str, arguments: Value, ticket: &Ticket) -> Result<Answer, ToolError> {
        let Some(tool) = self.tool(name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let message = format!("Unknown tool: {name}; there are: {}", names.join(" "));
            return Err(ToolError::new(ErrorCode::UnknownTool, message));
        };
        if !(self.dialect.is_enabled)(&self.shell) {
            let message = format!(
                "the tools of {} are disabled; set `enabled = true` in [tools.shell], \
                 or UMBO_TOOLS_SHELL_ENABLED=true",
                self.dialect.name
            );
            return Err(ToolError::new(ErrorCode::ShellDisabled, message));
        }
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        let arguments = schema::given(&tool.input_schema, arguments);
        if let Err(problem) = schema::check(&tool.input_schema, &arguments) {
            return Err((self.dialect.refusal)(tool, &arguments, &problem));
        }
        let arguments = Arguments::new(arguments, &self.masker);
        let cancelled = || ToolError::new(ErrorCode::Cancelled, "tool call cancelled");
        let _turn = match tool.overlap {
            Overlap::Serial => Some(self.turns.take(ticket).ok_or_else(cancelled)?),
            Overlap::Parallel if ticket.is_cancelled() => return Err(cancelled()),
            Overlap::Parallel => None,
        };
        (tool.run)(&Call::new(self, ticket), &arguments)
    }

    pub(crate) fn masked_completion(&self, told: Completed) -> Completed {
        Completed {
            event: self.masked(told.event),
            sentence: self.masker.mask_text(&told.sentence),
            ..told
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
