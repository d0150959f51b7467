//! The agent's side of a terminal: it does one thing after the other, and tells of it.

use std::sync::mpsc::Sender;

use tokio::sync::mpsc::UnboundedReceiver;
use umbo_agent::{
    AgentEvent, AgentMessage, Delivery, EntryKind, Phase, Session, SessionError, session_directory,
};
use umbo_engine::{Scope, Status};
use umbo_gate::{Question, Reply};
use umbo_model::Part;
use umbo_ops::first_line;

use super::super::mcp_tools;
use super::super::outcome_words;
use super::super::setup::Prepared;
use super::choice::Choice;
use crate::commands::sessions::tree_lines;
use crate::context::Context;
use crate::sessions;

/// What the person wants.
pub(super) enum Order {
    Prompt(String),
    Model(Option<String>),
    Compact(Option<String>),
    Handoff(Option<String>),
    Branch(Option<String>),
    Undo,
    Tree,
    Mcp,
    Jobs,
    Cost,
    New,
}

/// What the person sees.
pub(super) enum Event {
    /// Bytes that were typed; none when the terminal is gone.
    Typed(Vec<u8>),
    /// The terminal has another size.
    Resized,
    Agent(AgentEvent),
    /// Something to be shown.
    Note(Vec<String>),
    /// A text to be typed on.
    GiveBack(String),
    /// Somebody has to decide.
    Asked(Box<Question>, Sender<Option<Reply>>),
    /// The model asks something.
    Choice(Box<Choice>),
    /// It has nothing to do.
    Idle(Standing),
}

/// How the agent stands.
#[derive(Clone, Default)]
pub(super) struct Standing {
    pub(super) model: String,
    pub(super) tokens: u64,
    pub(super) window: u64,
    pub(super) cost: f64,
    pub(super) todos: Vec<Phase>,
}

/// The agent, and whom it tells.
pub(super) struct Worker {
    pub(super) prepared: Prepared,
    pub(super) context: Context,
    pub(super) events: Sender<Event>,
}

impl Worker {
    /// Does what is ordered until nobody orders any more.
    pub(super) async fn work(mut self, mut orders: UnboundedReceiver<Order>) {
        self.tell_idle();
        while let Some(order) = orders.recv().await {
            self.obey(order).await;
            self.deliver_rest().await;
            self.tell_idle();
        }
        let tools = self.prepared.tools.clone();
        // What it did not leave in the background ends with it.
        let _ = tokio::task::spawn_blocking(move || tools.toolset().close()).await;
    }

    /// What was said in the moment in which it came to rest.
    async fn deliver_rest(&mut self) {
        loop {
            let queues = self.prepared.agent.queues();
            let mut said = queues.take_back(Delivery::Steer);
            said.extend(queues.take_back(Delivery::FollowUp));
            if said.is_empty() {
                return;
            }
            self.prompt(said.into_iter().flatten().collect()).await;
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Prompt(text) => self.prompt(vec![Part::text(text)]).await,
            Order::Model(name) => self.model(name.as_deref()),
            Order::Compact(words) => self.compact(words.as_deref()).await,
            Order::Handoff(focus) => self.handoff(focus.as_deref()).await,
            Order::Branch(entry) => self.branch(entry.as_deref()),
            Order::Undo => self.undo(),
            Order::Tree => self.note(tree_lines(self.prepared.agent.session())),
            Order::Mcp => self.note(mcp_tools::describe(self.prepared.servers.as_deref())),
            Order::Jobs => self.jobs(),
            Order::Cost => self.cost(),
            Order::New => self.begin_anew(),
        }
    }

    fn tell(&self, event: Event) {
        // Who does not look any more misses nothing.
        let _ = self.events.send(event);
    }

    fn note(&self, lines: Vec<String>) {
        self.tell(Event::Note(lines));
    }

    fn say(&self, text: impl Into<String>) {
        self.note(vec![text.into()]);
    }

    fn tell_idle(&mut self) {
        let agent = &mut self.prepared.agent;
        let context = agent.context_now().unwrap_or_default();
        let tokens = umbo_agent::compact::context_tokens(&context.messages);
        let window = agent.model().map_or(0, |candidate| candidate.model.window);
        let (model, cost, todos) =
            (self.prepared.model.clone(), agent.cost(), context.todos.clone());
        self.tell(Event::Idle(Standing { model, tokens, window, cost, todos }));
    }

    async fn prompt(&mut self, content: Vec<Part>) {
        let events = self.events.clone();
        let mut observer = move |event| drop(events.send(Event::Agent(event)));
        let outcome = self.prepared.agent.prompt(content, &mut observer).await;
        match outcome {
            Ok(umbo_agent::Outcome::Done) => {}
            Ok(outcome) => {
                let (word, reason) = outcome_words(&outcome);
                let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                self.say(format!("{word}{why}"));
            }
            Err(error) => self.say(error.to_string()),
        }
    }

    fn model(&mut self, name: Option<&str>) {
        let Some(name) = name else {
            return self.say(format!(
                "{} with the tools `{}`; /model VENDOR/NAME changes it, `umbo models` lists all",
                self.prepared.model, self.prepared.dialect
            ));
        };
        match self.prepared.set_model(&self.context, name) {
            Ok(()) => self.say(format!("from now on {name}, tools `{}`", self.prepared.dialect)),
            Err(failure) => self.say(failure.to_string()),
        }
    }

    async fn compact(&mut self, words: Option<&str>) {
        let events = self.events.clone();
        let mut observer = move |event| drop(events.send(Event::Agent(event)));
        match self.prepared.agent.compact(words, &mut observer).await {
            Ok(None) => {}
            Ok(Some(problem)) => self.say(format!("not summarised: {problem}")),
            Err(error) => self.say(error.to_string()),
        }
    }

    fn place(&self) -> std::path::PathBuf {
        let cwd = &self.prepared.agent.session().header().cwd;
        session_directory(&sessions::root(&self.context), cwd)
    }

    async fn handoff(&mut self, focus: Option<&str>) {
        let place = self.place();
        let handed = self.prepared.agent.handoff(&place, focus, &mut |_| {}).await;
        match handed {
            Ok(Ok(session)) => {
                self.prepared.agent.set_session(session);
                self.say("New session started with handoff context");
            }
            Ok(Err(problem)) => self.say(problem),
            Err(error) => self.say(error.to_string()),
        }
    }

    fn begin_anew(&mut self) {
        let cwd = self.prepared.agent.session().header().cwd.clone();
        match Session::create(&self.place(), &cwd, None) {
            Ok(session) => {
                self.prepared.agent.set_session(session);
                self.say("new session");
            }
            Err(error) => self.say(error.to_string()),
        }
    }

    fn branch(&mut self, entry: Option<&str>) {
        let Some(entry) = entry else {
            let lines = tree_lines(self.prepared.agent.session());
            return self
                .note(lines.into_iter().chain(["/branch ENTRY goes on there".into()]).collect());
        };
        if let Err(error) = self.go_to(entry) {
            self.say(error.to_string());
        }
    }

    /// Goes on behind an entry; before it and with its text to be typed on, if the user said it.
    fn go_to(&mut self, id: &str) -> Result<(), SessionError> {
        let session = self.prepared.agent.session_mut();
        let Some(entry) = session.entry(id) else {
            return Err(SessionError::NoEntry(id.to_owned()));
        };
        match entry.kind {
            EntryKind::Message { message: AgentMessage::User(user) } => {
                match &entry.parent {
                    Some(parent) => session.branch(parent)?,
                    None => session.reset_leaf()?,
                }
                let texts: Vec<&str> =
                    user.content.iter().filter_map(|part| part.as_text()).collect();
                let text = texts.join("\n");
                self.tell(Event::GiveBack(text));
            }
            _ => session.branch(id)?,
        }
        self.say(format!("going on at {id}"));
        Ok(())
    }

    /// Back to before the last thing the user said.
    fn undo(&mut self) {
        let path = self.prepared.agent.session().path_to(None).unwrap_or_default();
        let last = path.into_iter().rev().find(|entry| {
            matches!(entry.kind, EntryKind::Message { message: AgentMessage::User(_) })
        });
        match last {
            None => self.say("there is nothing to undo"),
            Some(entry) => {
                self.branch(Some(&entry.id));
                self.say("only the conversation: files and jobs are as they are");
            }
        }
    }

    fn jobs(&self) {
        let toolset = self.prepared.tools.toolset();
        let jobs = toolset.backend.jobs(Scope::Recent).unwrap_or_default();
        let own = jobs.iter().filter(|job| job.owner == toolset.owner);
        let lines: Vec<String> = own
            .map(|job| {
                let state = match &job.status {
                    Status::Ended(outcome) => match outcome.exit_code() {
                        Some(code) => format!("exited {code}"),
                        None => outcome.end.name().to_owned(),
                    },
                    status => status.name().to_owned(),
                };
                format!("{}  {state}  {}", job.job, first_line(&job.command))
            })
            .collect();
        self.note(if lines.is_empty() { vec!["no jobs".to_owned()] } else { lines });
    }

    fn cost(&self) {
        let spent = self.prepared.agent.spent();
        self.say(format!(
            "${:.4}; {} tokens read ({} from caches), {} written",
            self.prepared.agent.cost(),
            spent.all_input(),
            spent.cache_read,
            spent.output
        ));
    }
}
