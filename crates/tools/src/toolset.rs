//! The tools of one dialect, ready to be called for one caller.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tracing::{field, info, info_span};
use umbo_engine::{Attached, Condition, Engine, Job, JobId, Request};
use umbo_gate::{Mode, Premises};
use umbo_recipes::{Cache, Options};
use umbo_view::Budget;
use umbo_view::mask::Masker;

use crate::answer::{Answer, Completed, ToolError, ToolResult};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::dialect::{self, Dialect};
use crate::gatekeeper::Gatekeeper;
use crate::guidance::Guidance;
use crate::news::News;
use crate::process_events::ProcessEvents;
use crate::project::Folder;
use crate::schema;
use crate::settings::{OmpSettings, ShellSettings};
use crate::tasks::TaskStore;
use crate::ticket::Ticket;
use crate::tool::{Overlap, Tool};
use crate::turn::Turns;

/// How the names of owners begin that did not say who they are.
pub(crate) const NAMELESS: &str = "caller-";

/// Most clients give up on a call after 60 s.
const LONGEST_WAIT: Duration = Duration::from_secs(40);

/// How long jobs may take to end with their toolset: as long as one that does not want to.
const FAREWELL: Duration = Duration::from_secs(7);

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
        let masker = match self.masker {
            Some(masker) => masker,
            None => Masker::builder().build()?,
        };
        let owner = self.owner.unwrap_or(Owner::Fresh);
        let comes_back = matches!(owner, Owner::Named(_));
        let owner = match owner {
            Owner::Fresh => Some(format!("{NAMELESS}{}", JobId::generate())),
            Owner::Named(name) => Some(name),
            Owner::Everybody => None,
        };
        let directory = self.directory.unwrap_or_else(|| PathBuf::from("."));
        let gate = self.gate.unwrap_or_else(|| {
            let state = engine.state_directory();
            Gatekeeper::new(Premises::new(state.join("gate"), state), Mode::Guard)
                .run(owner.clone())
        });
        let recipes = Cache::in_directory(engine.state_directory().join("recipes"));
        let mut toolset = Toolset {
            gate: gate.base(&directory),
            recipes,
            news: Arc::new(News::new(comes_back)),
            dialect,
            tools,
            engine,
            masker: Arc::new(masker),
            directory,
            environment: self.environment.into(),
            owner,
            budget: self.budget,
            minimize: self.minimize,
            timeout: self.timeout,
            confinement: self.confinement,
            shell: self.shell,
            omp,
            longest_wait,
            others: self.others,
            tasks: TaskStore::new(),
            held: Mutex::default(),
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
    pub(crate) engine: Engine,
    pub(crate) gate: Gatekeeper,
    pub(crate) masker: Arc<Masker>,
    pub(crate) directory: PathBuf,
    pub(crate) environment: Arc<[(OsString, OsString)]>,
    pub(crate) owner: Option<String>,
    pub(crate) budget: Budget,
    pub(crate) minimize: bool,
    /// The time limit where a contract has none.
    pub(crate) timeout: Option<Duration>,
    /// The project that commands must stay in.
    confinement: Option<PathBuf>,
    pub(crate) shell: ShellSettings,
    pub(crate) omp: OmpSettings,
    /// How long a call may take where its contract leaves that open.
    pub(crate) longest_wait: Duration,
    /// Tools that the caller has from elsewhere.
    others: Vec<String>,
    /// What was found in the projects of this caller.
    recipes: Cache,
    tasks: TaskStore,
    pub(crate) news: Arc<News>,
    /// Jobs that end with this toolset.
    held: Mutex<Vec<Attached>>,
    /// Taken by tools whose calls must not overlap.
    turns: Turns,
    /// How many commands are waited for, for dialects that bound it.
    pub(crate) busy: Mutex<usize>,
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

    /// The tasks of a folder of this caller.
    pub(crate) fn tasks_of(&self, root: &Path) -> Result<Folder, umbo_recipes::Error> {
        Folder::open(root, &self.recipe_options(), &self.recipes)
    }

    /// The nearest tasks from a folder up to another.
    pub(crate) fn tasks_near(
        &self,
        start: &Path,
        top: &Path,
    ) -> Result<Folder, umbo_recipes::Error> {
        Folder::find(start, top, &self.recipe_options(), &self.recipes)
    }

    fn recipe_options(&self) -> Options {
        Options::for_environment(self.environment.iter().cloned())
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
            Err(error) if error.code == "approval_required" => Vec::new(),
            _ => self.news.take(&Call::new(self, ticket)),
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
            completed: completed.into_iter().map(|told| self.masked_news(told)).collect(),
        }
    }

    fn run(&self, name: &str, arguments: Value, ticket: &Ticket) -> Result<Answer, ToolError> {
        let Some(tool) = self.tool(name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
            let message = format!("Unknown tool: {name}; there are: {}", names.join(" "));
            return Err(ToolError::new("unknown_tool", message));
        };
        if !(self.dialect.is_enabled)(&self.shell) {
            let message = format!(
                "the tools of {} are disabled; set `enabled = true` in [tools.shell], \
                 or UMBO_TOOLS_SHELL_ENABLED=true",
                self.dialect.name
            );
            return Err(ToolError::new("shell_disabled", message));
        }
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        let arguments = schema::given(&tool.input_schema, arguments);
        if let Err(problem) = schema::check(&tool.input_schema, &arguments) {
            return Err((self.dialect.refusal)(tool, &arguments, &problem));
        }
        let arguments = Arguments::new(arguments, &self.masker);
        let cancelled = || ToolError::new("cancelled", "tool call cancelled");
        let _turn = match tool.overlap {
            Overlap::Serial => Some(self.turns.take(ticket).ok_or_else(cancelled)?),
            Overlap::Parallel if ticket.is_cancelled() => return Err(cancelled()),
            Overlap::Parallel => None,
        };
        (tool.run)(&Call::new(self, ticket), &arguments)
    }

    /// Lets the jobs run on that would end with this toolset.
    pub fn detach(self) {
        let held = std::mem::take(&mut *self.held());
        for attached in held {
            attached.detach();
        }
    }

    /// Stops the jobs that end with this toolset, and waits for that; not for ever.
    pub fn close(&self) {
        let held = std::mem::take(&mut *self.held());
        let jobs: Vec<Job> = held.iter().map(|attached| attached.job().clone()).collect();
        // Whoever loses its caller stops by itself, all of them at once.
        drop(held);
        let deadline = Instant::now() + FAREWELL;
        for job in jobs {
            let left = deadline.saturating_duration_since(Instant::now());
            let _ = job.wait(&[Condition::Exit], Some(left));
        }
    }

    pub(crate) fn hold(&self, attached: Attached) {
        self.held().push(attached);
    }

    /// Forgets held jobs that are over.
    fn release_ended(&self) {
        let runs = |attached: &mut Attached| {
            !matches!(attached.wait(Some(Duration::ZERO)), Ok(Some(_)) | Err(_))
        };
        self.held().retain_mut(runs);
    }

    fn held(&self) -> MutexGuard<'_, Vec<Attached>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn masked_news(&self, told: Completed) -> Completed {
        Completed {
            event: self.masked(told.event),
            sentence: self.masker.mask_text(&told.sentence),
            ..told
        }
    }

    /// A text of the caller's, fit to leave.
    pub fn mask(&self, text: &str) -> String {
        self.masker.mask_text(text)
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

    /// Refuses a request to work outside of the project it has to stay in.
    pub(crate) fn confined(&self, request: &Request) -> Result<(), ToolError> {
        let Some(project) = &self.confinement else { return Ok(()) };
        match umbo_gate::restrict_to_project(&request.cwd, project) {
            Err(error @ umbo_gate::Error::OutsideProject(_)) => {
                Err(ToolError::new("outside_project", error.to_string()))
            }
            // What else is wrong with it is said when it is used.
            _ => Ok(()),
        }
    }

    /// A program, looked for where the caller's commands would.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let (_, path) = self.environment.iter().find(|(variable, _)| variable == "PATH")?;
        env::split_paths(path).map(|directory| directory.join(name)).find(|path| path.is_file())
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
