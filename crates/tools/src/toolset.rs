//! The tools of one dialect, ready to be called for one caller.

use std::any::Any;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value};
use tracing::{field, info, info_span};
use umbo_engine::Summary;
use umbo_ops::files::{newest_change, restore_after};
use umbo_ops::{Call, Caller, CallerBuilder, ErrorCode, Ticket};

use crate::answer::{Answer, ToolError, ToolResult};
use crate::completed::Completed;
use crate::dialect::{self, Dialect, Host};
use crate::guidance::Guidance;
use crate::schema;
use crate::settings::{Setting, SettingError, SettingValue, Settings};
use crate::tool::{Overlap, Tool, ToolSet};
use crate::turn::Turns;

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
    /// A setting is unknown, or its value is wrong.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Its caller cannot be made.
    #[error(transparent)]
    Caller(#[from] umbo_ops::BuildError),
}

/// How a toolset is to be.
pub struct Builder {
    caller: CallerBuilder,
    dialect: Option<String>,
    own_dialect: Option<Box<dyn Dialect>>,
    job_id: fn(&str) -> Option<&str>,
    settings: Vec<(String, SettingValue)>,
    project: Option<PathBuf>,
    has_terminal: bool,
    only: Option<Vec<String>>,
    hidden: Vec<String>,
    others: Vec<String>,
    sets: Option<Vec<ToolSet>>,
    is_parallel: bool,
}

impl Builder {
    /// The contract; `umbo` unless given.
    #[must_use]
    pub fn dialect(mut self, name: impl Into<String>) -> Self {
        self.dialect = Some(name.into());
        self
    }

    /// A contract that the program brings itself, instead of one that is known by its name.
    #[must_use]
    pub fn with_dialect<D: Dialect>(mut self, dialect: D) -> Self {
        self.own_dialect = Some(Box::new(dialect));
        self.job_id = D::job_id;
        self
    }

    /// The value of a setting that a dialect has, by its key.
    #[must_use]
    pub fn setting(mut self, key: impl Into<String>, value: impl Into<SettingValue>) -> Self {
        self.settings.push((key.into(), value.into()));
        self
    }

    /// The same for several.
    #[must_use]
    pub fn settings<K: Into<String>>(
        mut self,
        values: impl IntoIterator<Item = (K, SettingValue)>,
    ) -> Self {
        self.settings.extend(values.into_iter().map(|(key, value)| (key.into(), value)));
        self
    }

    /// The project that the caller works in; its directory unless given.
    #[must_use]
    pub fn project(mut self, project: Option<PathBuf>) -> Self {
        self.project = project;
        self
    }

    /// Whether a person sits at a terminal that commands can be given; nobody does unless said.
    #[must_use]
    pub fn has_terminal(mut self, has_terminal: bool) -> Self {
        self.has_terminal = has_terminal;
        self
    }

    /// Only the tools of these sets; those of all unless given.
    #[must_use]
    pub fn sets(mut self, sets: impl IntoIterator<Item = ToolSet>) -> Self {
        self.sets = Some(sets.into_iter().collect());
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

    /// Calls of all tools run side by side, even those that the contract puts one after the other: for
    /// a host that orders them itself.
    #[must_use]
    pub fn parallel(mut self) -> Self {
        self.is_parallel = true;
        self
    }

    /// The dialect, told what there is to know about its caller.
    fn open_dialect(&mut self) -> Result<Box<dyn Dialect>, BuildError> {
        if let Some(own) = self.own_dialect.take() {
            // It was made with what it needs; nobody here would read it.
            return match self.settings.pop() {
                Some((key, _)) => Err(SettingError::Unknown { key, nearest: None }.into()),
                None => Ok(own),
            };
        }
        let name = self.dialect.take().unwrap_or_else(|| "umbo".to_owned());
        let registered = dialect::find(&name).ok_or(BuildError::UnknownDialect { name })?;
        // Who configures all dialects says what it knows of each; only that of this one is read.
        let declared: Vec<Setting> = dialect::settings().copied().collect();
        let mut settings = Settings::of(registered.settings);
        for (key, value) in std::mem::take(&mut self.settings) {
            settings.set(&declared, &key, value)?;
        }
        Ok((registered.open)(&Host {
            settings: &settings,
            project: self.project.as_deref(),
            longest_wait: self.caller.longest(),
            has_terminal: self.has_terminal,
            beside: &self.others,
        }))
    }

    /// Builds the toolset.
    pub fn build(mut self) -> Result<Toolset, BuildError> {
        let dialect = self.open_dialect()?;
        let mut tools = dialect.tools();
        tools.retain(|tool| {
            let is_named = |names: &Vec<String>| names.iter().any(|name| name == tool.name);
            self.only.as_ref().is_none_or(is_named)
                && !is_named(&self.hidden)
                && self.sets.as_ref().is_none_or(|sets| sets.contains(&tool.set))
        });
        let mut caller = self
            .caller
            .dialect(dialect.name())
            .job_ids(self.job_id)
            .tools(tools.iter().map(|tool| tool.name));
        if dialect.prefers_bash() {
            caller = caller.prefer_bash();
        }
        if !tools.iter().any(|tool| tool.input_schema["properties"]["sandbox"].is_object()) {
            caller = caller.fixed_sandbox();
        }
        let caller = caller.build()?;
        dialect.arrange(&mut tools, &caller);
        for tool in &mut tools {
            if self.is_parallel {
                tool.overlap = Overlap::Parallel;
            }
            // A project's own words may be in it: the names and docs of its tasks.
            tool.description = caller.mask(&tool.description);
            tool.input_schema = masked(std::mem::take(&mut tool.input_schema), &caller);
        }
        Ok(Toolset { dialect, tools, caller, turns: Turns::default() })
    }
}

/// The tools of one dialect, for one caller. Calls may come from many threads at once.
pub struct Toolset {
    dialect: Box<dyn Dialect>,
    tools: Vec<Tool>,
    /// Who calls them.
    caller: Caller,
    /// Taken by tools whose calls must not overlap.
    turns: Turns,
}

impl Deref for Toolset {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Toolset {
    /// Starts building the tools of a caller.
    pub fn builder(caller: CallerBuilder) -> Builder {
        Builder {
            caller,
            dialect: None,
            own_dialect: None,
            job_id: dialect::job_id,
            settings: Vec::new(),
            project: None,
            has_terminal: false,
            only: None,
            hidden: Vec::new(),
            others: Vec::new(),
            sets: None,
            is_parallel: false,
        }
    }

    /// Its dialect's name.
    pub fn dialect(&self) -> &'static str {
        self.dialect.name()
    }

    /// Its dialect itself, if it is of this type: for what a contract has beside its tools.
    pub fn dialect_as<D: Dialect>(&self) -> Option<&D> {
        let dialect: &dyn Any = &*self.dialect;
        dialect.downcast_ref()
    }

    /// Who calls.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The newest change that this caller made to files; an empty name if there is none.
    pub fn newest_change(&self) -> Result<String, String> {
        let ticket = Ticket::default();
        newest_change(&Call::new(self, &ticket)).map_err(|error| error.message)
    }

    /// Takes back all that this caller's file tools changed after a change, or nothing: the files. The
    /// ticket says who is asked whether that may be done.
    pub fn restore_files(&self, after: &str, ticket: &Ticket) -> Result<Vec<String>, String> {
        let restored = restore_after(&Call::new(self, ticket), after);
        let restored = restored.map_err(|error| error.message)?;
        Ok(restored.files.into_iter().map(|file| file.path).collect())
    }

    /// Arguments for a tool that is not umbo's own, with the secrets that placeholders in them stand for.
    pub fn restore_secrets(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let restore = |(name, value)| (name, restored(value, &self.caller));
        arguments.into_iter().map(restore).collect()
    }

    /// Whether a tool that is not umbo's own may be called, by its words: program, tool, arguments. The
    /// ticket says who is asked.
    pub fn admit_tool(&self, words: &[String], ticket: &Ticket) -> Result<(), String> {
        Call::new(self, ticket).admit_tool(words).map_err(|error| error.message)
    }

    /// What a model is told about the tools together, guidance included.
    pub fn instructions(&self) -> String {
        let mut sections = vec![self.dialect.instructions().trim().to_owned()];
        let bound = self.tools.iter().filter_map(|tool| {
            tool.binding.as_ref().map(|binding| format!("`{binding}` is {}", tool.name))
        });
        sections.push(bound.collect::<Vec<_>>().join(", "));
        sections.extend(self.guidance().into_iter().map(|guidance| guidance.to_string()));
        sections.retain(|section| !section.is_empty());
        self.caller.mask(&sections.join("\n\n"))
    }

    /// What it adds to an agent's system prompt.
    pub fn guidance(&self) -> Vec<Guidance> {
        self.dialect.guidance(&self.tools)
    }

    /// The tools, in a fixed order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The error for a tool that does not exist.
    pub fn unknown_tool(&self, name: &str) -> String {
        self.mask(&self.dialect.unknown_tool(name, &self.tools).message)
    }

    /// Calls a tool. Whatever goes wrong is in the result.
    pub fn call(&self, name: &str, arguments: Value, ticket: &Ticket) -> ToolResult {
        let span = info_span!(
            "call",
            tool = name,
            dialect = self.dialect.name(),
            owner = self.owner.as_deref(),
            job = field::Empty,
        );
        let _entered = span.enter();
        let start = Instant::now();
        let result = self.answer(name, arguments, ticket);
        if let Some(job) = &result.job {
            span.record("job", job);
        }
        let code = result.error.map(ErrorCode::as_str);
        info!(milliseconds = start.elapsed().as_millis(), error = code, "answered");
        result
    }

    fn answer(&self, name: &str, arguments: Value, ticket: &Ticket) -> ToolResult {
        let result = self.run(name, arguments, ticket);
        self.release_ended();
        let completed = match &result {
            // The call comes again when somebody has answered, and perhaps nobody reads this.
            Err(error) if error.code == ErrorCode::ApprovalRequired => Vec::new(),
            _ if ticket.is_over() => Vec::new(),
            _ => self.completed(ticket),
        };
        let error = result.as_ref().err().map(|error| error.code);
        let (structured, text, job, is_cut, images) = match result {
            Ok(Answer { mut structured, text, job, is_cut, images }) => {
                if !completed.is_empty() {
                    self.dialect.attach(&mut structured, &completed);
                }
                (structured, text, job, is_cut, images)
            }
            Err(error) => {
                let error = error.in_words_of(self.dialect.fields());
                let shape = || self.dialect.shape(&error);
                (
                    error.structured.clone().unwrap_or_else(shape),
                    error.message,
                    None,
                    false,
                    Vec::new(),
                )
            }
        };
        let (structured, mut text) = (self.masked(structured), text);
        self.mask_in_place(&mut text);
        let completed = completed.into_iter().map(|told| self.masked_completion(told)).collect();
        let notes = ticket.take_notes().iter().map(|note| self.mask(note)).collect();
        self.keep_found_secrets();
        let schema = self.tool(name).and_then(|tool| tool.output_schema.as_ref());
        ToolResult {
            fits_schema: schema.is_none_or(|schema| schema::check(schema, &structured).is_ok()),
            structured,
            text,
            is_error: error.is_some(),
            error,
            job,
            is_cut,
            images,
            // The dialect of our own tells them itself.
            notes: if self.dialect.tells_notes() { Vec::new() } else { notes },
            completed,
        }
    }

    /// What ended since somebody last asked or was told, in the order in which it ended. Never waits;
    /// what is told here, no result tells.
    pub fn drain_completed(&self) -> Vec<Completed> {
        let told = self.completed(&Ticket::default());
        told.into_iter().map(|told| self.masked_completion(told)).collect()
    }

    /// The jobs of the caller that ended unknown to it, in the order in which they ended.
    pub(crate) fn take_ended(&self) -> Vec<Summary> {
        self.completions.take(self)
    }

    fn completed(&self, ticket: &Ticket) -> Vec<Completed> {
        let call = Call::new(self, ticket);
        let ended = self.take_ended();
        ended.iter().filter_map(|summary| self.told(&call, summary)).collect()
    }

    /// What this dialect tells of a job that has ended.
    pub(crate) fn told(&self, call: &Call<'_>, summary: &Summary) -> Option<Completed> {
        self.learn_secrets(&summary.labels);
        self.dialect.completed(call, summary)
    }

    fn run(&self, name: &str, arguments: Value, ticket: &Ticket) -> Result<Answer, ToolError> {
        let Some(tool) = self.tool(name) else {
            return Err(self.dialect.unknown_tool(name, &self.tools));
        };
        let arguments =
            tool.prepared(arguments).map_err(|problem| self.dialect.refuse(tool, &problem))?;
        let arguments = restored(arguments, &self.caller);
        if !tool.attends {
            ticket.takes_time();
        }
        let cancelled = || ToolError::new(ErrorCode::Cancelled, "tool call cancelled");
        let _turn = match tool.overlap {
            Overlap::Serial => Some(self.turns.take(ticket).ok_or_else(cancelled)?),
            Overlap::Parallel if ticket.is_over() => return Err(cancelled()),
            Overlap::Parallel => None,
        };
        tool.run(&Call::new(self, ticket), arguments)
    }

    pub(crate) fn masked_completion(&self, told: Completed) -> Completed {
        Completed { event: self.masked(told.event), sentence: self.mask(&told.sentence), ..told }
    }

    fn masked(&self, value: Value) -> Value {
        masked(value, &self.caller)
    }
}

/// All strings of a value, masked and made visible: no other text reaches a caller.
fn masked(mut value: Value, caller: &Caller) -> Value {
    mask_strings(&mut value, caller);
    value
}

fn mask_strings(value: &mut Value, caller: &Caller) {
    match value {
        Value::String(text) => caller.mask_in_place(text),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_strings(item, caller)),
        Value::Object(map) => map.values_mut().for_each(|value| mask_strings(value, caller)),
        _ => {}
    }
}

/// Arguments in which the secrets stand again that placeholders stand for.
fn restored(mut value: Value, caller: &Caller) -> Value {
    restore_strings(&mut value, caller);
    value
}

fn restore_strings(value: &mut Value, caller: &Caller) {
    match value {
        Value::String(text) if text.contains('#') => *text = caller.restore(text),
        Value::Array(items) => items.iter_mut().for_each(|item| restore_strings(item, caller)),
        Value::Object(map) => map.values_mut().for_each(|value| restore_strings(value, caller)),
        _ => {}
    }
}

impl std::fmt::Debug for Toolset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolset")
            .field("dialect", &self.dialect.name())
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("dialect", &self.dialect).finish_non_exhaustive()
    }
}
