//! The sessions of one connection. Each has a directory, an agent and a file that nobody else writes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use umbo_agent::{AgentEvent, Limit, Outcome, Queues, compact, list, session_directory};

use super::super::setup::Prepared;
use super::super::{mcp_tools, outcome_words};
use super::options::{self, choose};
use super::permission::AskEditor;
use super::prompt::{self, ContentBlock};
use super::replay::past;
use super::servers::{LentServer, servers};
use super::updates::{Shows, Updates, notice, plan};
use super::wire::{self, Answered, Editor, RpcError, failed, invalid, not_found};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::sessions;

/// As many sessions are listed at a time.
const PAGE: usize = 50;

/// The sessions of a connection.
pub(super) struct Sessions {
    context: Context,
    words: Words,
    editor: Arc<Editor>,
    about: Mutex<About>,
    open: Mutex<HashMap<String, Arc<OpenSession>>>,
}

/// What is known of the editor.
#[derive(Clone, Default)]
struct About {
    name: String,
    shows: Shows,
}

/// `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    #[serde(rename = "protocolVersion")]
    _version: u16,
    #[serde(default)]
    client_capabilities: Value,
    #[serde(default)]
    client_info: Value,
}

/// `session/new`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Vec<LentServer>,
}

/// `session/load` and `session/resume`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OldSession {
    session_id: String,
    cwd: PathBuf,
    #[serde(default)]
    mcp_servers: Vec<LentServer>,
}

/// `session/list`.
#[derive(Deserialize)]
pub(super) struct ListSessions {
    cwd: Option<PathBuf>,
    cursor: Option<String>,
}

/// `session/close` and `session/delete`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OneSession {
    session_id: String,
}

/// `session/prompt`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    session_id: String,
    prompt: Vec<ContentBlock>,
}

/// `session/set_mode`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetMode {
    session_id: String,
    mode_id: String,
}

/// `session/set_config_option`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetOption {
    session_id: String,
    config_id: String,
    value: String,
}

/// A session that is open.
pub(super) struct OpenSession {
    id: String,
    queues: Arc<Queues>,
    asks: Arc<AskEditor>,
    /// The prompts that are not answered yet: each by its request, and whether it was cancelled.
    turns: Mutex<Vec<(Value, Arc<AtomicBool>)>>,
    work: tokio::sync::Mutex<Work>,
}

struct Work {
    prepared: Prepared,
    context: Context,
    updates: Updates,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sessions {
    pub(super) fn new(context: Context, words: Words, editor: Arc<Editor>) -> Self {
        Self { context, words, editor, about: Mutex::default(), open: Mutex::default() }
    }

    pub(super) fn learn_editor(&self, request: &Initialize) {
        let name = request.client_info["name"].as_str().unwrap_or("an editor").to_owned();
        *locked(&self.about) = About { name, shows: Shows::of(&request.client_capabilities) };
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<OpenSession>, RpcError> {
        locked(&self.open).get(id).cloned().ok_or_else(|| {
            invalid(format!("sessionId: {id:?} is not open; session/load opens it again"))
        })
    }

    /// Makes the agent of a session, of a new one or of a file.
    async fn open(
        &self,
        directory: PathBuf,
        file: Option<PathBuf>,
        lent: Vec<LentServer>,
    ) -> Result<Arc<OpenSession>, RpcError> {
        if !directory.is_absolute() || !directory.is_dir() {
            let shown = directory.display();
            return Err(invalid(format!("cwd: {shown} is not an absolute path of a directory")));
        }
        let About { name, shows } = locked(&self.about).clone();
        let person = format!("a person at {name}");
        let asks = Arc::new(AskEditor::new(Arc::clone(&self.editor), person, shows.forms));
        let (base, approver) = (self.context.clone(), Arc::clone(&asks));
        let words = Words {
            resume: file.map(|file| file.display().to_string()),
            is_continued: false,
            fork: false,
            no_session: false,
            ..self.words.clone()
        };
        let made = tokio::task::spawn_blocking(move || {
            let context = base.at(&directory);
            let lent = servers(lent, &context, &directory).map_err(Failure::new)?;
            let asker = Arc::clone(&approver);
            let mut prepared = Prepared::with_servers(&context, &words, Some(approver), lent)?;
            prepared.set_asker(asker);
            Ok::<_, Failure>((context, prepared, directory))
        });
        let (context, prepared, directory) = made.await.map_err(failed)?.map_err(failed)?;
        let id = prepared.agent.session().header().id.clone();
        asks.set_session(&id);
        let updates = Updates::new(Arc::clone(&asks.names), directory, shows);
        let session = Arc::new(OpenSession {
            id: id.clone(),
            queues: prepared.agent.queues(),
            asks,
            turns: Mutex::default(),
            work: tokio::sync::Mutex::new(Work { prepared, context, updates }),
        });
        if shows.notices {
            let (id, work) = (id.clone(), session.work.lock().await);
            work.prepared.notices.show_with(move |text| wire::update(&id, &notice(text, "")));
        }
        locked(&self.open).insert(id, Arc::clone(&session));
        Ok(session)
    }

    /// A new session.
    pub(super) async fn create(&self, request: NewSession) -> Answered {
        let session = self.open(request.cwd, None, request.mcp_servers).await?;
        let mut answer = session.opened().await;
        answer["sessionId"] = json!(session.id);
        Ok(answer)
    }

    /// Opens a session of before, unless it is open.
    async fn reopen(&self, request: OldSession) -> Result<Arc<OpenSession>, RpcError> {
        let OldSession { session_id, cwd, mcp_servers } = request;
        match self.find(&session_id) {
            Ok(session) => Ok(session),
            Err(_) => self.open(cwd, Some(self.file(&session_id)?), mcp_servers).await,
        }
    }

    /// The file of a session, by its whole id.
    fn file(&self, id: &str) -> Result<PathBuf, RpcError> {
        let known = sessions::everywhere(&self.context).map_err(failed)?;
        let found = known.into_iter().find(|info| info.id == id);
        found
            .map(|info| info.path)
            .ok_or_else(|| not_found(format!("sessionId: there is no session {id:?}")))
    }

    /// Opens a session and tells all of its past, then answers.
    pub(super) async fn load(&self, request: OldSession) -> Answered {
        let session = self.reopen(request).await?;
        let mut work = session.work.lock().await;
        let Work { prepared, updates, .. } = &mut *work;
        // What became of calls that were under way is a part of the past.
        prepared.agent.settle(&mut |_| {}).await.map_err(failed)?;
        for update in past(prepared.agent.session(), updates).map_err(failed)? {
            session.say(&update);
        }
        let context = prepared.agent.context_now().map_err(failed)?;
        if !context.todos.is_empty() {
            session.say(&plan(&context.todos));
        }
        drop(work);
        Ok(session.opened().await)
    }

    /// Opens a session and tells nothing.
    pub(super) async fn resume(&self, request: OldSession) -> Answered {
        let session = self.reopen(request).await?;
        Ok(session.opened().await)
    }

    /// The sessions of a directory, or all, a page at a time.
    pub(super) fn list(&self, request: &ListSessions) -> Answered {
        let found = match &request.cwd {
            Some(cwd) => {
                let cwd = cwd.display().to_string();
                list(&session_directory(&sessions::root(&self.context), &cwd)).map_err(failed)?
            }
            None => sessions::everywhere(&self.context).map_err(failed)?,
        };
        let start = match &request.cursor {
            None => 0,
            Some(cursor) => cursor
                .parse::<usize>()
                .map_err(|_| invalid(format!("cursor: {cursor:?} is none of ours")))?,
        };
        let shown = found.iter().skip(start).take(PAGE).map(|info| {
            let time = Timestamp::try_from(info.modified).ok().map(|time| time.to_string());
            let title = info.title.as_ref().or(info.first_prompt.as_ref());
            json!({"sessionId": info.id, "cwd": info.cwd, "title": title, "updatedAt": time})
        });
        let mut answer = json!({"sessions": shown.collect::<Vec<_>>()});
        let next = start.saturating_add(PAGE);
        if next < found.len() {
            answer["nextCursor"] = json!(next.to_string());
        }
        Ok(answer)
    }

    /// Ends the work of a session and lets its file go.
    pub(super) async fn close(&self, request: OneSession) -> Answered {
        let session = self.find(&request.session_id)?;
        locked(&self.open).remove(&request.session_id);
        session.close().await;
        Ok(json!({}))
    }

    /// Closes a session and removes its file.
    pub(super) async fn delete(&self, request: OneSession) -> Answered {
        let file = self.file(&request.session_id)?;
        if self.find(&request.session_id).is_ok() {
            self.close(request).await?;
        }
        sessions::remove(&file).map_err(failed)?;
        Ok(json!({}))
    }

    /// The editor is gone.
    pub(super) async fn close_all(&self) {
        let all: Vec<_> = locked(&self.open).drain().map(|(_, session)| session).collect();
        for session in all {
            session.close().await;
        }
    }

    /// A prompt begins to wait for its turn.
    pub(super) fn turn(&self, request: Prompt, id: &Value) -> Result<Turn, RpcError> {
        let session = self.find(&request.session_id)?;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        locked(&session.turns).push((id.clone(), Arc::clone(&is_cancelled)));
        Ok(Turn { session, prompt: request.prompt, is_cancelled })
    }

    /// A request is cancelled by its number: only prompts can be.
    pub(super) fn cancel_request(&self, id: &Value) {
        let all: Vec<_> = locked(&self.open).values().cloned().collect();
        for session in all {
            let is_there = locked(&session.turns).iter().any(|(request, _)| request == id);
            if is_there {
                session.cancel();
            }
        }
    }

    pub(super) async fn set_mode(&self, request: SetMode) -> Answered {
        let session = self.find(&request.session_id)?;
        let changed = session.choose(options::MODE, &request.mode_id).await?;
        session.say(&json!({"sessionUpdate": "config_option_update", "configOptions": changed}));
        Ok(json!({}))
    }

    pub(super) async fn set_option(&self, request: SetOption) -> Answered {
        let session = self.find(&request.session_id)?;
        let changed = session.choose(&request.config_id, &request.value).await?;
        if request.config_id == options::MODE {
            let mode = &request.value;
            session.say(&json!({"sessionUpdate": "current_mode_update", "currentModeId": mode}));
        }
        Ok(json!({"configOptions": changed}))
    }
}

impl OpenSession {
    fn say(&self, update: &Value) {
        wire::update(&self.id, update);
    }

    /// What an editor is told of a session that is open now. Its commands come behind the answer.
    async fn opened(self: &Arc<Self>) -> Value {
        let work = self.work.lock().await;
        let mut answer = json!({
            "modes": options::modes(&work.prepared, &work.context),
            "configOptions": options::options(&work.prepared, &work.context),
        });
        if let Some(servers) = &work.prepared.servers {
            let states = mcp_tools::describe(Some(servers));
            answer["_meta"] = json!({"umbo": {"mcpServers": states}});
        }
        let session = Arc::clone(self);
        tokio::spawn(async move {
            session.say(&json!({
                "sessionUpdate": "available_commands_update",
                "availableCommands": [
                    {"name": "compact", "description": "Summarise the conversation so far",
                        "input": {"hint": "what the summary must keep"}},
                    {"name": "cost", "description": "What the session has cost so far"},
                ],
            }));
        });
        answer
    }

    /// Ends what is under way; the prompts are answered when it has ended.
    pub(super) fn cancel(&self) {
        for (_, is_cancelled) in locked(&self.turns).iter() {
            is_cancelled.store(true, Ordering::SeqCst);
        }
        self.queues.interrupt();
        self.asks.give_up();
    }

    async fn close(&self) {
        self.cancel();
        let tools = Arc::clone(&self.work.lock().await.prepared.tools);
        // What it did not leave in the background ends with it.
        let _ = tokio::task::spawn_blocking(move || tools.toolset().close()).await;
    }

    /// Chooses something between two prompts; all that can be chosen then.
    async fn choose(&self, option: &str, value: &str) -> Answered {
        let mut work = self.work.lock().await;
        let Work { prepared, context, .. } = &mut *work;
        choose(prepared, context, option, value).map_err(invalid)?;
        Ok(options::options(prepared, context))
    }
}

/// A prompt that waits for its turn, or has it.
pub(super) struct Turn {
    session: Arc<OpenSession>,
    prompt: Vec<ContentBlock>,
    is_cancelled: Arc<AtomicBool>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        locked(&self.session.turns).retain(|(_, turn)| !Arc::ptr_eq(turn, &self.is_cancelled));
    }
}

impl Turn {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    /// Works on the prompt.
    pub(super) async fn work(mut self) -> Answered {
        let session = Arc::clone(&self.session);
        let said = std::mem::take(&mut self.prompt);
        let content =
            prompt::parts(said).map_err(|problem| invalid(format!("prompt: {problem}")))?;
        let mut work = session.work.lock().await;
        if self.is_cancelled() {
            return Ok(json!({"stopReason": "cancelled"}));
        }
        let Work { prepared, updates, .. } = &mut *work;
        let window = prepared.agent.model().map(|candidate| candidate.model.window);
        updates.window = window.unwrap_or(0);
        let mut observer = |event: AgentEvent| {
            // A cancellation that came before the run could hear of it.
            if matches!(event, AgentEvent::TurnStart { .. }) && self.is_cancelled() {
                session.queues.interrupt();
            }
            for update in updates.take(&event) {
                session.say(&update);
            }
        };
        let told = match prompt::command(&content) {
            Some(("compact", words)) => {
                let words = Some(words).filter(|words| !words.is_empty());
                let problem = prepared.agent.compact(words, &mut observer).await.map_err(failed)?;
                Some(problem.unwrap_or_else(|| "The conversation was summarised.".to_owned()))
            }
            Some(("cost", _)) => Some(cost(prepared)),
            _ => None,
        };
        if let Some(text) = told {
            session.say(&json!({
                "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
            }));
            return Ok(json!({"stopReason": "end_turn"}));
        }
        let outcome = prepared.agent.prompt(content, &mut observer).await.map_err(failed)?;
        session.say(&usage(prepared));
        stop(&outcome)
    }
}

fn cost(prepared: &Prepared) -> String {
    let (spent, cost) = (prepared.agent.spent(), prepared.agent.cost());
    format!(
        "${cost:.4}; {} tokens read ({} from caches), {} written",
        spent.all_input(),
        spent.cache_read,
        spent.output
    )
}

/// How full the window is, and what it cost.
fn usage(prepared: &mut Prepared) -> Value {
    let context = prepared.agent.context_now();
    let used = context.map_or(0, |context| compact::context_tokens(&context.messages));
    let size = prepared.agent.model().map_or(0, |candidate| candidate.model.window);
    let mut update = json!({"sessionUpdate": "usage_update", "used": used, "size": size});
    let cost = prepared.agent.cost();
    if cost > 0.0 {
        update["cost"] = json!({"amount": cost, "currency": "USD"});
    }
    update
}

/// Why a run ended, as the protocol says it.
fn stop(outcome: &Outcome) -> Answered {
    let (word, why) = outcome_words(outcome);
    let reason = match outcome {
        Outcome::Done => "end_turn",
        Outcome::Length | Outcome::Limit(Limit::Tokens) => "max_tokens",
        Outcome::Refused(_) => "refusal",
        Outcome::Interrupted => "cancelled",
        Outcome::Limit(_) => "max_turn_requests",
        Outcome::Failed(_) | Outcome::TooLong(_) => {
            return Err(failed(why.unwrap_or_else(|| word.to_owned())));
        }
    };
    let mut answer = json!({"stopReason": reason});
    if why.is_some() {
        answer["_meta"] = json!({"umbo": {"outcome": word, "reason": why}});
    }
    Ok(answer)
}
