//! `OpenAI` Responses, without anything stored at the vendor's.

use serde_json::{Map, Value, json};

use super::{max_output, readable, schema, wire_id};
use crate::message::{AssistantMessage, Block, Message, Part, ToolCall};
use crate::request::{CacheLife, Request, ThinkingStyle, ToolChoice, ToolInput, ToolSpec};

pub(super) fn body(request: &Request, messages: &[Message]) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model.id));
    body.insert("stream".to_owned(), json!(true));
    body.insert("store".to_owned(), json!(false));
    if !request.system.trim().is_empty() {
        body.insert("instructions".to_owned(), json!(request.system));
    }
    let mut input = Vec::new();
    for message in messages {
        add_message(request, message, &mut input);
    }
    body.insert("input".to_owned(), Value::Array(input));
    body.insert("max_output_tokens".to_owned(), json!(max_output(request)));
    if request.model.thinking != ThinkingStyle::None {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
        let reasoning = match request.effort {
            Some(effort) => {
                let effort = request.model.nearest_effort(effort).word();
                json!({"effort": effort, "summary": "auto"})
            }
            None => json!({"summary": "auto"}),
        };
        body.insert("reasoning".to_owned(), reasoning);
    } else if let Some(temperature) = request.temperature
        && request.model.temperature
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    add_tools(request, &mut body);
    if let Some(key) = &request.cache_key
        && request.cache != CacheLife::Off
    {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    Value::Object(body)
}

fn add_tools(request: &Request, body: &mut Map<String, Value>) {
    if request.tools.is_empty() {
        return;
    }
    body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    body.insert("parallel_tool_calls".to_owned(), json!(true));
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Never => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => {
            let is_raw =
                |tool: &ToolSpec| tool.name == *name && matches!(tool.input, ToolInput::Raw { .. });
            let kind = if request.tools.iter().any(is_raw) { "custom" } else { "function" };
            json!({"type": kind, "name": name})
        }
    };
    body.insert("tool_choice".to_owned(), choice);
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, input } = tool;
    match input {
        ToolInput::Schema(_) => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": schema(tool),
            "strict": false,
        }),
        ToolInput::Raw { grammar } => {
            let format = match grammar {
                Some(grammar) => {
                    json!({"type": "grammar", "syntax": "lark", "definition": grammar})
                }
                None => json!({"type": "text"}),
            };
            json!({"type": "custom", "name": name, "description": description, "format": format})
        }
    }
}

fn add_message(request: &Request, message: &Message, input: &mut Vec<Value>) {
    match message {
        Message::User(user) => {
            let content = parts(&readable(&user.content, request));
            input.push(json!({"role": "user", "content": content}));
        }
        Message::Assistant(answer) => add_answer(answer, input),
        Message::ToolResult(result) => {
            let id = wire_id(&result.tool_call_id, 64);
            let is_raw = input.iter().any(|item| {
                item["type"] == "custom_tool_call" && item["call_id"].as_str() == Some(&id)
            });
            let kind = if is_raw { "custom_tool_call_output" } else { "function_call_output" };
            let content = readable(&result.content, request);
            let has_image = content.iter().any(|part| part.as_text().is_none());
            let output = if has_image { json!(parts(&content)) } else { json!(result.text()) };
            input.push(json!({"type": kind, "call_id": id, "output": output}));
        }
    }
}

fn parts(parts: &[Part]) -> Vec<Value> {
    let wire = |part: &Part| match part {
        Part::Text { text } => json!({"type": "input_text", "text": text}),
        Part::Image { data, mime_type } => json!({
            "type": "input_image",
            "detail": "auto",
            "image_url": format!("data:{mime_type};base64,{data}"),
        }),
    };
    parts.iter().map(wire).collect()
}

/// Items go back as they came; what came from elsewhere is written anew.
fn add_answer(answer: &AssistantMessage, input: &mut Vec<Value>) {
    // Thinking goes back with what followed it, or not at all; without it, the names of items that
    // tie them to it must go too.
    let has_thinking = |block: &Block| matches!(block, Block::Thinking { .. });
    let is_whole = |block: &Block| match block {
        Block::Thinking { opaque: Some(item), .. } => {
            item["encrypted_content"].as_str().is_some_and(|content| !content.is_empty())
        }
        Block::Thinking { opaque: None, .. } => false,
        _ => true,
    };
    let ends_well = answer.content.last().is_some_and(|last| !has_thinking(last));
    let keeps_thinking = ends_well && answer.content.iter().all(is_whole);
    for block in &answer.content {
        let mut item = match block {
            Block::Thinking { opaque: Some(item), .. } if keeps_thinking => reasoning(item),
            Block::Thinking { .. } => continue,
            Block::Text { opaque: Some(item), .. } if keeps_thinking => item.clone(),
            Block::Text { text, opaque, .. } => short_message(text, opaque.as_ref()),
            Block::ToolCall(call) => function_call(call),
            Block::Opaque { value } => value.clone(),
        };
        let is_message = item["type"] == "message";
        if let Some(map) = item.as_object_mut()
            && !is_message
        {
            map.remove("status");
            if !keeps_thinking {
                map.remove("id");
            }
        }
        input.push(item);
    }
}

/// A message without a name of the vendor's, but with its phase, which must not get lost.
fn short_message(text: &str, item: Option<&Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if let Some(phase) = item.and_then(|item| item.get("phase")).filter(|phase| phase.is_string()) {
        message["phase"] = phase.clone();
    }
    message
}

fn function_call(call: &ToolCall) -> Value {
    let id = wire_id(&call.id, 64);
    match &call.opaque {
        Some(item) if call.malformed.is_none() => {
            let mut item = item.clone();
            item["call_id"] = json!(id);
            item
        }
        _ => json!({
            "type": "function_call",
            "call_id": id,
            "name": call.name,
            "arguments": Value::Object(call.arguments.clone()).to_string(),
        }),
    }
}

/// The official API refuses the raw thinking that other servers put into their items.
fn reasoning(item: &Value) -> Value {
    let mut item = item.clone();
    if let Some(map) = item.as_object_mut() {
        map.remove("content");
        map.entry("summary").or_insert_with(|| json!([]));
    }
    item
}
