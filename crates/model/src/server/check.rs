//! The rules that the vendors document for requests: what breaks one is refused.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::Received;
use crate::message::WireFormat;

type Checked = Result<(), String>;

/// Whether the vendor of a request's format would accept it.
pub fn check_request(received: &Received) -> Checked {
    let body = &received.body;
    let Some(format) = received.format else {
        return Err(format!("there is nothing at {}", received.path));
    };
    if !body.is_object() {
        return Err("the body is no JSON object".to_owned());
    }
    if format != WireFormat::Gemini && body["stream"] != true {
        return Err("stream must be true".to_owned());
    }
    match format {
        WireFormat::Anthropic => anthropic(received, body),
        WireFormat::Responses => responses(body),
        WireFormat::Chat => chat(body),
        WireFormat::Gemini => gemini(received, body),
    }
}

fn require(is_true: bool, what: impl FnOnce() -> String) -> Checked {
    if is_true { Ok(()) } else { Err(what()) }
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>, String> {
    value[key].as_array().ok_or_else(|| format!("{key} must be a list"))
}

fn word<'a>(value: &'a Value, key: &str) -> Result<&'a str, String> {
    value[key].as_str().ok_or_else(|| format!("{key} must be a string in {value}"))
}

fn anthropic(received: &Received, body: &Value) -> Checked {
    require(received.header("anthropic-version").is_some(), || {
        "anthropic-version: missing".into()
    })?;
    require(body["max_tokens"].as_u64().is_some_and(|n| n > 0), || "max_tokens: required".into())?;
    let budget = body["thinking"]["budget_tokens"].as_u64();
    let is_below = budget.is_none_or(|n| n >= 1024 && Some(n) < body["max_tokens"].as_u64());
    require(is_below, || "max_tokens must be greater than thinking.budget_tokens".into())?;
    require(marks(body) <= 4, || {
        "a maximum of 4 blocks with cache_control may be provided".into()
    })?;
    let messages = list(body, "messages")?;
    require(!messages.is_empty(), || "messages: at least one message is required".into())?;
    let mut open: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role = word(message, "role")?;
        require(at > 0 || role == "user", || "messages: first message must be user".into())?;
        let text;
        let content = if let Some(words) = message["content"].as_str() {
            text = vec![json!({"type": "text", "text": words})];
            &text
        } else {
            list(message, "content")?
        };
        require(!content.is_empty(), || format!("messages.{at}: content must not be empty"))?;
        let results: Vec<String> = content
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .filter_map(|block| Some(block["tool_use_id"].as_str()?.to_owned()))
            .collect();
        let all = content.iter().filter(|block| block["type"] == "tool_result").count();
        require(all == results.len(), || format!("messages.{at}: tool_result blocks come first"))?;
        require(same(&open, &results), || {
            format!(
                "messages.{at}: `tool_use` ids {open:?} need their `tool_result`, got {results:?}"
            )
        })?;
        open.clear();
        for block in content {
            match word(block, "type")? {
                "text" => require(!word(block, "text")?.trim().is_empty(), || {
                    format!("messages.{at}: text content blocks must be non-empty")
                })?,
                "thinking" => {
                    word(block, "thinking")?;
                    require(!word(block, "signature")?.is_empty(), || {
                        format!("messages.{at}: Invalid `signature` in `thinking` block")
                    })?;
                }
                "tool_use" => {
                    let id = word(block, "id")?;
                    require(is_id(id, 64), || format!("tool_use.id {id:?}: wrong pattern"))?;
                    require(seen.insert(id.to_owned()), || {
                        format!("`tool_use` ids must be unique: {id}")
                    })?;
                    require(block["input"].is_object(), || "tool_use.input: no object".into())?;
                    require(role == "assistant", || "tool_use of a user".into())?;
                    open.push(id.to_owned());
                }
                _ => {}
            }
        }
    }
    require(open.is_empty(), || format!("`tool_use` ids without `tool_result`: {open:?}"))
}

fn is_id(id: &str, longest: usize) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !id.is_empty() && id.len() <= longest && id.chars().all(is_good)
}

fn same(calls: &[String], results: &[String]) -> bool {
    let sorted = |list: &[String]| {
        let mut sorted = list.to_vec();
        sorted.sort();
        sorted
    };
    sorted(calls) == sorted(results)
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Object(map) => {
            usize::from(map.contains_key("cache_control")) + map.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

fn responses(body: &Value) -> Checked {
    if body["input"].as_str().is_some_and(|text| !text.is_empty()) {
        return Ok(());
    }
    let input = list(body, "input")?;
    require(!input.is_empty(), || "input: empty".into())?;
    let mut calls: HashMap<&str, &str> = HashMap::new();
    let mut answered = HashSet::new();
    for (at, item) in input.iter().enumerate() {
        let kind = item["type"].as_str().unwrap_or("message");
        match kind {
            "function_call" | "custom_tool_call" => {
                let id = word(item, "call_id")?;
                require(id.len() <= 64, || format!("call_id too long: {id}"))?;
                let key = if kind == "function_call" { "arguments" } else { "input" };
                word(item, key)?;
                require(calls.insert(id, kind).is_none(), || format!("two calls {id}"))?;
            }
            "function_call_output" | "custom_tool_call_output" => {
                let id = word(item, "call_id")?;
                let of = kind.strip_suffix("_output");
                require(calls.get(id).copied() == of, || {
                    format!("No tool call found for function call output with call_id {id}.")
                })?;
                require(answered.insert(id), || format!("two outputs for {id}"))?;
            }
            "reasoning" => {
                let next = input.get(at + 1);
                let follows = next.is_some_and(|next| {
                    next["role"] != "user"
                        && !next["type"].as_str().unwrap_or("").ends_with("output")
                });
                require(follows, || {
                    format!(
                        "Item {} of type 'reasoning' was provided without its required following \
                             item.",
                        item["id"]
                    )
                })?;
                require(item.get("content").is_none(), || "reasoning with content".into())?;
            }
            "message" => {
                let is_text = item["content"].is_string();
                require(is_text || !list(item, "content")?.is_empty(), || "empty content".into())?;
            }
            _ => {}
        }
    }
    let open: Vec<_> = calls.keys().filter(|id| !answered.contains(*id)).collect();
    require(open.is_empty(), || format!("No tool output found for function call {open:?}."))
}

fn chat(body: &Value) -> Checked {
    let messages = list(body, "messages")?;
    require(!messages.is_empty(), || "messages: empty".into())?;
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = word(message, "role")?;
        if role == "tool" {
            let id = word(message, "tool_call_id")?;
            let place = open.iter().position(|known| *known == id);
            let Some(place) = place else {
                return Err(format!(
                    "messages.{at}: role 'tool' must follow its 'tool_calls': {id}"
                ));
            };
            open.remove(place);
            continue;
        }
        require(open.is_empty(), || {
            format!("messages.{at}: tool_call_ids did not have response messages: {open:?}")
        })?;
        let calls = message["tool_calls"].as_array();
        let content = &message["content"];
        let is_said = content.is_string() || content.as_array().is_some_and(|c| !c.is_empty());
        require(is_said || calls.is_some(), || format!("messages.{at}: content is missing"))?;
        for call in calls.into_iter().flatten() {
            let id = word(call, "id")?;
            require(id.len() <= 40, || format!("messages.{at}: tool_calls.id too long: {id}"))?;
            let arguments = word(&call["function"], "arguments")?;
            let value: Result<Value, _> = serde_json::from_str(arguments);
            require(value.is_ok(), || format!("arguments are no JSON: {arguments}"))?;
            require(!open.contains(&id), || format!("two calls {id}"))?;
            open.push(id);
        }
    }
    require(open.is_empty(), || format!("tool_call_ids without response messages: {open:?}"))
}

fn gemini(received: &Received, body: &Value) -> Checked {
    require(received.path.contains("alt=sse"), || "only streams of events are sent here".into())?;
    let contents = list(body, "contents")?;
    require(!contents.is_empty(), || "contents is not specified".into())?;
    let mut open = 0;
    let mut last = "";
    for (at, content) in contents.iter().enumerate() {
        let role = word(content, "role")?;
        require(role == "user" || role == "model", || format!("role {role}"))?;
        require(at > 0 || role == "user", || "the first turn must be a user turn".into())?;
        require(role != last, || format!("contents.{at}: turns must alternate"))?;
        last = role;
        let parts = list(content, "parts")?;
        require(!parts.is_empty(), || format!("contents.{at}: parts must not be empty"))?;
        let results = parts.iter().filter(|part| part.get("functionResponse").is_some()).count();
        require(results == open, || {
            "Please ensure that the number of function response parts is equal to the number of \
             function call parts of the function call turn."
                .into()
        })?;
        let calls: Vec<&Value> =
            parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
        require(calls.is_empty() || role == "model", || "functionCall of a user".into())?;
        open = calls.len();
        for part in parts {
            let is_part = part
                .as_object()
                .is_some_and(|map| map.len() > usize::from(map.contains_key("thoughtSignature")));
            require(is_part, || format!("contents.{at}: required oneof field 'data'"))?;
        }
    }
    require(open == 0, || "a function call turn without its responses".into())
}
