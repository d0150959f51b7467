//! What an agent does, as updates of its session.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    ClientCapabilities, CompactionStatus, CompactionUpdate, ContentBlock, ContentChunk,
    ImageContent, Notice, NoticeSeverity, SessionUpdate, ToolCall as ShownCall, ToolCallContent,
    ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind, UsageUpdate,
};
use serde_json::Value;
use umbo_agent::{AgentEvent, AgentMessage};
use umbo_model::{AssistantMessage, BlockStart, Event, Part, ToolCall, ToolResult};

use super::calls::{CallNames, When, kind_of, look};

/// What an editor can show beside the usual.
#[derive(Clone, Copy, Default)]
pub(super) struct Shows {
    compactions: bool,
    notices: bool,
}

impl Shows {
    pub(super) fn of(client: &ClientCapabilities) -> Self {
        let session = client.session.as_ref();
        Self {
            compactions: session.is_some_and(|session| session.compaction.is_some()),
            notices: session.is_some_and(|session| session.notices.is_some()),
        }
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
    jobs: HashMap<String, (ToolCallId, String)>,
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
    pub(super) fn take(&mut self, event: &AgentEvent) -> Vec<SessionUpdate> {
        match event {
            AgentEvent::TurnStart { .. } => {
                self.blocks.clear();
                self.announced.clear();
                Vec::new()
            }
            AgentEvent::Model(event) => self.take_model(event).into_iter().collect(),
            AgentEvent::AnswerLost(_) => {
                self.blocks.clear();
                let lost = std::mem::take(&mut self.announced);
                lost.iter().map(|call| self.status(call, ToolCallStatus::Failed)).collect()
            }
            // What the user said the editor has shown.
            AgentEvent::Message { message, .. } => match &**message {
                AgentMessage::User(_) => Vec::new(),
                AgentMessage::Assistant(answer) => self.usage(answer).into_iter().collect(),
                message => self.message(message),
            },
            AgentEvent::ToolStart { call, .. } => vec![self.start(call)],
            AgentEvent::ToolProgress { call_id, text } => {
                let fields = ToolCallUpdateFields::new().content(vec![fenced(text)]);
                vec![update(self.names.name(call_id), fields)]
            }
            AgentEvent::Retry { wait, failure } => self.notice(
                NoticeSeverity::Warning,
                format!("The model is asked again in {:.0} s", wait.as_secs_f64().ceil()),
                Some(failure.message.clone()),
            ),
            AgentEvent::Fallback { model } => {
                self.notice(NoticeSeverity::Info, format!("From now on {model} is asked"), None)
            }
            AgentEvent::CompactionStart => {
                self.compactions += 1;
                self.compaction(CompactionStatus::InProgress)
            }
            AgentEvent::CompactionEnd { .. } => self.compaction(CompactionStatus::Completed),
            AgentEvent::Sleeping { running } => {
                let text = format!("Waiting for {running} jobs in the background");
                self.notice(NoticeSeverity::Info, text, None)
            }
        }
    }

    fn take_model(&mut self, event: &Event) -> Option<SessionUpdate> {
        match event {
            Event::BlockStart { index, block } => {
                if self.blocks.len() <= *index {
                    self.blocks.resize(index + 1, BlockStart::Opaque);
                }
                self.blocks[*index] = block.clone();
                let BlockStart::ToolCall { id, name, .. } = block else { return None };
                self.announced.push(id.clone());
                let shown = ShownCall::new(self.names.begin(id), name.clone());
                let shown = shown.name(name.clone()).kind(kind_of(name));
                Some(SessionUpdate::ToolCall(shown.status(ToolCallStatus::Pending)))
            }
            Event::Delta { index, text } => match self.blocks.get(*index)? {
                BlockStart::Text { .. } => {
                    Some(SessionUpdate::AgentMessageChunk(ContentChunk::new(text.clone().into())))
                }
                BlockStart::Thinking => {
                    Some(SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.clone().into())))
                }
                BlockStart::ToolCall { .. } | BlockStart::Opaque => None,
            },
            _ => None,
        }
    }

    /// A call runs now.
    fn start(&mut self, call: &ToolCall) -> SessionUpdate {
        let is_announced = self.announced.contains(&call.id);
        self.announced.retain(|known| *known != call.id);
        if !is_announced {
            self.names.begin(&call.id);
        }
        self.shown(call, When::Before, ToolCallStatus::InProgress, is_announced)
    }

    fn shown(
        &self,
        call: &ToolCall,
        when: When,
        status: ToolCallStatus,
        is_announced: bool,
    ) -> SessionUpdate {
        let look = look(call, &self.directory, when);
        let input = Value::Object(call.arguments.clone());
        let id = self.names.name(&call.id);
        if is_announced {
            let fields = ToolCallUpdateFields::new()
                .title(look.title)
                .kind(look.kind)
                .status(status)
                .locations(look.locations)
                .content(look.changes)
                .raw_input(input);
            return update(id, fields);
        }
        SessionUpdate::ToolCall(
            ShownCall::new(id, look.title)
                .name(call.name.clone())
                .kind(look.kind)
                .status(status)
                .locations(look.locations)
                .content(look.changes)
                .raw_input(input),
        )
    }

    fn status(&self, call: &str, status: ToolCallStatus) -> SessionUpdate {
        update(self.names.name(call), ToolCallUpdateFields::new().status(status))
    }

    fn usage(&self, answer: &AssistantMessage) -> Option<SessionUpdate> {
        let used = answer.usage.context();
        (used > 0 && self.window > 0)
            .then(|| SessionUpdate::UsageUpdate(UsageUpdate::new(used, self.window)))
    }

    fn notice(
        &self,
        severity: NoticeSeverity,
        title: String,
        more: Option<String>,
    ) -> Vec<SessionUpdate> {
        if !self.shows.notices {
            return Vec::new();
        }
        vec![SessionUpdate::Notice(Notice::new(severity, title).description(more))]
    }

    fn compaction(&self, status: CompactionStatus) -> Vec<SessionUpdate> {
        if !self.shows.compactions {
            return Vec::new();
        }
        let name = format!("compaction-{}", self.compactions);
        vec![SessionUpdate::CompactionUpdate(CompactionUpdate::new(name, status))]
    }

    /// A message that is in the session, whole.
    pub(super) fn message(&mut self, message: &AgentMessage) -> Vec<SessionUpdate> {
        match message {
            AgentMessage::User(user) => {
                let chunk = |part: &Part| ContentChunk::new(content_block(part));
                user.content
                    .iter()
                    .map(|part| SessionUpdate::UserMessageChunk(chunk(part)))
                    .collect()
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
    fn answer(&mut self, answer: &AssistantMessage) -> Vec<SessionUpdate> {
        let status =
            if answer.is_broken() { ToolCallStatus::Failed } else { ToolCallStatus::InProgress };
        let mut updates = Vec::new();
        for block in &answer.content {
            match block {
                umbo_model::Block::Text { text, .. } if !text.is_empty() => updates
                    .push(SessionUpdate::AgentMessageChunk(ContentChunk::new(text.clone().into()))),
                umbo_model::Block::Thinking { thinking, .. } if !thinking.is_empty() => updates
                    .push(SessionUpdate::AgentThoughtChunk(ContentChunk::new(
                        thinking.clone().into(),
                    ))),
                umbo_model::Block::ToolCall(call) => {
                    self.names.begin(&call.id);
                    updates.push(self.shown(call, When::Past, status, false));
                }
                _ => {}
            }
        }
        updates
    }

    fn result(&mut self, result: &ToolResult) -> SessionUpdate {
        self.announced.retain(|known| *known != result.tool_call_id);
        let id = self.names.name(&result.tool_call_id);
        let kind = kind_of(&result.tool_name);
        let text = result.text();
        if let Some(job) = result.details.as_ref().and_then(|details| details["job"].as_str()) {
            self.jobs.insert(job.to_owned(), (id.clone(), text.clone()));
        }
        let is_error = result.is_error;
        let status = if is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let mut fields = ToolCallUpdateFields::new().status(status);
        // The changes of an edit that was made say more than its words.
        if is_error || kind != ToolKind::Edit {
            fields = fields.content(match kind {
                ToolKind::Execute | ToolKind::Read | ToolKind::Search if !text.is_empty() => {
                    vec![fenced(&text)]
                }
                _ => result.content.iter().map(|part| content_block(part).into()).collect(),
            });
        }
        update(id, fields.raw_output(result.details.clone()))
    }

    /// Work in the background has ended: its call says so, else it is a thought.
    fn told(&mut self, text: &str, details: Option<&Value>) -> SessionUpdate {
        let job = details.and_then(|details| details["id"].as_str());
        match job.and_then(|job| self.jobs.remove(job)) {
            Some((call, before)) => {
                let content = vec![fenced(&format!("{before}\n{text}"))];
                update(call, ToolCallUpdateFields::new().content(content))
            }
            None => SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.to_owned().into())),
        }
    }
}

fn update(id: ToolCallId, fields: ToolCallUpdateFields) -> SessionUpdate {
    SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields))
}

fn content_block(part: &Part) -> ContentBlock {
    match part {
        Part::Text { text } => text.clone().into(),
        Part::Image { data, mime_type } => {
            ContentBlock::Image(ImageContent::new(data.clone(), mime_type.clone()))
        }
    }
}

/// A text that is shown as it is: editors read texts as Markdown.
fn fenced(text: &str) -> ToolCallContent {
    let longest = text
        .lines()
        .map(|line| line.trim_start().chars().take_while(|c| *c == '`').count())
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n')).into()
}
