//! The loop: a prompt goes in, the model and the tools take turns, and a reason comes out.
//!
//! A turn: what happened meanwhile is delivered (completions of background work, steering), the
//! conversation is made to fit, the model is asked ([`ask`]), and what it calls is run ([`call`]).
//! Everything is in the session before it is shown or done. At the start of a run calls that an
//! earlier process left open are closed ([`resume`]): they are never run again by themselves.

mod ask;
mod call;
mod effects;
mod event;
mod maintain;
mod mask;
mod resume;
mod setup;

use std::collections::HashSet;
use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use umbo_model::{
    AssistantMessage, EncodeError, Failure, Message, Part, StopReason, ToolCall, Usage, UserMessage,
};

use crate::context::{Context, build_context, extend_context};
use crate::entry::EntryKind;
use crate::message::{AgentMessage, Content};
use crate::queue::Queues;
use crate::session::{Session, SessionError};
use crate::tools::{Completion, Effect, ToolOutput, Tools};

/// The kind of the messages that tell of work that ended.
pub(crate) const COMPLETION: &str = "job-completed";
/// Where a result names the work whose end it tells.
const TELLS: &str = "tellsEndOf";
/// How often a model that makes calls nobody can read is asked again.
const MOST_FAULTS: u32 = 3;

pub use event::{AgentEvent, CompactionReason};
pub use mask::Mask;
pub use setup::{Candidate, Limits, Setup};

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The model has said what it wanted to say.
    Done,
    /// The answer was cut by the limit of output.
    Length,
    /// The model, or its vendor, will not do it.
    Refused(Option<String>),
    /// Somebody interrupted it.
    Interrupted,
    /// A limit was reached.
    Limit(Limit),
    /// No model could answer.
    Failed(Failure),
    /// The conversation does not fit, and cannot be made shorter.
    TooLong(String),
}

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Answers of the model.
    Turns,
    /// Tokens.
    Tokens,
    /// Dollars.
    Cost,
    /// Time.
    Time,
}

/// What can go wrong besides the model.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The session cannot be written: nothing is done that it does not have.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The request cannot be made.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// There is no model.
    #[error("there is no model to ask")]
    NoModel,
}

/// Where events go. It must not block.
pub type Observer<'a> = &'a mut (dyn FnMut(AgentEvent) + Send);

/// An agent.
pub struct Agent {
    session: Session,
    tools: Arc<dyn Tools>,
    setup: Setup,
    queues: Arc<Queues>,
    /// The candidate that is asked.
    current: usize,
    spent: Usage,
    turns: u32,
    /// Compactions in a row that won nothing.
    futile: u32,
    cancel: CancellationToken,
    /// What calls of the answer that is worked on do to the session.
    effects: Vec<Effect>,
    /// How often the model was reminded to rewind, in this run.
    reminders: u32,
    /// The context as it was last derived.
    derived: Option<Derived>,
    /// The work in the background whose end the session tells, once somebody wanted to know.
    told: Option<HashSet<String>>,
}

/// A context, and what it was derived from: a session that grew or moved has another one.
struct Derived {
    session: String,
    entries: usize,
    context: Arc<Context>,
    /// As much of it as was sent before, as it is sent.
    sent: Vec<Message>,
}

impl Agent {
    /// An agent that goes on with a session.
    pub fn new(session: Session, tools: Arc<dyn Tools>, setup: Setup) -> Self {
        Self {
            session,
            tools,
            setup,
            queues: Arc::default(),
            current: 0,
            spent: Usage::default(),
            turns: 0,
            futile: 0,
            cancel: CancellationToken::new(),
            effects: Vec::new(),
            reminders: 0,
            derived: None,
            told: None,
        }
    }

    /// What the model reads now.
    fn context(&mut self) -> Result<Arc<Context>, RunError> {
        let entries = self.session.len();
        let id = &self.session.header().id;
        // Between two turns a session only grows; then only what is new is read.
        if let Some(derived) = &mut self.derived
            && derived.session == *id
            && derived.entries <= entries
            && (derived.entries == entries
                || extend_context(
                    &self.session,
                    Arc::make_mut(&mut derived.context),
                    derived.entries,
                ))
        {
            derived.entries = entries;
            return Ok(derived.context.clone());
        }
        let context = Arc::new(build_context(&self.session, None)?);
        let session = id.clone();
        self.derived =
            Some(Derived { session, entries, context: context.clone(), sent: Vec::new() });
        Ok(context)
    }

    /// The conversation as it is sent: without secrets. What was masked once is not masked again.
    fn conversation(&mut self) -> Result<Vec<Message>, RunError> {
        let context = self.context()?;
        let mask = self.setup.mask.clone();
        let Some(derived) = &mut self.derived else { return Ok(Vec::new()) };
        for message in &context.messages[derived.sent.len()..] {
            let mut message = message.message.to_model();
            if let Some(mask) = &mask {
                mask.hide_in_message(&mut message);
            }
            derived.sent.push(message);
        }
        Ok(derived.sent.clone())
    }

    /// Where messages are put while it works, and how it is interrupted.
    pub fn queues(&self) -> Arc<Queues> {
        self.queues.clone()
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session, to be changed between runs.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }

    /// How it works, to be changed between runs.
    pub fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    /// How it works.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Asks another model from now on; the session has it.
    pub fn set_model(&mut self, candidate: Candidate) -> Result<(), RunError> {
        self.setup.candidates = vec![candidate];
        self.current = 0;
        self.say_model(&mut |_| {})
    }

    /// The model that is asked.
    pub fn model(&self) -> Option<&Candidate> {
        self.setup.candidates.get(self.current)
    }

    /// Goes on with another session; the one that was.
    pub fn set_session(&mut self, session: Session) -> Session {
        self.derived = None;
        self.told = None;
        self.futile = 0;
        std::mem::replace(&mut self.session, session)
    }

    /// Uses other tools from now on.
    pub fn set_tools(&mut self, tools: Arc<dyn Tools>) {
        self.tools = tools;
    }

    /// What the model reads now.
    pub fn context_now(&mut self) -> Result<Arc<Context>, RunError> {
        self.context()
    }

    /// The tokens of all runs.
    pub fn spent(&self) -> Usage {
        self.spent
    }

    /// The dollars of all runs, as far as prices are known.
    pub fn cost(&self) -> f64 {
        self.spent.cost.total
    }

    /// Works on a prompt until there is a reason to end.
    pub async fn prompt(
        &mut self,
        content: Vec<Part>,
        observer: Observer<'_>,
    ) -> Result<Outcome, RunError> {
        self.close_open_calls(observer).await?;
        let waiting = self.queues.take_next_turn().into_iter().flatten();
        let content: Vec<Part> = waiting.chain(content).collect();
        self.say_user(content, observer)?;
        self.go_on(observer).await
    }

    /// Goes on without a prompt: after a restart, or when work in the background has ended.
    pub async fn resume(&mut self, observer: Observer<'_>) -> Result<Outcome, RunError> {
        self.close_open_calls(observer).await?;
        self.go_on(observer).await
    }

    async fn go_on(&mut self, observer: Observer<'_>) -> Result<Outcome, RunError> {
        self.cancel = self.queues.begin();
        self.turns = 0;
        self.reminders = 0;
        self.effects.clear();
        let Some(time) = self.setup.limits.time else { return self.take_turns(observer).await };
        let deadline = Instant::now() + time;
        if let Ok(outcome) = tokio::time::timeout_at(deadline, self.take_turns(observer)).await {
            return outcome;
        }
        // Whatever was under way was dropped; what became of it is asked for.
        self.close_open_calls(observer).await?;
        Ok(Outcome::Limit(Limit::Time))
    }

    async fn take_turns(&mut self, observer: Observer<'_>) -> Result<Outcome, RunError> {
        let outcome = self.turns_until_outcome(observer).await?;
        if outcome == Outcome::Interrupted {
            self.forget_effects()?;
        }
        Ok(outcome)
    }

    async fn turns_until_outcome(&mut self, observer: Observer<'_>) -> Result<Outcome, RunError> {
        let mut faults = 0;
        loop {
            self.deliver(observer)?;
            if let Some(limit) = self.limit() {
                return Ok(Outcome::Limit(limit));
            }
            if let Some(outcome) = self.fit(observer).await? {
                return Ok(outcome);
            }
            self.turns += 1;
            observer(AgentEvent::TurnStart { turn: self.turns });
            let answer = match self.ask_model(observer).await? {
                ask::Asked::Answer(answer) => answer,
                ask::Asked::Interrupted(answer) => {
                    self.keep_answer(answer, observer)?;
                    return Ok(Outcome::Interrupted);
                }
                ask::Asked::Overflow(failure) => {
                    match self.make_room(&failure.message, observer).await? {
                        Some(outcome) => return Ok(outcome),
                        None => continue,
                    }
                }
                ask::Asked::Failed(failure) => return Ok(Outcome::Failed(failure)),
            };
            let (reason, detail) = (answer.stop_reason, answer.error_message.clone());
            let calls: Vec<ToolCall> = answer.tool_calls().cloned().collect();
            let entry = self.keep_answer(answer, observer)?;
            if !calls.is_empty() {
                faults = 0;
                if self.run_calls(&entry, calls, observer).await? == call::Ran::Interrupted {
                    return Ok(Outcome::Interrupted);
                }
                self.apply_effects(observer)?;
                continue;
            }
            match reason {
                StopReason::Pause => {}
                StopReason::Overflow => {
                    if let Some(outcome) = self.make_room("the window is full", observer).await? {
                        return Ok(outcome);
                    }
                }
                StopReason::ModelFault if faults < MOST_FAULTS => faults += 1,
                StopReason::Refusal => return Ok(Outcome::Refused(detail)),
                StopReason::Stop if self.must_rewind(observer)? => {}
                _ => {
                    let is_cut = reason == StopReason::Length;
                    if let Some(outcome) = self.rest(is_cut, observer).await? {
                        return Ok(outcome);
                    }
                }
            }
        }
    }

    /// The model has nothing more to say: is there anything else? `None` is to go on.
    async fn rest(
        &mut self,
        is_cut: bool,
        observer: Observer<'_>,
    ) -> Result<Option<Outcome>, RunError> {
        loop {
            if self.has_input() {
                return Ok(None);
            }
            let messages = self.queues.take_follow_up();
            if !messages.is_empty() {
                for content in messages {
                    self.say_user(content, observer)?;
                }
                return Ok(None);
            }
            if is_cut {
                return Ok(Some(Outcome::Length));
            }
            let running = self.tools.running();
            if !self.setup.wait_for_jobs || running == 0 {
                // It may have ended between the two looks.
                return Ok(if self.has_input() { None } else { Some(Outcome::Done) });
            }
            observer(AgentEvent::Sleeping { running });
            tokio::select! {
                () = self.tools.clone().completed() => {}
                () = self.queues.wait() => {}
                () = self.cancel.cancelled() => return Ok(Some(Outcome::Interrupted)),
            }
        }
    }

    fn has_input(&self) -> bool {
        !self.tools.completions().is_empty() || self.queues.has_steering()
    }

    /// What happened meanwhile, in order, once.
    fn deliver(&mut self, observer: Observer<'_>) -> Result<(), RunError> {
        for Completion { id, text, details } in self.tools.completions() {
            // Told before, and the process died before it could be acknowledged.
            if !self.was_told(&id) {
                let details = serde_json::json!({"id": id, "details": details});
                let kind = EntryKind::CustomMessage {
                    custom_type: COMPLETION.to_owned(),
                    content: Content::Text(text),
                    display: true,
                    details: Some(details),
                    attribution: "agent".to_owned(),
                };
                self.keep(kind, observer)?;
            }
            self.tools.acknowledge(&id);
        }
        for content in self.queues.take_steering() {
            self.say_user(content, observer)?;
        }
        Ok(())
    }

    /// Whether the session tells of the end of this work already.
    fn was_told(&mut self, id: &str) -> bool {
        let session = &self.session;
        let told = self.told.get_or_insert_with(|| {
            let entries = session.entries_with(&[COMPLETION, TELLS]);
            entries.filter_map(|entry| told_by(&entry.kind)).collect()
        });
        told.contains(id)
    }

    fn limit(&self) -> Option<Limit> {
        let limits = &self.setup.limits;
        if limits.turns.is_some_and(|most| self.turns >= most) {
            Some(Limit::Turns)
        } else if limits.tokens.is_some_and(|most| self.spent.context() >= most) {
            Some(Limit::Tokens)
        } else if limits.cost.is_some_and(|most| self.spent.cost.total >= most) {
            Some(Limit::Cost)
        } else {
            None
        }
    }

    fn candidate(&self) -> Result<&Candidate, RunError> {
        self.setup.candidates.get(self.current).ok_or(RunError::NoModel)
    }

    /// Writes the price onto an answer, as far as it is known, and adds it to what was spent.
    fn count(&mut self, answer: &mut AssistantMessage) {
        let price = self.candidate().ok().and_then(|candidate| candidate.price);
        answer.usage.cost = price.map(|price| price.cost(&answer.usage)).unwrap_or_default();
        self.spent = self.spent.plus(&answer.usage);
    }

    fn say_user(&mut self, content: Vec<Part>, observer: Observer<'_>) -> Result<(), RunError> {
        let message = AgentMessage::User(UserMessage { content });
        self.keep(EntryKind::Message { message }, observer)?;
        Ok(())
    }

    fn keep_answer(
        &mut self,
        mut answer: AssistantMessage,
        observer: Observer<'_>,
    ) -> Result<String, RunError> {
        self.count(&mut answer);
        self.keep(EntryKind::Message { message: AgentMessage::Assistant(answer) }, observer)
    }

    fn keep_result(
        &mut self,
        call: &ToolCall,
        output: ToolOutput,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        let ToolOutput { content, is_error, mut details, tells, effects } = output;
        if effects.contains(&Effect::Interrupt) {
            self.cancel.cancel();
        }
        self.effects.extend(effects);
        if let Some(work) = tells {
            // What is told here is not told as a completion, now and after a restart.
            self.tools.acknowledge(&work);
            details.get_or_insert_with(|| serde_json::json!({}))[TELLS] = work.into();
        }
        let message = AgentMessage::ToolResult(umbo_model::ToolResult {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content,
            is_error,
            details,
        });
        self.keep(EntryKind::Message { message }, observer)?;
        Ok(())
    }

    /// Into the session first, then to whoever looks.
    fn keep(&mut self, kind: EntryKind, observer: Observer<'_>) -> Result<String, RunError> {
        let message = kind.message();
        if let Some(told) = &mut self.told {
            told.extend(told_by(&kind));
        }
        let entry = self.session.append(kind)?;
        if let Some(message) = message {
            let message = Box::new(message);
            observer(AgentEvent::Message { entry: entry.clone(), message });
        }
        Ok(entry)
    }
}

/// The work in the background whose end an entry tells.
fn told_by(kind: &EntryKind) -> Option<String> {
    let work = match kind {
        EntryKind::CustomMessage { custom_type, details, .. } if custom_type == COMPLETION => {
            details.as_ref()?.get("id")?
        }
        EntryKind::Message { message: AgentMessage::ToolResult(result) } => {
            result.details.as_ref()?.get(TELLS)?
        }
        _ => return None,
    };
    work.as_str().map(str::to_owned)
}
