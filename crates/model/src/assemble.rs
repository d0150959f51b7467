//! Events to one message.

use serde_json::{Map, Value};

use crate::event::{BlockStart, Event, StopReason, Usage};
use crate::failure::Failure;
use crate::message::{AssistantMessage, Block, ToolCall};
use crate::partial::complete_json;
use crate::request::Model;

/// Puts the events of one answer together.
#[derive(Clone, Debug, Default)]
pub struct Assembler {
    blocks: Vec<Growing>,
    response_id: Option<String>,
    usage: Usage,
    end: Option<(StopReason, Option<String>)>,
    failure: Option<Failure>,
}

#[derive(Clone, Debug)]
struct Growing {
    start: BlockStart,
    text: String,
    opaque: Option<Value>,
    is_complete: bool,
}

impl Assembler {
    /// Nothing heard yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one event.
    pub fn push(&mut self, event: &Event) {
        match event {
            Event::Start { id, .. } => self.response_id.clone_from(id),
            Event::BlockStart { block, .. } => self.blocks.push(Growing {
                start: block.clone(),
                text: String::new(),
                opaque: None,
                is_complete: false,
            }),
            Event::Delta { index, text } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    block.text.push_str(text);
                }
            }
            Event::BlockEnd { index, opaque } => {
                if let Some(block) = self.blocks.get_mut(*index) {
                    block.opaque.clone_from(opaque);
                    block.is_complete = true;
                }
            }
            Event::Usage(usage) => self.usage = *usage,
            Event::End { reason, detail } => self.end = Some((*reason, detail.clone())),
            Event::Error(failure) => self.failure = Some(failure.clone()),
        }
    }

    /// The text for the user so far.
    pub fn text(&self) -> String {
        let texts =
            self.blocks.iter().filter(|block| matches!(block.start, BlockStart::Text { .. }));
        texts.map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The tokens so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Whether anything was said.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.text.is_empty() && block.opaque.is_none())
    }

    /// What the arguments of a call say so far.
    pub fn partial_arguments(&self, index: usize) -> Option<Map<String, Value>> {
        match complete_json(&self.blocks.get(index)?.text)? {
            Value::Object(map) => Some(map),
            _ => None,
        }
    }

    /// The failure that ended it.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// The message. An answer without its last event was stopped by somebody here.
    ///
    /// Calls that were cut are left out; so are all calls of an answer that failed.
    pub fn finish(self, model: &Model) -> AssistantMessage {
        let (reason, detail) = match (self.end, &self.failure) {
            (Some(end), _) => end,
            (None, Some(failure)) => (StopReason::Error, Some(failure.message.clone())),
            (None, None) => (StopReason::Aborted, None),
        };
        let is_broken = matches!(reason, StopReason::Error | StopReason::Aborted);
        let is_cut = matches!(reason, StopReason::Length | StopReason::Overflow);
        let content = self.blocks.into_iter().filter_map(|block| block.finish(is_broken, is_cut));
        let content: Vec<Block> = content.collect();
        let has_calls = content.iter().any(|block| matches!(block, Block::ToolCall(_)));
        // What was announced and cut is no call any more.
        let reason = match reason {
            StopReason::ToolUse if !has_calls => StopReason::Stop,
            StopReason::Stop if has_calls => StopReason::ToolUse,
            other => other,
        };
        AssistantMessage {
            content,
            api: Some(model.api),
            provider: model.provider.clone(),
            model: model.id.clone(),
            usage: self.usage,
            stop_reason: reason,
            error_message: detail,
            response_id: self.response_id,
        }
    }
}

impl Growing {
    fn finish(self, is_broken: bool, is_cut: bool) -> Option<Block> {
        let Self { start, text, opaque, is_complete } = self;
        match start {
            BlockStart::Text { refusal } => (!text.is_empty() || opaque.is_some())
                .then_some(Block::Text { text, refusal, opaque }),
            BlockStart::Thinking => (!text.is_empty() || opaque.is_some())
                .then_some(Block::Thinking { thinking: text, opaque }),
            BlockStart::Opaque => opaque.map(|value| Block::Opaque { value }),
            BlockStart::ToolCall { .. } if is_broken || !is_complete => None,
            BlockStart::ToolCall { id, name, raw: true } => {
                let arguments = Map::from_iter([("input".to_owned(), Value::from(text))]);
                Some(Block::ToolCall(ToolCall { id, name, arguments, malformed: None, opaque }))
            }
            BlockStart::ToolCall { id, name, raw: false } => {
                let (arguments, malformed) = match serde_json::from_str(&text) {
                    Ok(Value::Object(map)) => (map, None),
                    // The limit of output struck inside the arguments, or before them.
                    Err(_) if is_cut => return None,
                    _ if text.trim().is_empty() => (Map::new(), None),
                    _ => (Map::new(), Some(text)),
                };
                Some(Block::ToolCall(ToolCall { id, name, arguments, malformed, opaque }))
            }
        }
    }
}
