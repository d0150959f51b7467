//! An agent, ready to work: its session, its model, its tools.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use umbo_agent::{
    Agent, Asker, CallApprover, Candidate, EntryKind, JobTools, Limits, Mask, Previews, Session,
    SessionTools, Setup, TodoStyle, Toolbox, Tools, compact, session_directory,
};
use umbo_gate::Mode;
use umbo_mcp::remote::{RemoteServer, RemoteServers};
use umbo_model::{CacheLife, Client, Effort, RetryPolicy, ThinkingStyle};
use umbo_tools::{Owner, Toolset};

use super::super::tools::{Caller, toolset_of};
use super::mcp_tools::{self, McpTools, Notices};
use super::server_questions::ServerQuestions;
use super::system::SystemPrompt;
use crate::args::{Agent as Words, Effort as EffortWord};
use crate::context::{Context, WorksFor};
use crate::failure::Failure;
use crate::models::Models;
use crate::secrets;
use crate::sessions;

/// An agent and what belongs to it.
pub(super) struct Prepared {
    pub(super) agent: Agent,
    pub(super) tools: Arc<JobTools>,
    pub(super) model: String,
    pub(super) dialect: String,
    /// The files that the model is told.
    pub(super) context_files: Vec<PathBuf>,
    models: Models,
    words: Words,
    approver: Option<SharedApprover>,
    asker: Option<Arc<dyn Asker>>,
    outer: Option<OuterTools>,
    ask_timeout: Option<Duration>,
    /// All that the agent has.
    all_tools: Arc<dyn Tools>,
    /// The MCP servers.
    pub(super) servers: Option<Arc<RemoteServers>>,
    /// What the servers do meanwhile.
    pub(super) notices: Arc<Notices>,
    /// What they ask.
    questions: Option<Arc<ServerQuestions>>,
}

/// Puts tools around those of the agent, of which the second are those for jobs and files.
pub(super) type OuterTools = Box<dyn Fn(Arc<dyn Tools>, Arc<JobTools>) -> Arc<dyn Tools> + Send>;

/// Whoever is asked whether commands may run.
pub(super) type SharedApprover = Arc<dyn CallApprover>;

impl Prepared {
    /// Makes all of it. The approver is asked whether commands may run; without one, nobody is.
    pub(super) fn new(
        context: &Context,
        words: &Words,
        approver: Option<SharedApprover>,
    ) -> Result<Self, Failure> {
        Self::with_servers(context, words, approver, Vec::new())
    }

    /// The same, with MCP servers beside those of the configuration.
    pub(super) fn with_servers(
        context: &Context,
        words: &Words,
        approver: Option<SharedApprover>,
        lent: Vec<RemoteServer>,
    ) -> Result<Self, Failure> {
        let models = Models::load()?;
        let directory = context.place()?;
        let session = open_session(context, words, &directory)?;
        let candidates = candidates(context, words, &models, &session)?;
        let Some(first) = candidates.first() else {
            return Err(Failure::new("there is no model to ask"));
        };
        let model = name_of(first);
        let dialect = dialect(context, words, first);
        let toolset = toolset(context, words, &dialect, &session.header().id)?;
        let system = SystemPrompt::new(&directory, &toolset.instructions());
        let client = Client::new(&Models::client_options(&first.endpoint)).map_err(Failure::new)?;
        let larger = context.settings.agent.larger_model.as_deref();
        let promotion = larger.map(|name| models.candidate(name)).transpose()?;
        let setup = setup(context, words, &session, client, candidates, system.text)?;
        let setup = Setup { promotion, ..setup };
        let tools = job_tools(toolset, approver.as_ref());
        let notices = Arc::<Notices>::default();
        // Programs at the other end are not asked: they do not listen yet.
        let asks = approver.is_some() && words.mode.is_none() && std::io::stdin().is_terminal();
        // A script has nobody to ask.
        let questions =
            words.prompt.is_none().then(|| Arc::new(ServerQuestions::new(Arc::clone(&notices))));
        let servers =
            mcp_tools::start(context, &directory, asks, lent, &notices, questions.as_ref())?;
        let all_tools = Arc::clone(&tools) as Arc<dyn Tools>;
        let mut prepared = Self {
            agent: Agent::new(session, Arc::clone(&all_tools), setup),
            tools,
            model,
            dialect,
            context_files: system.files,
            models,
            words: words.clone(),
            approver,
            asker: None,
            outer: None,
            ask_timeout: context.settings.agent.ask_timeout,
            all_tools,
            servers,
            notices,
            questions,
        };
        prepared.arrange_tools();
        Ok(prepared)
    }

    /// Lets the model ask the user. Without somebody who can, there is no tool for it.
    pub(super) fn set_asker(&mut self, asker: Arc<dyn Asker>) {
        if let Some(questions) = &self.questions {
            questions.set_asker(Arc::clone(&asker));
        }
        self.asker = Some(asker);
        self.arrange_tools();
    }

    /// Puts tools around all others, also when these change.
    pub(super) fn set_outer_tools(&mut self, outer: OuterTools) {
        self.outer = Some(outer);
        self.arrange_tools();
    }

    /// Gives the agent its tools: those for jobs and files, those about the conversation,
    /// those of MCP servers.
    fn arrange_tools(&mut self) {
        let session = SessionTools::new(Arc::clone(&self.tools))
            .todo_style(TodoStyle::of_dialect(&self.dialect))
            .asker(self.asker.clone())
            .ask_timeout(self.ask_timeout);
        let jobs = Previews::new(Arc::clone(&self.tools) as Arc<dyn Tools>);
        let mut sets: Vec<Arc<dyn Tools>> = vec![Arc::new(jobs), Arc::new(session)];
        if let Some(servers) = &self.servers {
            let (servers, jobs) = (Arc::clone(servers), Arc::clone(&self.tools));
            sets.push(Arc::new(McpTools { servers, jobs }));
        }
        let all: Arc<dyn Tools> = Arc::new(Toolbox::new(sets));
        self.all_tools = match &self.outer {
            Some(outer) => outer(all, Arc::clone(&self.tools)),
            None => all,
        };
        self.agent.set_tools(Arc::clone(&self.all_tools));
    }

    /// The models that there is a key for.
    pub(super) fn reachable_models(&self) -> Vec<String> {
        let reachable =
            self.models.catalogue.iter().filter(|(model, _)| self.models.is_reachable(model));
        reachable.map(|(model, _)| format!("{}/{}", model.provider, model.id)).collect()
    }

    /// The tools, as a model is told of them.
    pub(super) fn specs(&self) -> Vec<serde_json::Value> {
        let spec = |spec: umbo_model::ToolSpec| {
            let parameters = match spec.input {
                umbo_model::ToolInput::Schema(schema) => schema,
                umbo_model::ToolInput::Raw { .. } => serde_json::json!({"type": "string"}),
            };
            serde_json::json!({
                "name": spec.name, "description": spec.description, "parameters": parameters,
            })
        };
        self.all_tools.specs().into_iter().map(spec).collect()
    }

    /// Asks another model from now on, with the tools that it knows.
    pub(super) fn set_model(&mut self, context: &Context, name: &str) -> Result<(), Failure> {
        let candidate = self.models.candidate(name)?;
        let dialect = dialect(context, &self.words, &candidate);
        if dialect != self.dialect {
            self.set_tools(context, dialect)?;
        }
        self.agent.set_model(candidate).map_err(Failure::new)?;
        name.clone_into(&mut self.model);
        Ok(())
    }

    /// Chooses how much the model thinks from now on; the session has it.
    pub(super) fn set_effort(&mut self, word: EffortWord) -> Result<(), Failure> {
        let effort = effort(word);
        self.agent.setup_mut().effort = effort;
        let level = effort.map_or(OFF, Effort::word).to_owned();
        let kind = EntryKind::ThinkingLevelChange { thinking_level: Some(level) };
        self.agent.session_mut().append(kind).map(drop).map_err(Failure::new)
    }

    /// Lets the model think as much as the session says, if it says so.
    pub(super) fn take_up_effort(&mut self) {
        if let Some(word) = effort_before(self.agent.session()) {
            self.agent.setup_mut().effort = effort(word);
        }
    }

    /// What runs unasked.
    pub(super) fn mode(&self, context: &Context) -> Mode {
        self.words.gate.unwrap_or(context.settings.agent.mode)
    }

    /// Chooses what runs unasked from now on.
    pub(super) fn set_mode(&mut self, context: &Context, mode: Mode) -> Result<(), Failure> {
        let before = self.words.gate.replace(mode);
        let changed = self.set_tools(context, self.dialect.clone());
        if changed.is_err() {
            self.words.gate = before;
        }
        changed
    }

    fn set_tools(&mut self, context: &Context, dialect: String) -> Result<(), Failure> {
        let owner = self.tools.toolset().owner.clone().unwrap_or_default();
        let toolset = toolset_named(context, &self.words, &dialect, owner)?;
        let system = SystemPrompt::new(&context.place()?, &toolset.instructions());
        self.agent.setup_mut().system = system.text;
        self.tools = job_tools(toolset, self.approver.as_ref());
        self.dialect = dialect;
        self.arrange_tools();
        Ok(())
    }
}

fn job_tools(toolset: Toolset, approver: Option<&SharedApprover>) -> Arc<JobTools> {
    let tools = JobTools::new(toolset);
    Arc::new(match approver {
        Some(approver) => tools.approver(Arc::clone(approver)),
        None => tools,
    })
}

/// The name of a model, as `--model` takes it.
pub(super) fn name_of(candidate: &Candidate) -> String {
    format!("{}/{}", candidate.model.provider, candidate.model.id)
}

/// The session of this run, which nobody else writes meanwhile.
fn open_session(context: &Context, words: &Words, directory: &Path) -> Result<Session, Failure> {
    let cwd = directory.display().to_string();
    if words.no_session {
        return Ok(Session::in_memory(&cwd));
    }
    let place = session_directory(&sessions::root(context), &cwd);
    let path = match &words.resume {
        Some(name) => Some(sessions::find(context, name)?),
        None if words.is_continued => Some(sessions::find(context, sessions::LAST)?),
        None => None,
    };
    let Some(path) = path else {
        sessions::make_private(&place)?;
        return Session::create(&place, &cwd, None).map_err(sessions::failure);
    };
    if words.fork {
        let old = Session::open_read_only(&path).map_err(sessions::failure)?;
        return old.fork(&place, None).map_err(sessions::failure);
    }
    Session::open(&path).map_err(sessions::failure)
}

/// The models, in the order in which they are asked: of a session that goes on, the one it had.
fn candidates(
    context: &Context,
    words: &Words,
    models: &Models,
    session: &Session,
) -> Result<Vec<Candidate>, Failure> {
    let settings = &context.settings.agent;
    let before = umbo_agent::build_context(session, None)
        .ok()
        .and_then(|context| context.models.get("default").cloned())
        // Opening a session never needs the model it had.
        .filter(|name| models.candidate(name).is_ok());
    let name = match words.model.clone().or(before).or_else(|| settings.model.clone()) {
        Some(name) => name,
        None => Models::default_name()?.to_owned(),
    };
    let others = if words.fallback.is_empty() { &settings.fallback } else { &words.fallback };
    std::iter::once(&name).chain(others).map(|name| models.candidate(name)).collect()
}

/// Whose tools a model knows, unless somebody chose others.
fn dialect(context: &Context, words: &Words, first: &Candidate) -> String {
    let chosen = words.dialect.clone().or_else(|| context.settings.agent.dialect.clone());
    chosen.unwrap_or_else(|| dialect_of(&first.model.id).to_owned())
}

/// Whose tools a model knows.
fn dialect_of(model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let is_o =
        name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if name.contains("claude") {
        "claude-code"
    } else if name.starts_with("gpt") || name.contains("codex") || is_o {
        "codex"
    } else {
        "umbo"
    }
}

/// The tools of a session: under its name their jobs are found again.
fn toolset(
    context: &Context,
    words: &Words,
    dialect: &str,
    session: &str,
) -> Result<Toolset, Failure> {
    toolset_named(context, words, dialect, format!("agent-{session}"))
}

fn toolset_named(
    context: &Context,
    words: &Words,
    dialect: &str,
    name: String,
) -> Result<Toolset, Failure> {
    let mode = words.gate.unwrap_or(context.settings.agent.mode);
    let owner = Owner::Named(name.clone());
    let agent = Caller { mode: Some(mode), run: Some(name), works_for: WorksFor::Agent };
    toolset_of(context, Some(dialect), None, owner, agent)
}

fn setup(
    context: &Context,
    words: &Words,
    session: &Session,
    client: Client,
    candidates: Vec<Candidate>,
    system: String,
) -> Result<Setup, Failure> {
    let settings = &context.settings.agent;
    let thinks =
        candidates.first().is_some_and(|first| first.model.thinking != ThinkingStyle::None);
    let effort = match words.effort.or_else(|| effort_before(session)) {
        Some(word) => effort(word),
        None => settings.effort.filter(|_| thinks),
    };
    let masker = secrets::masker(Some(&context.place()?))?;
    Ok(Setup {
        client,
        candidates,
        promotion: None,
        system,
        effort,
        cache: CacheLife::Short,
        retry: RetryPolicy::default(),
        limits: Limits {
            turns: words.max_turns.or(settings.max_turns),
            tokens: words.max_tokens.or(settings.max_tokens),
            cost: words.max_cost.or(settings.max_cost),
            time: words.timeout.or(settings.timeout),
        },
        compaction: compact::Settings::default(),
        wait_for_jobs: !words.no_wait,
        mask: Some(Mask::new(move |text| masker.mask_text(text))),
    })
}

/// The word for no thinking.
pub(super) const OFF: &str = "off";

/// What a word of sessions and protocols means; nothing if it is none.
pub(super) fn effort_of(level: &str) -> Option<EffortWord> {
    EffortWord::from_str(level, false).ok()
}

/// How much the model thought in a session that goes on; nothing if nobody chose.
fn effort_before(session: &Session) -> Option<EffortWord> {
    effort_of(&umbo_agent::build_context(session, None).ok()?.thinking_level?)
}

/// What a word means.
pub(super) fn effort(word: EffortWord) -> Option<Effort> {
    match word {
        EffortWord::Off => None,
        EffortWord::Minimal => Some(Effort::Minimal),
        EffortWord::Low => Some(Effort::Low),
        EffortWord::Medium => Some(Effort::Medium),
        EffortWord::High => Some(Effort::High),
        EffortWord::Xhigh => Some(Effort::Xhigh),
        EffortWord::Max => Some(Effort::Max),
    }
}

#[cfg(test)]
mod tests {
    use super::dialect_of;

    #[test]
    fn a_model_gets_the_tools_it_knows() {
        for (model, dialect) in [
            ("claude-sonnet-5", "claude-code"),
            ("anthropic/claude-opus-4-8", "claude-code"),
            ("gpt-5.5", "codex"),
            ("o4-mini", "codex"),
            ("gemini-3.5-flash", "umbo"),
            ("qwen/qwen3:8b", "umbo"),
            ("olmo-2", "umbo"),
        ] {
            assert_eq!(dialect_of(model), dialect, "{model}");
        }
    }
}
