//! The sessions of one connection. Each has a directory, an agent and a file that nobody else writes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ConfigOptionUpdate,
    ContentBlock, ContentChunk, Cost, CurrentModeUpdate, InitializeRequest, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, McpServer, Meta,
    NewSessionRequest, NewSessionResponse, PromptResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionConfigOptionValue, SessionId, SessionInfo, SessionNotification,
    SessionUpdate, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse, StopReason, UnstructuredCommandInput,
    UsageUpdate,
};
use agent_client_protocol::{Client, Error};
use jiff::Timestamp;
use serde_json::json;
use umbo_agent::{AgentEvent, Limit, Outcome, Queues, compact, list, session_directory};

use super::super::outcome_words;
use super::super::setup::Prepared;
use super::options::{self, choose};
use super::permission::AskEditor;
use super::replay::past;
use super::updates::{Shows, Updates};
use super::{failed, invalid, prompt};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::sessions;

/// As many sessions are listed at a time.
const PAGE: usize = 50;

/// The sessions of a connection.
pub(super) struct Sessions {
    context: Context,
    words: Words,
    client: Mutex<About>,
    open: Mutex<HashMap<String, Arc<OpenSession>>>,
}

/// What is known of the editor.
#[derive(Clone, Default)]
struct About {
    name: String,
    shows: Shows,
}

/// A session that is open.
pub(super) struct OpenSession {
    id: SessionId,
    queues: Arc<Queues>,
    asks: Arc<AskEditor>,
    /// Whether each prompt that is not answered yet was cancelled.
    turns: Mutex<Vec<Arc<AtomicBool>>>,
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
    pub(super) fn new(context: Context, words: Words) -> Self {
        Self { context, words, client: Mutex::default(), open: Mutex::default() }
    }

    pub(super) fn learn_client(&self, request: &InitializeRequest) {
        let name = request.client_info.as_ref().map(|info| info.name.clone());
        *locked(&self.client) = About {
            name: name.unwrap_or_else(|| "an editor".to_owned()),
            shows: Shows::of(&request.client_capabilities),
        };
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<OpenSession>, Error> {
        locked(&self.open).get(id).cloned().ok_or_else(|| {
            invalid(format!("sessionId: {id:?} is not open; session/load opens it again"))
        })
    }

    /// Makes the agent of a session, of a new one or of a file.
    async fn open(
        &self,
        directory: PathBuf,
        file: Option<PathBuf>,
        client: ConnectionTo<Client>,
    ) -> Result<Arc<OpenSession>, Error> {
        if !directory.is_absolute() || !directory.is_dir() {
            let shown = directory.display();
            return Err(invalid(format!("cwd: {shown} is not an absolute path of a directory")));
        }
        let About { name, shows } = locked(&self.client).clone();
        let asks = Arc::new(AskEditor::new(client, format!("a person at {name}")));
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
            let prepared = Prepared::new(&context, &words, Some(approver))?;
            Ok((context, prepared, directory))
        });
        let made = made.await.map_err(failed)?;
        let (context, prepared, directory) =
            made.map_err(|failure: crate::failure::Failure| failed(failure))?;
        let id = SessionId::new(prepared.agent.session().header().id.clone());
        asks.set_session(id.clone());
        let updates = Updates::new(Arc::clone(&asks.names), directory, shows);
        let session = Arc::new(OpenSession {
            id: id.clone(),
            queues: prepared.agent.queues(),
            asks,
            turns: Mutex::default(),
            work: tokio::sync::Mutex::new(Work { prepared, context, updates }),
        });
        locked(&self.open).insert(id.0.to_string(), Arc::clone(&session));
        Ok(session)
    }

    /// A new session.
    pub(super) async fn create(
        &self,
        request: NewSessionRequest,
        client: ConnectionTo<Client>,
    ) -> Result<NewSessionResponse, Error> {
        let session = self.open(request.cwd, None, client.clone()).await?;
        let work = session.work.lock().await;
        let response = NewSessionResponse::new(session.id.clone())
            .modes(options::modes(&work.prepared, &work.context))
            .config_options(options::options(&work.prepared, &work.context))
            .meta(unused_servers(&request.mcp_servers));
        drop(work);
        session.tell_commands(client);
        Ok(response)
    }

    /// Opens a session of before, unless it is open.
    async fn reopen(
        &self,
        id: &str,
        cwd: PathBuf,
        client: ConnectionTo<Client>,
    ) -> Result<Arc<OpenSession>, Error> {
        if let Ok(session) = self.find(id) {
            return Ok(session);
        }
        let file = self.file(id)?;
        self.open(cwd, Some(file), client).await
    }

    /// The file of a session, by its whole id.
    fn file(&self, id: &str) -> Result<PathBuf, Error> {
        let known = sessions::everywhere(&self.context).map_err(failed)?;
        let found = known.into_iter().find(|info| info.id == id);
        found.map(|info| info.path).ok_or_else(|| {
            Error::from(agent_client_protocol::v1::schema::Error::session_not_found(id.to_owned()))
        })
    }

    /// Opens a session and tells all of its past, then answers.
    pub(super) async fn load(
        &self,
        request: LoadSessionRequest,
        client: ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse, Error> {
        let id = request.session_id.0.to_string();
        let session = self.reopen(&id, request.cwd, client.clone()).await?;
        let mut work = session.work.lock().await;
        let Work { prepared, context, updates } = &mut *work;
        // What became of calls that were under way is a part of the past.
        prepared.agent.settle(&mut |_| {}).await.map_err(failed)?;
        for update in past(prepared.agent.session(), updates).map_err(failed)? {
            session.say(&client, update);
        }
        let response = LoadSessionResponse::new()
            .modes(options::modes(prepared, context))
            .config_options(options::options(prepared, context))
            .meta(unused_servers(&request.mcp_servers));
        drop(work);
        session.tell_commands(client);
        Ok(response)
    }

    /// Opens a session and tells nothing.
    pub(super) async fn resume(
        &self,
        request: ResumeSessionRequest,
        client: ConnectionTo<Client>,
    ) -> Result<ResumeSessionResponse, Error> {
        let id = request.session_id.0.to_string();
        let session = self.reopen(&id, request.cwd, client.clone()).await?;
        let work = session.work.lock().await;
        let response = ResumeSessionResponse::new()
            .modes(options::modes(&work.prepared, &work.context))
            .config_options(options::options(&work.prepared, &work.context))
            .meta(unused_servers(&request.mcp_servers));
        drop(work);
        session.tell_commands(client);
        Ok(response)
    }

    /// The sessions of a directory, or all, a page at a time.
    pub(super) fn list(
        &self,
        request: &ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Error> {
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
            SessionInfo::new(info.id.clone(), info.cwd.clone())
                .title(info.title.clone().or_else(|| info.first_prompt.clone()))
                .updated_at(time)
        });
        let next = start.saturating_add(PAGE);
        let cursor = (next < found.len()).then(|| next.to_string());
        Ok(ListSessionsResponse::new(shown.collect()).next_cursor(cursor))
    }

    /// Ends the work of a session and lets its file go.
    pub(super) async fn close(&self, id: &str) -> Result<(), Error> {
        let session = self.find(id)?;
        locked(&self.open).remove(id);
        session.close().await;
        Ok(())
    }

    /// Closes a session and removes its file.
    pub(super) async fn delete(&self, id: &str) -> Result<(), Error> {
        if self.find(id).is_ok() {
            self.close(id).await?;
        }
        sessions::remove(&self.file(id)?).map(drop).map_err(failed)
    }

    /// The editor is gone.
    pub(super) async fn close_all(&self) {
        let all: Vec<_> = locked(&self.open).drain().map(|(_, session)| session).collect();
        for session in all {
            session.close().await;
        }
    }

    /// A prompt begins to wait for its turn.
    pub(super) fn turn(&self, id: &str) -> Result<Turn, Error> {
        let session = self.find(id)?;
        let is_cancelled = Arc::new(AtomicBool::new(false));
        locked(&session.turns).push(Arc::clone(&is_cancelled));
        Ok(Turn { session, is_cancelled })
    }

    pub(super) async fn set_mode(
        &self,
        request: SetSessionModeRequest,
        client: ConnectionTo<Client>,
    ) -> Result<SetSessionModeResponse, Error> {
        let session = self.find(&request.session_id.0)?;
        let changed = session.choose(options::MODE, &request.mode_id.0).await?;
        session.say(&client, SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(changed)));
        Ok(SetSessionModeResponse::new())
    }

    pub(super) async fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
        client: ConnectionTo<Client>,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let session = self.find(&request.session_id.0)?;
        let SessionConfigOptionValue::ValueId { value } = &request.value else {
            return Err(invalid("value: one of the listed values is needed"));
        };
        let changed = session.choose(&request.config_id.0, &value.0).await?;
        if &*request.config_id.0 == options::MODE {
            let mode = CurrentModeUpdate::new(value.0.to_string());
            session.say(&client, SessionUpdate::CurrentModeUpdate(mode));
        }
        Ok(SetSessionConfigOptionResponse::new(changed))
    }
}

impl OpenSession {
    fn say(&self, client: &ConnectionTo<Client>, update: SessionUpdate) {
        // An editor that is gone misses nothing: the session has it.
        let _ = client.send_notification(SessionNotification::new(self.id.clone(), update));
    }

    /// Tells the commands, behind the answer that opens the session.
    fn tell_commands(self: &Arc<Self>, client: ConnectionTo<Client>) {
        let session = Arc::clone(self);
        let command = |name: &str, about: &str| AvailableCommand::new(name, about);
        let hint = UnstructuredCommandInput::new("what the summary must keep");
        let commands = vec![
            command("compact", "Summarise the conversation so far")
                .input(AvailableCommandInput::Unstructured(hint)),
            command("cost", "What the session has cost so far"),
        ];
        let update = SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands));
        tokio::spawn(async move { session.say(&client, update) });
    }

    /// Ends what is under way; the prompts are answered when it has ended.
    pub(super) fn cancel(&self) {
        for turn in locked(&self.turns).iter() {
            turn.store(true, Ordering::SeqCst);
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
    async fn choose(
        &self,
        option: &str,
        value: &str,
    ) -> Result<Vec<agent_client_protocol::v1::schema::SessionConfigOption>, Error> {
        let mut work = self.work.lock().await;
        let Work { prepared, context, .. } = &mut *work;
        choose(prepared, context, option, value).map_err(invalid)?;
        Ok(options::options(prepared, context))
    }
}

/// A prompt that waits for its turn, or has it.
pub(super) struct Turn {
    session: Arc<OpenSession>,
    is_cancelled: Arc<AtomicBool>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        locked(&self.session.turns).retain(|turn| !Arc::ptr_eq(turn, &self.is_cancelled));
    }
}

impl Turn {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    /// Works on a prompt.
    pub(super) async fn work(
        self,
        prompt: Vec<ContentBlock>,
        client: ConnectionTo<Client>,
    ) -> Result<PromptResponse, Error> {
        let session = Arc::clone(&self.session);
        let content =
            prompt::parts(prompt).map_err(|problem| invalid(format!("prompt: {problem}")))?;
        let mut work = session.work.lock().await;
        if self.is_cancelled() {
            return Ok(PromptResponse::new(StopReason::Cancelled));
        }
        let Work { prepared, updates, .. } = &mut *work;
        let model = prepared.agent.model().map(|candidate| candidate.model.window);
        updates.window = model.unwrap_or(0);
        let mut observer = |event: AgentEvent| {
            // A cancellation that came before the run could hear of it.
            if matches!(event, AgentEvent::TurnStart { .. }) && self.is_cancelled() {
                session.queues.interrupt();
            }
            for update in updates.take(&event) {
                session.say(&client, update);
            }
        };
        let said = match prompt::command(&content) {
            Some(("compact", words)) => {
                let words = Some(words).filter(|words| !words.is_empty());
                let problem = prepared.agent.compact(words, &mut observer).await.map_err(failed)?;
                Some(problem.unwrap_or_else(|| "The conversation was summarised.".to_owned()))
            }
            Some(("cost", _)) => Some(cost(prepared)),
            _ => None,
        };
        if let Some(said) = said {
            let chunk = ContentChunk::new(said.into());
            session.say(&client, SessionUpdate::AgentMessageChunk(chunk));
            return Ok(PromptResponse::new(StopReason::EndTurn));
        }
        let outcome = prepared.agent.prompt(content, &mut observer).await.map_err(failed)?;
        session.say(&client, usage(prepared));
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
fn usage(prepared: &mut Prepared) -> SessionUpdate {
    let context = prepared.agent.context_now();
    let used = context.map_or(0, |context| compact::context_tokens(&context.messages));
    let size = prepared.agent.model().map_or(0, |candidate| candidate.model.window);
    let cost = prepared.agent.cost();
    let update = UsageUpdate::new(used, size);
    let cost = (cost > 0.0).then(|| Cost::new(cost, "USD"));
    SessionUpdate::UsageUpdate(update.cost(cost))
}

/// Why a run ended, as the protocol says it.
fn stop(outcome: &Outcome) -> Result<PromptResponse, Error> {
    let reason = match outcome {
        Outcome::Done => StopReason::EndTurn,
        Outcome::Length | Outcome::Limit(Limit::Tokens) => StopReason::MaxTokens,
        Outcome::Refused(_) => StopReason::Refusal,
        Outcome::Interrupted => StopReason::Cancelled,
        Outcome::Limit(_) => StopReason::MaxTurnRequests,
        Outcome::Failed(_) | Outcome::TooLong(_) => {
            let (word, why) = outcome_words(outcome);
            return Err(failed(why.unwrap_or_else(|| word.to_owned())));
        }
    };
    let (word, why) = outcome_words(outcome);
    let about = json!({"outcome": word, "reason": why});
    let meta = why.is_some().then(|| Meta::from_iter([("umbo".to_owned(), about)]));
    Ok(PromptResponse::new(reason).meta(meta))
}

/// What an editor is told of servers that it lends and that are not used.
fn unused_servers(servers: &[McpServer]) -> Option<Meta> {
    if servers.is_empty() {
        return None;
    }
    let why = "umbo does not use the MCP servers of an editor yet";
    Some(Meta::from_iter([("umbo".to_owned(), json!({"mcpServers": why}))]))
}
