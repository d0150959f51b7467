//! What an agent does, as updates of its session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use umbo_agent::{AgentEvent, AgentMessage, Phase, Task, TaskStatus};
use umbo_model::{AssistantMessage, Block, BlockStart, Event, Part, ToolCall, ToolResult};

use super::calls::{CallNames, ToolKind, When, kind_of, look};

/// What an editor can show beside the usual.
#[derive(Clone, Copy, Default)]
pub(super) struct Shows {
    compactions: bool,
    pub(super) notices: bool,
    /// Forms with questions.
    pub(super) forms: bool,
}

impl Shows {
    /// By the capabilities that the editor announced.
    pub(super) fn of(capabilities: &Value) -> Self {
        let shows = |name: &str| capabilities["session"][name].is_object();
        let forms = capabilities["elicitation"]["form"].is_object();
        Self { compactions: shows("compaction"), notices: shows("notices"), forms }
    }
}

/// Makes updates of events.
pub(super) struct Updates {
    names: Arc<CallNames>,
    directory: PathBuf,
    shows: Shows,
    /// The size of the model's window.
    pub(super) window: u64,
    /// The blocks of the answer that comes.
    blocks: Vec<BlockStart>,
    /// Calls that were announced and have not begun.
    announced: Vec<String>,
    /// Jobs that go on behind a result: the call, and what its result said.
    jobs: HashMap<String, (String, String)>,
    compactions: u32,
}

impl Updates {
    pub(super) fn new(names: Arc<CallNames>, directory: PathBuf, shows: Shows) -> Self {
        Self {
            names,
            directory,
            shows,
            window: 0,
            blocks: Vec::new(),
            announced: Vec::new(),
            jobs: HashMap::new(),
            compactions: 0,
        }
    }

    /// The updates of an event.
    pub(super) fn take(&mut self, event: &AgentEvent) -> Vec<Value> {
        match event {
            AgentEvent::TurnStart { .. } => {
                self.blocks.clear();
                self.announced.clear();
                Vec::new()
            }
            AgentEvent::Model(event) => self.take_model(event).into_iter().collect(),
            AgentEvent::AnswerLost(_) => {
                self.blocks.clear();
                self.lose_announced()
            }
            // What the user said the editor has shown.
            AgentEvent::Message { message, .. } => match &**message {
                AgentMessage::User(_) => Vec::new(),
                AgentMessage::Assistant(answer) if answer.is_broken() => self.lose_announced(),
                AgentMessage::Assistant(answer) => self.usage(answer).into_iter().collect(),
                message => self.message(message),
            },
            AgentEvent::ToolStart { call, .. } => vec![self.start(call)],
            AgentEvent::ToolProgress { call_id, text } => {
                vec![update(&self.names.name(call_id), json!({"content": [as_it_is(text)]}))]
            }
            AgentEvent::Retry { wait, failure } => {
                let seconds = wait.as_secs_f64().ceil();
                self.warning(
                    &format!("The model is asked again in {seconds:.0} s"),
                    &failure.message,
                )
            }
            AgentEvent::Todos(phases) => vec![plan(phases)],
            AgentEvent::CompactionStart { .. } => {
                self.compactions += 1;
                self.compaction("in_progress")
            }
            AgentEvent::CompactionEnd { .. } => self.compaction("completed"),
            AgentEvent::CompactionFailed { .. } => self.compaction("failed"),
            _ => Vec::new(),
        }
    }

    /// Calls that were announced and will not run.
    fn lose_announced(&mut self) -> Vec<Value> {
        let lost = std::mem::take(&mut self.announced);
        lost.iter().map(|call| self.status(call, "failed")).collect()
    }

    fn take_model(&mut self, event: &Event) -> Option<Value> {
        match event {
            Event::BlockStart { index, block } => {
                if self.blocks.len() <= *index {
                    self.blocks.resize(index + 1, BlockStart::Opaque);
                }
                self.blocks[*index] = block.clone();
                let BlockStart::ToolCall { id, name, .. } = block else { return None };
                self.announced.push(id.clone());
                Some(json!({
                    "sessionUpdate": "tool_call", "toolCallId": self.names.begin(id),
                    "title": name, "name": name, "kind": kind_of(name), "status": "pending",
                }))
            }
            Event::Delta { index, text } => match self.blocks.get(*index)? {
                BlockStart::Text { .. } => Some(chunk("agent_message_chunk", text)),
                BlockStart::Thinking => Some(chunk("agent_thought_chunk", text)),
                BlockStart::ToolCall { .. } | BlockStart::Opaque => None,
            },
            _ => None,
        }
    }

    /// A call runs now.
    fn start(&mut self, call: &ToolCall) -> Value {
        let is_announced = self.announced.contains(&call.id);
        self.announced.retain(|known| *known != call.id);
        if !is_announced {
            self.names.begin(&call.id);
        }
        self.shown(call, When::Before, "in_progress", is_announced)
    }

    fn shown(&self, call: &ToolCall, when: When, status: &str, is_announced: bool) -> Value {
        let look = look(call, &self.directory, when);
        let word = if is_announced { "tool_call_update" } else { "tool_call" };
        json!({
            "sessionUpdate": word, "toolCallId": self.names.name(&call.id), "title": look.title,
            "name": call.name, "kind": look.kind, "status": status, "locations": look.locations(),
            "content": look.content(), "rawInput": call.arguments,
        })
    }

    fn status(&self, call: &str, status: &str) -> Value {
        update(&self.names.name(call), json!({"status": status}))
    }

    fn usage(&self, answer: &AssistantMessage) -> Option<Value> {
        let used = answer.usage.context();
        (used > 0 && self.window > 0)
            .then(|| json!({"sessionUpdate": "usage_update", "used": used, "size": self.window}))
    }

    fn warning(&self, title: &str, more: &str) -> Vec<Value> {
        if !self.shows.notices {
            return Vec::new();
        }
        vec![notice(title, more)]
    }

    fn compaction(&self, status: &str) -> Vec<Value> {
        if !self.shows.compactions {
            return Vec::new();
        }
        let name = format!("compaction-{}", self.compactions);
        vec![json!({"sessionUpdate": "compaction_update", "compactionId": name, "status": status})]
    }

    /// A message that is in the session, whole.
    pub(super) fn message(&mut self, message: &AgentMessage) -> Vec<Value> {
        match message {
            AgentMessage::User(user) => {
                let said = |part: &Part| {
                    let content = content_block(part);
                    json!({"sessionUpdate": "user_message_chunk", "content": content})
                };
                user.content.iter().map(said).collect()
            }
            AgentMessage::Assistant(answer) => self.answer(answer),
            AgentMessage::ToolResult(result) => vec![self.result(result)],
            AgentMessage::Custom { content, details, display: true, .. } => {
                let parts = content.clone().into_parts();
                let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
                vec![self.told(&texts.join("\n"), details.as_ref())]
            }
            _ => Vec::new(),
        }
    }

    /// An answer of the past.
    fn answer(&mut self, answer: &AssistantMessage) -> Vec<Value> {
        let status = if answer.is_broken() { "failed" } else { "in_progress" };
        let mut updates = Vec::new();
        for block in &answer.content {
            match block {
                Block::Text { text, .. } if !text.is_empty() => {
                    updates.push(chunk("agent_message_chunk", text));
                }
                Block::Thinking { thinking, .. } if !thinking.is_empty() => {
                    updates.push(chunk("agent_thought_chunk", thinking));
                }
                Block::ToolCall(call) => {
                    self.names.begin(&call.id);
                    updates.push(self.shown(call, When::Past, status, false));
                }
                _ => {}
            }
        }
        updates
    }

    fn result(&mut self, result: &ToolResult) -> Value {
        self.announced.retain(|known| *known != result.tool_call_id);
        let id = self.names.name(&result.tool_call_id);
        let kind = kind_of(&result.tool_name);
        let text = result.text();
        if let Some(job) = result.details.as_ref().and_then(|details| details["job"].as_str()) {
            self.jobs.insert(job.to_owned(), (id.clone(), text.clone()));
        }
        let status = if result.is_error { "failed" } else { "completed" };
        let mut fields = json!({"status": status});
        // The changes of an edit that was made say more than its words.
        if result.is_error || kind != ToolKind::Edit {
            fields["content"] = match kind {
                ToolKind::Execute | ToolKind::Read | ToolKind::Search if !text.is_empty() => {
                    json!([as_it_is(&text)])
                }
                _ => result.content.iter().map(|part| content(&content_block(part))).collect(),
            };
        }
        if let Some(details) = &result.details {
            fields["rawOutput"] = details.clone();
        }
        update(&id, fields)
    }

    /// Work in the background has ended: its call says so, else it is a thought.
    fn told(&mut self, text: &str, details: Option<&Value>) -> Value {
        let job = details.and_then(|details| details["id"].as_str());
        match job.and_then(|job| self.jobs.remove(job)) {
            Some((call, before)) => {
                update(&call, json!({"content": [as_it_is(&format!("{before}\n{text}"))]}))
            }
            None => chunk("agent_thought_chunk", text),
        }
    }
}

/// A warning, for editors that show such.
pub(super) fn notice(title: &str, more: &str) -> Value {
    json!({"sessionUpdate": "notice", "severity": "warning", "title": title, "description": more})
}

/// The todo list, without what will not be done: the protocol has no word for that.
pub(super) fn plan(phases: &[Phase]) -> Value {
    let entry = |task: &Task| {
        let status = match task.status {
            TaskStatus::Pending => "pending",
            TaskStatus::InProgress => "in_progress",
            TaskStatus::Completed => "completed",
            TaskStatus::Abandoned => return None,
        };
        Some(json!({"content": task.content, "priority": "medium", "status": status}))
    };
    let entries: Vec<Value> =
        phases.iter().flat_map(|phase| &phase.tasks).filter_map(entry).collect();
    json!({"sessionUpdate": "plan", "entries": entries})
}

fn chunk(word: &str, text: &str) -> Value {
    json!({"sessionUpdate": word, "content": {"type": "text", "text": text}})
}

fn update(id: &str, mut fields: Value) -> Value {
    fields["sessionUpdate"] = json!("tool_call_update");
    fields["toolCallId"] = json!(id);
    fields
}

fn content_block(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { data, mime_type } => {
            json!({"type": "image", "data": data, "mimeType": mime_type})
        }
    }
}

fn content(block: &Value) -> Value {
    json!({"type": "content", "content": block})
}

/// A text that is shown as it is: editors read texts as Markdown.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().chars().take_while(|c| *c == '`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn as_it_is(text: &str) -> Value {
    content(&json!({"type": "text", "text": fenced("", text)}))
}
