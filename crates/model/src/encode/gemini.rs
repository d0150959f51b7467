//! Gemini `streamGenerateContent`.

use serde_json::{Map, Value, json};

use super::{max_output, readable, schema};
use crate::message::{AssistantMessage, Block, Message, Part};
use crate::request::{Effort, Request, ThinkingStyle, ToolChoice, ToolSpec};

/// What the vendor accepts in place of a signature, for calls that another model made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &Request, messages: &[Message]) -> Value {
    let mut body = Map::new();
    if !request.system.trim().is_empty() {
        let system = json!({"parts": [{"text": request.system}]});
        body.insert("systemInstruction".to_owned(), system);
    }
    body.insert("contents".to_owned(), Value::Array(conversation(request, messages)));
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools}]));
        let choice = match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::Never => Some(json!({"mode": "NONE"})),
            ToolChoice::Required => Some(json!({"mode": "ANY"})),
            ToolChoice::Tool(name) => Some(json!({"mode": "ANY", "allowedFunctionNames": [name]})),
        };
        if let Some(choice) = choice {
            body.insert("toolConfig".to_owned(), json!({"functionCallingConfig": choice}));
        }
    }
    let mut generation = json!({"maxOutputTokens": max_output(request)});
    if let Some(temperature) = request.temperature
        && request.model.temperature
    {
        generation["temperature"] = json!(temperature);
    }
    if let Some(thinking) = thinking(request) {
        generation["thinkingConfig"] = thinking;
    }
    body.insert("generationConfig".to_owned(), generation);
    Value::Object(body)
}

fn tool(tool: &ToolSpec) -> Value {
    let ToolSpec { name, description, .. } = tool;
    json!({"name": name, "description": description, "parametersJsonSchema": schema(tool)})
}

fn thinking(request: &Request) -> Option<Value> {
    match (request.model.thinking, request.effort) {
        (ThinkingStyle::None, _) | (_, None) => None,
        (ThinkingStyle::Effort, Some(effort)) => {
            // The vendor knows no more than `high`.
            let effort = request.model.nearest_effort(effort.min(Effort::High));
            Some(json!({"includeThoughts": true, "thinkingLevel": effort.word()}))
        }
        (ThinkingStyle::Budget, Some(effort)) => {
            let budget = effort.budget().min(24_576);
            Some(json!({"includeThoughts": true, "thinkingBudget": budget}))
        }
    }
}

fn conversation(request: &Request, messages: &[Message]) -> Vec<Value> {
    let mut wire: Vec<(&str, Vec<Value>)> = Vec::new();
    // Names of ours are not known to the vendor, and so not sent.
    let mut made_up: Vec<&str> = Vec::new();
    for message in messages {
        let (role, new) = match message {
            Message::User(user) => {
                ("user", readable(&user.content, request).iter().map(part).collect())
            }
            Message::Assistant(answer) => {
                for call in answer.tool_calls() {
                    if is_made_up(call.opaque.as_ref()) {
                        made_up.push(&call.id);
                    }
                }
                ("model", answer_parts(request, answer))
            }
            Message::ToolResult(result) => {
                let key = if result.is_error { "error" } else { "output" };
                let mut response = json!({
                    "name": result.tool_name,
                    "response": {key: result.text()},
                });
                if !made_up.contains(&result.tool_call_id.as_str()) {
                    response["id"] = json!(result.tool_call_id);
                }
                let mut parts = vec![json!({"functionResponse": response})];
                let content = readable(&result.content, request);
                parts.extend(content.iter().filter(|part| part.as_text().is_none()).map(part));
                ("user", parts)
            }
        };
        match wire.last_mut() {
            _ if new.is_empty() => {}
            Some((last, parts)) if *last == role => parts.extend(new),
            _ => wire.push((role, new)),
        }
    }
    // Results first: they must stand together right behind their calls.
    for (_, parts) in &mut wire {
        let (results, others): (Vec<Value>, Vec<Value>) =
            parts.drain(..).partition(|part| part.get("functionResponse").is_some());
        parts.extend(results);
        parts.extend(others);
    }
    wire.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn is_made_up(opaque: Option<&Value>) -> bool {
    opaque.is_some_and(|opaque| opaque.get("madeUpId").is_some())
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({"text": text}),
        Part::Image { data, mime_type } => {
            json!({"inlineData": {"mimeType": mime_type, "data": data}})
        }
    }
}

fn answer_parts(request: &Request, answer: &AssistantMessage) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut is_first_call = true;
    for block in &answer.content {
        let (mut part, opaque) = match block {
            Block::Text { text, opaque, .. } => (json!({"text": text}), opaque.as_ref()),
            // Without a signature it says nothing to the vendor.
            Block::Thinking { opaque: None, .. } => continue,
            Block::Thinking { thinking, opaque } => {
                (json!({"text": thinking, "thought": true}), opaque.as_ref())
            }
            Block::ToolCall(call) => {
                let mut function = json!({"name": call.name, "args": call.arguments});
                if !is_made_up(call.opaque.as_ref()) {
                    function["id"] = json!(call.id);
                }
                (json!({"functionCall": function}), call.opaque.as_ref())
            }
            Block::Opaque { value } => (value.clone(), None),
        };
        let signature = opaque.and_then(|opaque| opaque.get("thoughtSignature"));
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature.clone();
        } else if matches!(block, Block::ToolCall(_))
            && is_first_call
            && request.model.thinking == ThinkingStyle::Effort
        {
            part["thoughtSignature"] = json!(FOREIGN_SIGNATURE);
        }
        is_first_call &= !matches!(block, Block::ToolCall(_));
        parts.push(part);
    }
    parts
}
