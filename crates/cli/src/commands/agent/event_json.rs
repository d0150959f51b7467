//! Events as lines of JSON, for who reads `umbo agent -p --json`.

use serde_json::{Value, json};
use umbo_agent::{AgentEvent, AgentMessage, CompactionReason};
use umbo_model::{BlockStart, Event};

/// Which block of an answer is what, while it comes.
#[derive(Default)]
pub(super) struct EventLines {
    blocks: Vec<BlockStart>,
}

impl EventLines {
    /// The line of an event; some have none.
    pub(super) fn line(&mut self, event: &AgentEvent) -> Option<Value> {
        Some(match event {
            AgentEvent::TurnStart { turn } => {
                self.blocks.clear();
                json!({"type": "turn", "turn": turn})
            }
            AgentEvent::Model(event) => return self.model_line(event),
            AgentEvent::AnswerLost(failure) => {
                self.blocks.clear();
                json!({"type": "answer_lost", "reason": failure.message})
            }
            AgentEvent::Message { entry, message } => message_line(entry, message)?,
            AgentEvent::ToolStart { call, key } => json!({
                "type": "tool_call", "id": call.id, "name": call.name,
                "arguments": call.arguments, "key": key,
            }),
            AgentEvent::ToolProgress { call_id, text } => {
                json!({"type": "tool_progress", "id": call_id, "tail": text})
            }
            AgentEvent::Retry { wait, failure } => json!({
                "type": "retry", "wait_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                "reason": failure.message,
            }),
            AgentEvent::Fallback { model } => json!({"type": "model", "model": model}),
            AgentEvent::CompactionStart { reason } => {
                json!({"type": "compaction_start", "reason": compaction_word(*reason)})
            }
            AgentEvent::CompactionFailed { problem } => {
                json!({"type": "compaction_failed", "reason": problem})
            }
            AgentEvent::CompactionEnd { before, after } => {
                json!({"type": "compaction_end", "tokens_before": before, "tokens_after": after})
            }
            AgentEvent::Rewound { report } => json!({"type": "rewound", "report": report}),
            AgentEvent::Todos(phases) => json!({"type": "todos", "phases": phases}),
            AgentEvent::Sleeping { running } => json!({"type": "sleeping", "running": running}),
        })
    }

    fn model_line(&mut self, event: &Event) -> Option<Value> {
        match event {
            Event::BlockStart { index, block } => {
                if self.blocks.len() <= *index {
                    self.blocks.resize(index + 1, BlockStart::Opaque);
                }
                self.blocks[*index] = block.clone();
                None
            }
            Event::Delta { index, text } => match self.blocks.get(*index)? {
                BlockStart::Text { .. } => Some(json!({"type": "text", "delta": text})),
                BlockStart::Thinking => Some(json!({"type": "thinking", "delta": text})),
                BlockStart::ToolCall { .. } | BlockStart::Opaque => None,
            },
            _ => None,
        }
    }
}

fn message_line(entry: &str, message: &AgentMessage) -> Option<Value> {
    Some(match message {
        AgentMessage::User(user) => {
            let text: Vec<&str> = user.content.iter().filter_map(|part| part.as_text()).collect();
            json!({"type": "user", "entry": entry, "text": text.join("\n")})
        }
        AgentMessage::Assistant(answer) => json!({
            "type": "answer", "entry": entry, "text": answer.text(), "model": answer.model,
            "stop_reason": answer.stop_reason, "usage": answer.usage,
        }),
        AgentMessage::ToolResult(result) => json!({
            "type": "tool_result", "entry": entry, "id": result.tool_call_id,
            "name": result.tool_name, "is_error": result.is_error, "text": result.text(),
            "job": result.details.as_ref().and_then(|details| details.get("job")),
        }),
        AgentMessage::Custom { custom_type, content, details, .. } => {
            let parts = content.clone().into_parts();
            let text: Vec<&str> = parts.iter().filter_map(|part| part.as_text()).collect();
            json!({
                "type": "note", "entry": entry, "kind": custom_type, "text": text.join("\n"),
                "job": details.as_ref().and_then(|details| details.get("id")),
            })
        }
        _ => return None,
    })
}

/// The word for why a conversation is summarised.
pub(super) fn compaction_word(reason: CompactionReason) -> &'static str {
    match reason {
        CompactionReason::Threshold => "threshold",
        CompactionReason::Overflow => "overflow",
        CompactionReason::Asked => "asked",
    }
}
