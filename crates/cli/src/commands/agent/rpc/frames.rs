//! Events as the frames of the protocol.

use std::collections::HashMap;

use serde_json::{Value, json};
use umbo_agent::{AgentEvent, AgentMessage};
use umbo_model::{BlockStart, Event};

use super::super::event_json::compaction_word;
use super::state::todos;

/// Makes frames of events, in the order that hosts know.
#[derive(Default)]
pub(super) struct Frames {
    blocks: Vec<BlockStart>,
    /// What was said in each block.
    texts: Vec<String>,
    /// The answer of the turn that is open, and its results.
    turn: Option<(Value, Vec<Value>)>,
    /// The calls that run: tool and arguments, by name.
    calls: HashMap<String, (String, Value)>,
    /// A turn was announced before its prompt.
    is_announced: bool,
    retries: u32,
    most_retries: u32,
    /// Another model was taken, and has not answered yet.
    fallback: Option<String>,
}

impl Frames {
    pub(super) fn new(most_retries: u32) -> Self {
        Self { most_retries, ..Self::default() }
    }

    /// A run begins.
    pub(super) fn begin(&mut self) -> Vec<Value> {
        self.is_announced = true;
        vec![json!({"type": "agent_start"}), json!({"type": "turn_start"})]
    }

    /// It is over; why it failed, if it did.
    pub(super) fn end(&mut self, messages: &[Value], failed: Option<&str>) -> Vec<Value> {
        let mut frames = self.end_turn();
        let attempt = std::mem::take(&mut self.retries);
        if attempt > 0 {
            frames.push(json!({
                "type": "auto_retry_end", "success": false, "attempt": attempt,
                "finalError": failed.unwrap_or("Retry cancelled"),
            }));
        }
        frames.push(json!({"type": "agent_end", "messages": messages}));
        frames
    }

    fn end_turn(&mut self) -> Vec<Value> {
        let turn = self.turn.take();
        turn.into_iter()
            .map(|(message, results)| {
                json!({"type": "turn_end", "message": message, "toolResults": results})
            })
            .collect()
    }

    /// The frames of an event.
    pub(super) fn take(&mut self, event: &AgentEvent) -> Vec<Value> {
        match event {
            AgentEvent::TurnStart { .. } => {
                let mut frames = self.end_turn();
                if !std::mem::take(&mut self.is_announced) {
                    frames.push(json!({"type": "turn_start"}));
                }
                frames
            }
            AgentEvent::Model(event) => self.take_model(event),
            AgentEvent::AnswerLost(_) => Vec::new(),
            AgentEvent::Message { message, .. } => self.take_message(message),
            AgentEvent::ToolStart { call, .. } => {
                let arguments = json!(call.arguments);
                self.calls.insert(call.id.clone(), (call.name.clone(), arguments));
                vec![json!({
                    "type": "tool_execution_start", "toolCallId": call.id, "toolName": call.name,
                    "args": call.arguments,
                })]
            }
            AgentEvent::ToolProgress { call_id, text } => {
                let (name, arguments) = self.calls.get(call_id).cloned().unwrap_or_default();
                vec![json!({
                    "type": "tool_execution_update", "toolCallId": call_id, "toolName": name,
                    "args": arguments,
                    "partialResult": {"content": [{"type": "text", "text": text}]},
                })]
            }
            AgentEvent::Retry { wait, failure } => {
                self.retries += 1;
                vec![json!({
                    "type": "auto_retry_start", "attempt": self.retries,
                    "maxAttempts": self.most_retries,
                    "delayMs": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                    "errorMessage": failure.message,
                })]
            }
            AgentEvent::Fallback { model } => {
                self.fallback = Some(model.clone());
                vec![json!({"type": "retry_fallback_applied", "model": model})]
            }
            AgentEvent::CompactionStart { reason } => {
                let reason = compaction_word(*reason);
                vec![json!({"type": "auto_compaction_start", "reason": reason})]
            }
            AgentEvent::CompactionFailed { problem } => vec![json!({
                "type": "auto_compaction_end", "aborted": true, "willRetry": false,
                "errorMessage": problem,
            })],
            AgentEvent::CompactionEnd { before, after } => vec![json!({
                "type": "auto_compaction_end", "aborted": false, "willRetry": false,
                "result": {"tokensBefore": before, "tokensAfter": after},
            })],
            AgentEvent::Sleeping { running } => {
                vec![json!({"type": "jobs_waiting", "running": running})]
            }
            AgentEvent::Rewound { report } => {
                vec![json!({"type": "rewound", "report": report})]
            }
            AgentEvent::Todos(phases) => {
                vec![json!({"type": "todo_update", "todoPhases": todos(phases)})]
            }
        }
    }

    fn take_model(&mut self, event: &Event) -> Vec<Value> {
        // What is there so far comes with the end: to repeat it with each piece grows without bound.
        let update = |event: Value| {
            vec![json!({
                "type": "message_update", "assistantMessageEvent": event,
                "message": {"role": "assistant", "content": []},
            })]
        };
        match event {
            Event::Start { .. } => {
                self.blocks.clear();
                self.texts.clear();
                let mut frames = Vec::new();
                let attempt = std::mem::take(&mut self.retries);
                if attempt > 0 {
                    frames.push(json!({
                        "type": "auto_retry_end", "success": true, "attempt": attempt,
                    }));
                }
                let message = json!({"role": "assistant", "content": []});
                frames.push(json!({"type": "message_start", "message": message}));
                frames
            }
            Event::BlockStart { index, block } => {
                if self.blocks.len() <= *index {
                    self.blocks.resize(index + 1, BlockStart::Opaque);
                    self.texts.resize(index + 1, String::new());
                }
                self.blocks[*index] = block.clone();
                match self.word(*index) {
                    Some(word) => {
                        update(json!({"type": format!("{word}_start"), "contentIndex": index}))
                    }
                    None => Vec::new(),
                }
            }
            Event::Delta { index, text } => match self.word(*index) {
                Some(word) => {
                    self.texts[*index].push_str(text);
                    update(json!({
                        "type": format!("{word}_delta"), "contentIndex": index, "delta": text,
                    }))
                }
                None => Vec::new(),
            },
            Event::BlockEnd { index, .. } => match (self.word(*index), self.blocks.get(*index)) {
                (Some(word), Some(BlockStart::ToolCall { id, name, .. })) => {
                    let arguments: Value =
                        serde_json::from_str(&self.texts[*index]).unwrap_or_else(|_| json!({}));
                    update(json!({
                        "type": format!("{word}_end"), "contentIndex": index,
                        "toolCall": {"type": "toolCall", "id": id, "name": name, "arguments": arguments},
                    }))
                }
                (Some(word), _) => update(json!({
                    "type": format!("{word}_end"), "contentIndex": index,
                    "content": self.texts[*index],
                })),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn word(&self, index: usize) -> Option<&'static str> {
        match self.blocks.get(index)? {
            BlockStart::Text { .. } => Some("text"),
            BlockStart::Thinking => Some("thinking"),
            BlockStart::ToolCall { .. } => Some("toolcall"),
            BlockStart::Opaque => None,
        }
    }

    fn take_message(&mut self, message: &AgentMessage) -> Vec<Value> {
        let value = serde_json::to_value(message).unwrap_or_default();
        let whole = |value: &Value| {
            vec![
                json!({"type": "message_start", "message": value}),
                json!({"type": "message_end", "message": value}),
            ]
        };
        match message {
            AgentMessage::Assistant(_) => {
                let mut frames = vec![json!({"type": "message_end", "message": value})];
                if let Some(model) = self.fallback.take() {
                    frames.push(json!({"type": "retry_fallback_succeeded", "model": model}));
                }
                self.turn = Some((value, Vec::new()));
                frames
            }
            AgentMessage::ToolResult(result) => {
                self.calls.remove(&result.tool_call_id);
                if let Some((_, results)) = &mut self.turn {
                    results.push(value.clone());
                }
                let mut frames = vec![json!({
                    "type": "tool_execution_end", "toolCallId": result.tool_call_id,
                    "toolName": result.tool_name, "isError": result.is_error,
                    "result": {"content": result.content, "details": result.details},
                })];
                frames.extend(whole(&value));
                frames
            }
            _ => whole(&value),
        }
    }
}
