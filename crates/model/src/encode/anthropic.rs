//! Anthropic Messages.

use serde_json::{Map, Value, json};

use super::{max_output, readable, schema, wire_id};
use crate::message::{Block, Message, Part};
use crate::request::{CacheLife, Effort, Request, ThinkingStyle, ToolChoice, ToolSpec};

/// The least that thinking by a number may have.
const LEAST_BUDGET: u64 = 1_024;

pub(super) fn body(request: &Request, messages: &[Message]) -> Value {
    let mark = cache_mark(request.cache);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model.id));
    body.insert("max_tokens".to_owned(), json!(max_output(request)));
    body.insert("stream".to_owned(), json!(true));
    if !request.system.trim().is_empty() {
        let mut block = json!({"type": "text", "text": request.system});
        put_mark(&mut block, mark.as_ref());
        body.insert("system".to_owned(), json!([block]));
    }
    body.insert(
        "messages".to_owned(),
        Value::Array(conversation(request, messages, mark.as_ref())),
    );
    let is_thinking = add_thinking(request, &mut body);
    add_tools(request, mark.as_ref(), is_thinking, &mut body);
    if let Some(temperature) = request.temperature
        && request.model.temperature
        && !is_thinking
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    Value::Object(body)
}

fn cache_mark(life: CacheLife) -> Option<Value> {
    match life {
        CacheLife::Off => None,
        CacheLife::Short => Some(json!({"type": "ephemeral"})),
        CacheLife::Long => Some(json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

fn put_mark(block: &mut Value, mark: Option<&Value>) {
    if let (Some(block), Some(mark)) = (block.as_object_mut(), mark) {
        block.insert("cache_control".to_owned(), mark.clone());
    }
}

fn add_tools(
    request: &Request,
    mark: Option<&Value>,
    is_thinking: bool,
    body: &mut Map<String, Value>,
) {
    if request.tools.is_empty() {
        return;
    }
    let tool = |tool: &ToolSpec| {
        let ToolSpec { name, description, .. } = tool;
        json!({"name": name, "description": description, "input_schema": schema(tool)})
    };
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    if let Some(last) = tools.last_mut() {
        put_mark(last, mark);
    }
    body.insert("tools".to_owned(), Value::Array(tools));
    let choice = match &request.tool_choice {
        ToolChoice::Auto => return,
        ToolChoice::Never => json!({"type": "none"}),
        // With thinking, a call cannot be forced.
        ToolChoice::Required | ToolChoice::Tool(_) if is_thinking => return,
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
    };
    body.insert("tool_choice".to_owned(), choice);
}

/// Whether the model is told to think.
fn add_thinking(request: &Request, body: &mut Map<String, Value>) -> bool {
    let Some(effort) = request.effort else {
        if request.model.thinking == ThinkingStyle::Effort {
            body.insert("thinking".to_owned(), json!({"type": "disabled"}));
        }
        return false;
    };
    match request.model.thinking {
        ThinkingStyle::None => false,
        ThinkingStyle::Effort => {
            let thinking = json!({"type": "adaptive", "display": "summarized"});
            body.insert("thinking".to_owned(), thinking);
            let effort = request.model.nearest_effort(effort.max(Effort::Low));
            body.insert("output_config".to_owned(), json!({"effort": effort.word()}));
            true
        }
        ThinkingStyle::Budget => {
            // The budget is part of the output and must leave some of it.
            let budget = effort.budget().min(max_output(request) / 2);
            if budget < LEAST_BUDGET {
                return false;
            }
            let thinking = json!({"type": "enabled", "budget_tokens": budget});
            body.insert("thinking".to_owned(), thinking);
            true
        }
    }
}

fn conversation(request: &Request, messages: &[Message], mark: Option<&Value>) -> Vec<Value> {
    let mut wire: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User(user) => ("user", parts(&readable(&user.content, request))),
            Message::Assistant(answer) => {
                ("assistant", answer.content.iter().filter_map(block).collect())
            }
            Message::ToolResult(result) => {
                let mut block = json!({
                    "type": "tool_result",
                    "tool_use_id": wire_id(&result.tool_call_id, 64),
                });
                let content = parts(&readable(&result.content, request));
                if !content.is_empty() {
                    block["content"] = Value::Array(content);
                }
                if result.is_error {
                    block["is_error"] = json!(true);
                }
                ("user", vec![block])
            }
        };
        match wire.last_mut() {
            _ if blocks.is_empty() => {}
            // All results of one turn, and what the user then says, are one message.
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => wire.push((role, blocks)),
        }
    }
    // The newest and the one before it: the next request finds the cache of this one.
    let users = wire.iter_mut().rev().filter(|(role, _)| *role == "user").take(2);
    for last in users.filter_map(|(_, content)| content.last_mut()) {
        put_mark(last, mark);
    }
    wire.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn parts(parts: &[Part]) -> Vec<Value> {
    let wire = |part: &Part| match part {
        Part::Text { text } if text.trim().is_empty() => None,
        Part::Text { text } => Some(json!({"type": "text", "text": text})),
        Part::Image { data, mime_type } => Some(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": mime_type, "data": data},
        })),
    };
    parts.iter().filter_map(wire).collect()
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text, .. } => {
            (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
        }
        // Thinking without its signature is refused.
        Block::Thinking { thinking, opaque } => {
            let signature = opaque.as_ref()?.get("signature")?.as_str()?;
            Some(json!({"type": "thinking", "thinking": thinking, "signature": signature}))
        }
        Block::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": wire_id(&call.id, 64),
            "name": call.name,
            "input": call.arguments,
        })),
        Block::Opaque { value } => Some(value.clone()),
    }
}
