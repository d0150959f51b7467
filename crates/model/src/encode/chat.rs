//! Chat Completions, with the deviations of servers as data.

use serde_json::{Map, Value, json};

use super::{max_output, readable, schema, wire_id};
use crate::message::{AssistantMessage, Block, Message, Part};
use crate::request::{CacheLife, Request, ThinkingStyle, ToolChoice, ToolSpec};

pub(super) fn body(request: &Request, messages: &[Message]) -> Value {
    let quirks = &request.model.quirks;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model.id));
    body.insert("stream".to_owned(), json!(true));
    if quirks.stream_options {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    body.insert("messages".to_owned(), Value::Array(conversation(request, messages)));
    body.insert(quirks.max_tokens_field.clone(), json!(max_output(request)));
    let is_thinking = request.model.thinking == ThinkingStyle::Effort;
    if let Some(effort) = request.effort
        && is_thinking
    {
        let effort = request.model.nearest_effort(effort).word();
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
    if let Some(temperature) = request.temperature
        && request.model.temperature
    {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(key) = &request.cache_key
        && quirks.prompt_cache_key
        && request.cache != CacheLife::Off
    {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
        let choice = match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::Never => Some(json!("none")),
            ToolChoice::Required => Some(json!("required")),
            ToolChoice::Tool(name) => Some(json!({"type": "function", "function": {"name": name}})),
        };
        if let Some(choice) = choice {
            body.insert("tool_choice".to_owned(), choice);
        }
    }
    Value::Object(body)
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, .. } = tool;
    let function = json!({"name": name, "description": description, "parameters": schema(tool)});
    json!({"type": "function", "function": function})
}

fn conversation(request: &Request, messages: &[Message]) -> Vec<Value> {
    let mut wire = Vec::new();
    if !request.system.trim().is_empty() {
        wire.push(json!({"role": request.model.quirks.system_role, "content": request.system}));
    }
    // Results are text; their images come behind the last of them, as from the user.
    let mut images = Vec::new();
    for message in messages {
        if !matches!(message, Message::ToolResult(_)) {
            flush(&mut images, &mut wire);
        }
        match message {
            Message::User(user) => {
                let content = content(&readable(&user.content, request));
                wire.push(json!({"role": "user", "content": content}));
            }
            Message::Assistant(answer) => wire.extend(assistant(request, answer)),
            Message::ToolResult(result) => {
                let parts = readable(&result.content, request);
                let mut text = result.text();
                let pictures = parts.iter().filter(|part| part.as_text().is_none());
                images.extend(pictures.map(part));
                if text.is_empty() {
                    let has_image = parts.iter().any(|part| part.as_text().is_none());
                    let words = if has_image { "(see the image below)" } else { "(no output)" };
                    text.push_str(words);
                }
                let id = wire_id(&result.tool_call_id, 40);
                let mut message = json!({"role": "tool", "tool_call_id": id, "content": text});
                if request.model.quirks.tool_result_name {
                    message["name"] = json!(result.tool_name);
                }
                wire.push(message);
            }
        }
    }
    flush(&mut images, &mut wire);
    wire
}

fn flush(images: &mut Vec<Value>, wire: &mut Vec<Value>) {
    if !images.is_empty() {
        let mut content = vec![json!({"type": "text", "text": "Images of the results above:"})];
        content.append(images);
        wire.push(json!({"role": "user", "content": content}));
    }
}

/// One text is a string: not every server reads lists.
fn content(parts: &[Part]) -> Value {
    match parts {
        [Part::Text { text }] => json!(text),
        parts => parts.iter().map(part).collect(),
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"type": "text", "text": text}),
        Part::Image { data, mime_type } => {
            let url = format!("data:{mime_type};base64,{data}");
            json!({"type": "image_url", "image_url": {"url": url}})
        }
    }
}

fn assistant(request: &Request, answer: &AssistantMessage) -> Option<Value> {
    let mut message = Map::from_iter([("role".to_owned(), json!("assistant"))]);
    let texts = answer.content.iter().filter_map(|block| match block {
        Block::Text { text, .. } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let calls: Vec<Value> = answer
        .tool_calls()
        .map(|call| {
            let arguments = Value::Object(call.arguments.clone()).to_string();
            let function = json!({"name": call.name, "arguments": arguments});
            json!({"id": wire_id(&call.id, 40), "type": "function", "function": function})
        })
        .collect();
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".to_owned(), content);
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    for block in &answer.content {
        match block {
            // Some demand it with calls, others refuse it: it goes where it came from.
            Block::Thinking { thinking, opaque: Some(opaque) } => {
                let field = opaque.get("field").and_then(Value::as_str);
                let wanted = request.model.quirks.thinking_field.as_deref().or(field);
                if let Some(field) = wanted
                    && !thinking.is_empty()
                {
                    message.insert(field.to_owned(), json!(thinking));
                }
            }
            Block::Opaque { value } => {
                if let Some(details) = value.get("reasoning_details") {
                    message.insert("reasoning_details".to_owned(), details.clone());
                }
            }
            _ => {}
        }
    }
    Some(Value::Object(message))
}
