//! What commands ask and change of the agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use umbo_agent::{
    AgentMessage, Context as AgentContext, Entry, EntryKind, InterruptMode, JobTools, Phase,
    QueueMode, Queues, Session, build_context, session_directory, to_html,
};
use umbo_model::{Effort, RetryPolicy};

use super::super::setup::{Prepared, effort_of};
use crate::context::Context;
use crate::sessions;

type Answered = Result<Option<Value>, String>;

const LEVELS: [&str; 6] = ["off", "minimal", "low", "medium", "high", "xhigh"];

/// The agent, and what the protocol remembers beside.
pub(super) struct State {
    pub(super) prepared: Prepared,
    context: Context,
    /// The models that `cycle_model` goes through.
    models: Vec<String>,
}

/// What can be said of the agent while it works: as it was before, and what its session says now.
pub(super) struct Glimpse {
    state: Value,
    file: Option<PathBuf>,
    models: Vec<String>,
    context: Context,
    tools: Arc<JobTools>,
    directory: String,
}

impl Glimpse {
    /// Answers what only asks.
    pub(super) fn answer(&self, command: &Value, queues: &Queues) -> Option<Answered> {
        let word = command["type"].as_str().unwrap_or_default();
        match word {
            "get_available_models" => return Some(Ok(Some(available(&self.models)))),
            "list_sessions" => return Some(list_sessions(&self.context)),
            _ => {}
        }
        if word == "get_state" {
            let mut state = self.state.clone();
            state["isStreaming"] = json!(true);
            let session = self.file.as_deref().and_then(|file| Session::open_read_only(file).ok());
            if let Some(context) = session.and_then(|session| build_context(&session, None).ok()) {
                state["todoPhases"] = todos(&context.todos);
                state["messageCount"] = json!(context.messages.len());
            }
            state["queuedMessageCount"] = json!(queues.len());
            set_modes(&mut state, queues);
            return Some(Ok(Some(state)));
        }
        let session = Session::open_read_only(self.file.as_deref()?).ok()?;
        if word == "export_html" {
            return Some(export(&session, command["outputPath"].as_str()));
        }
        ask(word, &session)
    }

    /// With what a command of the host's own runs, and where.
    pub(super) fn shell_tools(&self) -> (Arc<JobTools>, String) {
        (Arc::clone(&self.tools), self.directory.clone())
    }
}

impl State {
    pub(super) fn new(context: Context, prepared: Prepared) -> Self {
        let models = prepared.reachable_models();
        Self { prepared, context, models }
    }

    pub(super) fn queues(&self) -> Arc<Queues> {
        self.prepared.agent.queues()
    }

    /// Ends with the jobs that end with it.
    pub(super) async fn close(self) {
        let tools = Arc::clone(&self.prepared.tools);
        let _ = tokio::task::spawn_blocking(move || tools.toolset().close()).await;
    }

    fn session(&self) -> &Session {
        self.prepared.agent.session()
    }

    /// The conversation as it is now.
    fn conversation(&mut self) -> Arc<AgentContext> {
        self.prepared.agent.context_now().unwrap_or_default()
    }

    pub(super) fn message_count(&mut self) -> usize {
        self.conversation().messages.len()
    }

    pub(super) fn messages_since(&mut self, count: usize) -> Vec<Value> {
        let conversation = self.conversation();
        let new = conversation.messages.get(count..).unwrap_or_default();
        new.iter().filter_map(|each| serde_json::to_value(&each.message).ok()).collect()
    }

    pub(super) fn most_retries(&self) -> u32 {
        self.prepared.agent.setup().retry.retries
    }

    pub(super) fn glimpse(&mut self) -> Glimpse {
        let state = self.describe();
        let (tools, directory) = self.shell_tools();
        Glimpse {
            state,
            file: self.session().path().map(Path::to_owned),
            models: self.models.clone(),
            context: self.context.clone(),
            tools,
            directory,
        }
    }

    /// With what a command of the host's own runs, and where.
    pub(super) fn shell_tools(&self) -> (Arc<JobTools>, String) {
        (Arc::clone(&self.prepared.tools), self.session().header().cwd.clone())
    }

    /// Writes down what the host ran.
    pub(super) fn record(&mut self, message: AgentMessage) -> Result<(), String> {
        let kept = self.prepared.agent.session_mut().append(EntryKind::Message { message });
        kept.map(drop).map_err(|error| error.to_string())
    }

    fn describe(&mut self) -> Value {
        let conversation = self.conversation();
        let agent = &self.prepared.agent;
        let session = agent.session();
        let setup = agent.setup();
        let (provider, id) = self.prepared.model.split_once('/').unwrap_or_default();
        let tools = self.prepared.specs();
        let mut state = json!({
            "model": {"provider": provider, "id": id},
            "thinkingLevel": setup.effort.map_or("off", Effort::word),
            "isStreaming": false,
            "isCompacting": false,
            "sessionFile": session.path(),
            "sessionId": session.header().id,
            "sessionName": session.title(),
            "autoCompactionEnabled": setup.compaction.enabled,
            "messageCount": conversation.messages.len(),
            "queuedMessageCount": agent.queues().len(),
            "todoPhases": todos(&conversation.todos),
            "systemPrompt": setup.system,
            "dumpTools": tools,
        });
        set_modes(&mut state, &agent.queues());
        state
    }

    /// Does what a command says; nothing if there is no such command.
    pub(super) async fn obey(&mut self, word: &str, command: &Value) -> Option<Answered> {
        if let Some(answered) = ask(word, self.session()) {
            return Some(answered);
        }
        let text = |name: &str| command[name].as_str().unwrap_or_default().to_owned();
        let is_enabled = command["enabled"] == true;
        Some(match word {
            "get_state" => Ok(Some(self.describe())),
            "set_todos" => self.set_todos(&command["phases"]),
            "set_model" => {
                self.set_model(&format!("{}/{}", text("provider"), text("modelId"))).map(Some)
            }
            "cycle_model" => self.cycle_model(),
            "get_available_models" => Ok(Some(available(&self.models))),
            "set_thinking_level" => self.set_level(&text("level")),
            "cycle_thinking_level" => {
                let now = self.prepared.agent.setup().effort.map_or("off", Effort::word);
                let at = LEVELS.iter().position(|level| *level == now).unwrap_or(0);
                let next = LEVELS[(at + 1) % LEVELS.len()];
                self.set_level(next).map(|_| Some(json!({"level": next})))
            }
            "compact" => self.compact(command["customInstructions"].as_str()).await,
            "set_auto_compaction" => {
                self.prepared.agent.setup_mut().compaction.enabled = is_enabled;
                Ok(None)
            }
            "set_auto_retry" => {
                let usual = RetryPolicy::default();
                let retries = if is_enabled { usual.retries } else { 0 };
                self.prepared.agent.setup_mut().retry = RetryPolicy { retries, ..usual };
                Ok(None)
            }
            "new_session" => self.new_session(command["parentSession"].as_str()),
            "switch_session" => self.switch_session(Path::new(&text("sessionPath"))),
            "branch" => self.branch(&text("entryId")),
            "navigate_tree" if command["summarize"] == true => {
                let words = command["customInstructions"].as_str();
                self.leave_branch(&text("entryId"), words).await
            }
            "navigate_tree" => self.navigate(&text("entryId")),
            "set_session_name" => self.set_name(&text("name")),
            "export_html" => export(self.session(), command["outputPath"].as_str()),
            "handoff" => self.handoff(command["focus"].as_str()).await,
            "list_sessions" => list_sessions(&self.context),
            _ => return None,
        })
    }

    /// The host's list takes the place of the agent's.
    fn set_todos(&mut self, phases: &Value) -> Answered {
        let phases: Vec<Phase> =
            serde_json::from_value(phases.clone()).map_err(|error| format!("phases: {error}"))?;
        let kept = self.prepared.agent.set_todos(phases, &mut |_| {});
        kept.map_err(|error| error.to_string())?;
        Ok(Some(json!({"todoPhases": todos(&self.conversation().todos)})))
    }

    fn set_model(&mut self, name: &str) -> Result<Value, String> {
        let not_found = || format!("Model not found: {name}");
        self.prepared.set_model(&self.context, name).map_err(|_| not_found())?;
        Ok(describe_model(name))
    }

    fn cycle_model(&mut self) -> Answered {
        if self.models.len() < 2 {
            return Ok(Some(Value::Null));
        }
        let at = self.models.iter().position(|name| *name == self.prepared.model);
        let next = self.models[at.map_or(0, |at| (at + 1) % self.models.len())].clone();
        let model = self.set_model(&next)?;
        let level = self.prepared.agent.setup().effort.map_or("off", Effort::word);
        Ok(Some(json!({"model": model, "thinkingLevel": level})))
    }

    fn set_level(&mut self, level: &str) -> Answered {
        let effort = effort_of(level).ok_or_else(|| {
            format!("level: {level:?} was given; accepted: {}", LEVELS.join(", "))
        })?;
        self.prepared.set_effort(effort).map(|()| None).map_err(|failure| failure.to_string())
    }

    async fn compact(&mut self, words: Option<&str>) -> Answered {
        match self.prepared.agent.compact(words, &mut |_| {}).await {
            Ok(None) => {
                let path = self.session().path_to(None).map_err(|error| error.to_string())?;
                let last = path.into_iter().rev().find_map(|entry| match entry.kind {
                    EntryKind::Compaction {
                        summary, first_kept_entry_id, tokens_before, ..
                    } => Some(json!({"summary": summary, "firstKeptEntryId": first_kept_entry_id,
                            "tokensBefore": tokens_before})),
                    _ => None,
                });
                Ok(last)
            }
            Ok(Some(problem)) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }

    fn place(&self) -> PathBuf {
        session_directory(&sessions::root(&self.context), &self.session().header().cwd)
    }

    fn new_session(&mut self, parent: Option<&str>) -> Answered {
        let cwd = self.session().header().cwd.clone();
        let session = Session::create(&self.place(), &cwd, parent.map(str::to_owned));
        self.prepared.agent.set_session(session.map_err(|error| error.to_string())?);
        Ok(Some(json!({"cancelled": false})))
    }

    fn switch_session(&mut self, path: &Path) -> Answered {
        let session = Session::open(path).map_err(|error| error.to_string())?;
        self.prepared.agent.set_session(session);
        self.prepared.take_up_effort();
        Ok(Some(json!({"cancelled": false})))
    }

    /// A copy of the session up to before what the user said there.
    fn branch(&mut self, id: &str) -> Answered {
        let Some(entry) = self.session().entry(id) else {
            return Err(format!("there is no entry {id:?} in this session"));
        };
        let EntryKind::Message { message: AgentMessage::User(user) } = &entry.kind else {
            return Err("a branch begins at a message of the user".to_owned());
        };
        let texts: Vec<&str> = user.content.iter().filter_map(|part| part.as_text()).collect();
        let text = texts.join("\n");
        match &entry.parent {
            None => drop(self.new_session(Some(&self.session().header().id.clone()))?),
            Some(parent) => {
                let fork = self.session().fork(&self.place(), Some(parent));
                self.prepared.agent.set_session(fork.map_err(|error| error.to_string())?);
            }
        }
        Ok(Some(json!({"text": text, "cancelled": false})))
    }

    fn navigate(&mut self, id: &str) -> Answered {
        let moved = self.prepared.agent.session_mut().branch(id);
        moved.map(|()| Some(json!({"cancelled": false}))).map_err(|error| error.to_string())
    }

    /// The same, with a summary of the branch that is left.
    async fn leave_branch(&mut self, id: &str, words: Option<&str>) -> Answered {
        match self.prepared.agent.leave_branch(id, words).await {
            Ok(Some(summary)) => Ok(Some(json!({"cancelled": false, "summary": summary}))),
            Ok(None) => Err("the model wrote no summary: nothing has changed".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn set_name(&mut self, name: &str) -> Answered {
        if name.trim().is_empty() {
            return Err("Session name cannot be empty".to_owned());
        }
        let title = name.trim().to_owned();
        let kept = self.prepared.agent.session_mut().append(EntryKind::Title { title });
        kept.map(|_| None).map_err(|error| error.to_string())
    }

    async fn handoff(&mut self, focus: Option<&str>) -> Answered {
        let place = self.place();
        match self.prepared.agent.handoff(&place, focus, &mut |_| {}).await {
            Ok(Ok(session)) => {
                let data = json!({"sessionFile": session.path(), "sessionId": session.header().id});
                self.prepared.agent.set_session(session);
                Ok(Some(data))
            }
            Ok(Err(problem)) => Err(problem),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn set_modes(state: &mut Value, queues: &Queues) {
    let word = |mode: QueueMode| match mode {
        QueueMode::All => "all",
        QueueMode::OneAtATime => "one-at-a-time",
    };
    let (steering, follow_up, interrupt) = queues.modes();
    state["steeringMode"] = json!(word(steering));
    state["followUpMode"] = json!(word(follow_up));
    state["interruptMode"] = json!(match interrupt {
        InterruptMode::Immediate => "immediate",
        InterruptMode::Wait => "wait",
    });
}

fn describe_model(name: &str) -> Value {
    let (provider, id) = name.split_once('/').unwrap_or_default();
    json!({"provider": provider, "id": id})
}

fn available(models: &[String]) -> Value {
    let models = models.iter().map(|name| describe_model(name));
    json!({"models": models.collect::<Vec<_>>()})
}

fn list_sessions(context: &Context) -> Answered {
    let found = sessions::here(context).map_err(|failure| failure.to_string())?;
    let list = found.iter().map(|info| {
        json!({"id": info.id, "path": info.path, "cwd": info.cwd,
            "name": info.title, "firstMessage": info.first_prompt})
    });
    Ok(Some(json!({"sessions": list.collect::<Vec<_>>()})))
}

fn export(session: &Session, path: Option<&str>) -> Answered {
    let path = path.map_or_else(
        || PathBuf::from(format!("session-{}.html", session.header().id)),
        PathBuf::from,
    );
    std::fs::write(&path, to_html(session))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(Some(json!({"path": path})))
}

/// A todo list as hosts know it: phases and tasks have names to tell them apart.
pub(super) fn todos(phases: &[Phase]) -> Value {
    let mut number = 0;
    let phases = phases.iter().enumerate().map(|(at, phase)| {
        let tasks = phase.tasks.iter().map(|task| {
            number += 1;
            let id = task.id.clone().unwrap_or_else(|| format!("task-{number}"));
            json!({"id": id, "content": task.content, "status": task.status})
        });
        let tasks: Vec<Value> = tasks.collect();
        let id = phase.id.clone().unwrap_or_else(|| format!("phase-{}", at + 1));
        json!({"id": id, "name": phase.name, "tasks": tasks})
    });
    Value::Array(phases.collect())
}

fn messages(session: &Session) -> Vec<Value> {
    let context = build_context(session, None).unwrap_or_default();
    context.messages.iter().filter_map(|each| serde_json::to_value(&each.message).ok()).collect()
}

/// Answers what a session says.
fn ask(word: &str, session: &Session) -> Option<Answered> {
    let path = || session.path_to(None).unwrap_or_default();
    Some(Ok(Some(match word {
        "get_messages" => json!({"messages": messages(session)}),
        "get_last_assistant_text" => json!({"text": last_text(&path())}),
        "get_branch_messages" => {
            let said = path().into_iter().filter_map(|entry| match entry.kind {
                EntryKind::Message { message: AgentMessage::User(user) } => {
                    let texts: Vec<&str> =
                        user.content.iter().filter_map(|part| part.as_text()).collect();
                    Some(json!({"entryId": entry.id, "text": texts.join("\n")}))
                }
                _ => None,
            });
            json!({"messages": said.collect::<Vec<_>>()})
        }
        "get_session_stats" => stats(session, &path()),
        "get_tree" => {
            let entries = session.entries().map(|entry| {
                json!({"id": entry.id, "parentId": entry.parent, "timestamp": entry.timestamp,
                    "label": session.label(&entry.id), "entry": entry.kind})
            });
            json!({"leafId": session.leaf(), "entries": entries.collect::<Vec<_>>()})
        }
        _ => return None,
    })))
}

fn last_text(path: &[Entry]) -> Option<String> {
    path.iter().rev().find_map(|entry| match &entry.kind {
        EntryKind::Message { message: AgentMessage::Assistant(answer) } => Some(answer.text()),
        _ => None,
    })
}

fn stats(session: &Session, path: &[Entry]) -> Value {
    let (mut users, mut answers, mut calls, mut results) = (0, 0, 0, 0);
    let mut usage = umbo_model::Usage::default();
    for entry in path {
        let EntryKind::Message { message } = &entry.kind else { continue };
        match message {
            AgentMessage::User(_) => users += 1,
            AgentMessage::Assistant(answer) => {
                answers += 1;
                calls += answer.tool_calls().count();
                usage = usage.plus(&answer.usage);
            }
            AgentMessage::ToolResult(_) => results += 1,
            _ => {}
        }
    }
    json!({
        "sessionFile": session.path(), "sessionId": session.header().id, "userMessages": users,
        "assistantMessages": answers, "toolCalls": calls, "toolResults": results,
        "totalMessages": users + answers + results,
        "tokens": {"input": usage.input, "output": usage.output, "cacheRead": usage.cache_read,
            "cacheWrite": usage.cache_write, "total": usage.context()},
        "cost": usage.cost.total,
    })
}
