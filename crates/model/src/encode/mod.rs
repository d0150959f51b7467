//! Requests to the JSON bodies that vendors document: pure.
//!
//! Each format has its own rules about what may follow what. [`pair_calls`] makes any conversation
//! one that all of them accept; the encoders then only write it down.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::event::StopReason;
use crate::message::{AssistantMessage, Block, Message, Part, ToolResult, WireFormat};
use crate::request::{Request, ToolInput, ToolSpec};

/// Why a request cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A tool has a name that vendors refuse.
    #[error("tool name {0:?} is not accepted by models: use 1 to 64 letters, digits, `_` or `-`")]
    ToolName(String),
    /// Two tools have one name.
    #[error("two tools are called {0:?}: names must differ")]
    SameToolName(String),
    /// The schema of a tool is no object.
    #[error("the schema of tool {0:?} must be a JSON object with \"type\": \"object\"")]
    ToolSchema(String),
    /// There is nothing to answer.
    #[error("the conversation has no message that a model could answer")]
    Empty,
}

/// The body of a request in the wire format of its model.
pub fn encode(request: &Request) -> Result<Value, EncodeError> {
    check_tools(&request.tools)?;
    let messages = pair_calls(&request.messages, request);
    if messages.is_empty() {
        return Err(EncodeError::Empty);
    }
    Ok(match request.model.api {
        WireFormat::Anthropic => anthropic::body(request, &messages),
        WireFormat::Responses => responses::body(request, &messages),
        WireFormat::Chat => chat::body(request, &messages),
        WireFormat::Gemini => gemini::body(request, &messages),
    })
}

fn check_tools(tools: &[ToolSpec]) -> Result<(), EncodeError> {
    let mut names = HashSet::new();
    for tool in tools {
        let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if tool.name.is_empty() || tool.name.len() > 64 || !tool.name.chars().all(is_good) {
            return Err(EncodeError::ToolName(tool.name.clone()));
        }
        if !names.insert(&tool.name) {
            return Err(EncodeError::SameToolName(tool.name.clone()));
        }
        if let ToolInput::Schema(schema) = &tool.input
            && schema.get("type").and_then(Value::as_str) != Some("object")
        {
            return Err(EncodeError::ToolSchema(tool.name.clone()));
        }
    }
    Ok(())
}

/// What stands for a result that nobody has.
const NO_RESULT: &str = "No result of this call was recorded: it may or may not have run.";
/// What stands before an answer with which a conversation would begin.
const CONTINUED: &str = "(The beginning of this conversation was left out.)";

/// The conversation as all vendors accept it:
///
/// - behind each answer with calls stands one result for each call, in the order of the calls; a
///   missing one is made up and says so, one without its call is left out;
/// - an answer that failed is left out, and of one that was stopped only the text is kept;
/// - it begins with the user, and nothing in it is empty.
pub fn pair_calls(messages: &[Message], request: &Request) -> Vec<Message> {
    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    for message in messages {
        if let Message::ToolResult(result) = message {
            results.entry(&result.tool_call_id).or_insert(result);
        }
    }
    let mut paired = Vec::with_capacity(messages.len());
    let mut called = HashSet::new();
    for message in messages {
        match message {
            Message::User(user) => {
                let is_said = |part: &&Part| part.as_text().is_none_or(|t| !t.trim().is_empty());
                let content: Vec<Part> = user.content.iter().filter(is_said).cloned().collect();
                add_user(&mut paired, content);
            }
            Message::Assistant(answer) => {
                let answer = sendable(answer, request, &mut called);
                if answer.content.is_empty() {
                    continue;
                }
                if paired.is_empty() {
                    paired.push(Message::user(CONTINUED));
                }
                let found: Vec<Message> = answer
                    .tool_calls()
                    .map(|call| {
                        let result = results.get(call.id.as_str());
                        Message::ToolResult(result.map_or_else(
                            || ToolResult {
                                tool_call_id: call.id.clone(),
                                tool_name: call.name.clone(),
                                content: vec![Part::text(NO_RESULT)],
                                is_error: true,
                                details: None,
                            },
                            |&result| {
                                let mut result = result.clone();
                                result.tool_name.clone_from(&call.name);
                                result
                            },
                        ))
                    })
                    .collect();
                paired.push(Message::Assistant(answer));
                paired.extend(found);
            }
            // Placed behind its call.
            Message::ToolResult(_) => {}
        }
    }
    paired
}

/// Messages of the user that follow each other are one.
fn add_user(paired: &mut Vec<Message>, content: Vec<Part>) {
    if content.is_empty() {
        return;
    }
    match paired.last_mut() {
        Some(Message::User(last)) => last.content.extend(content),
        _ => paired.push(Message::User(crate::message::UserMessage { content })),
    }
}

/// An answer without what cannot be sent to the model that is asked.
fn sendable<'a>(
    answer: &'a AssistantMessage,
    request: &Request,
    called: &mut HashSet<&'a str>,
) -> AssistantMessage {
    let model = &request.model;
    // A request that failed was sent again: what came of the first is not part of the conversation.
    if answer.stop_reason == StopReason::Error {
        return AssistantMessage { content: Vec::new(), ..answer.clone() };
    }
    let is_own = answer.is_from(model.api, &model.provider, &model.id) && !answer.is_broken();
    let blocks = answer.content.iter().filter_map(|block| match block {
        Block::Text { text, refusal, opaque } => {
            let opaque = opaque.clone().filter(|_| is_own);
            let is_said = !text.trim().is_empty() || opaque.is_some();
            is_said.then(|| Block::Text { text: text.clone(), refusal: *refusal, opaque })
        }
        Block::Thinking { opaque: None, .. } | Block::Opaque { .. } | Block::Thinking { .. }
            if !is_own =>
        {
            None
        }
        Block::ToolCall(_) if answer.is_broken() => None,
        Block::ToolCall(call) => {
            // A second call with one name cannot be told from the first.
            called.insert(&call.id).then(|| {
                let mut call = call.clone();
                call.opaque = call.opaque.filter(|_| is_own);
                Block::ToolCall(call)
            })
        }
        other => Some(other.clone()),
    });
    AssistantMessage { content: blocks.collect(), ..answer.clone() }
}

/// A name of a call that a vendor accepts: the same for a call and its result, and another one for
/// another call.
fn wire_id(id: &str, longest: usize) -> String {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= longest && id.chars().all(is_good) {
        return id.to_owned();
    }
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let kept = id.chars().filter(|&c| is_good(c)).take(longest - 17);
    format!("{}_{hash:016x}", kept.collect::<String>())
}

/// Text in place of an image for a model that reads none.
const NO_IMAGES: &str = "[an image was left out: this model reads no images]";

/// What is sent of a list of parts to a model that may read no images.
fn readable(parts: &[Part], request: &Request) -> Vec<Part> {
    let replace = |part: &Part| match part {
        Part::Image { .. } if !request.model.images => Part::text(NO_IMAGES),
        other => other.clone(),
    };
    parts.iter().map(replace).collect()
}

/// The schema of a tool; that of a tool with raw input where there is no such thing.
fn schema(tool: &ToolSpec) -> Value {
    match &tool.input {
        ToolInput::Schema(schema) => schema.clone(),
        ToolInput::Raw { .. } => serde_json::json!({
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": false,
        }),
    }
}

fn max_output(request: &Request) -> u64 {
    request.max_output.unwrap_or(request.model.max_output).min(request.model.max_output).max(1)
}
