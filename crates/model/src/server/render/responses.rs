//! `OpenAI` Responses.

use serde_json::{Value, json};

use super::{CREATED, MODEL};
use crate::event::StopReason;
use crate::server::script::{Answer, Say, event, pieces};

/// Numbers the events as it writes them.
struct Writer {
    out: Vec<u8>,
    sequence: u64,
}

impl Writer {
    fn send(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.sequence);
        self.sequence += 1;
        event(&mut self.out, Some(kind), &data);
    }
}

pub(super) fn stream(answer: &Answer) -> Vec<u8> {
    let mut writer = Writer { out: Vec::new(), sequence: 0 };
    let started = response("in_progress", &json!([]), &Value::Null);
    writer.send("response.created", json!({"response": started}));
    writer.send("response.in_progress", json!({"response": started}));
    let mut items = Vec::new();
    for (at, say) in answer.says.iter().enumerate() {
        items.push(match say {
            Say::Text(text) => message(&mut writer, at, text, "output_text", "text"),
            Say::Refusal(text) => message(&mut writer, at, text, "refusal", "refusal"),
            Say::Thinking { text, signature } => reasoning(&mut writer, at, text, signature),
            Say::Call { id, name, arguments } => call(&mut writer, at, id, name, arguments),
        });
    }
    let usage = answer.usage;
    let usage = json!({
        "input_tokens": usage.all_input(),
        "input_tokens_details": {
            "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.context(),
    });
    if let Some(trouble) = &answer.trouble {
        let (_, body) = super::openai_failure(trouble);
        let code = body["error"]["code"].as_str().unwrap_or("server_error");
        let mut failed = response("failed", &json!([]), &Value::Null);
        failed["error"] = json!({"code": code, "message": body["error"]["message"]});
        writer.send("response.failed", json!({"response": failed}));
        return writer.out;
    }
    let why = match answer.reason() {
        StopReason::Length => Some("max_output_tokens"),
        StopReason::Refusal if answer.stop.is_some() => Some("content_filter"),
        _ => None,
    };
    let status = if why.is_some() { "incomplete" } else { "completed" };
    let mut ended = response(status, &Value::Array(items), &usage);
    if let Some(why) = why {
        ended["incomplete_details"] = json!({"reason": why});
    }
    writer.send(&format!("response.{status}"), json!({"response": ended}));
    writer.out
}

fn response(status: &str, output: &Value, usage: &Value) -> Value {
    json!({
        "id": "resp_scripted", "object": "response", "created_at": CREATED, "status": status,
        "background": false, "error": null, "incomplete_details": null, "instructions": null,
        "max_output_tokens": null, "max_tool_calls": null, "model": MODEL, "output": output,
        "parallel_tool_calls": true, "previous_response_id": null, "prompt_cache_key": null,
        "reasoning": {"effort": null, "summary": null}, "safety_identifier": null,
        "service_tier": "default", "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto",
        "tools": [], "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": usage,
        "user": null, "metadata": {},
    })
}

fn message(writer: &mut Writer, at: usize, text: &str, part: &str, key: &str) -> Value {
    let id = format!("msg_scripted_{at}");
    let content = |text: &str| {
        let mut content = json!({"type": part, key: text});
        if part == "output_text" {
            content["annotations"] = json!([]);
            content["logprobs"] = json!([]);
        }
        content
    };
    let item = |status: &str, content: Vec<Value>| {
        json!({
            "id": id, "type": "message", "status": status, "content": content, "role": "assistant",
        })
    };
    let place = json!({"item_id": id, "output_index": at, "content_index": 0});
    let with = |key: &str, value: Value| {
        let mut data = place.clone();
        data[key] = value;
        data
    };
    let started = item("in_progress", Vec::new());
    writer.send("response.output_item.added", json!({"output_index": at, "item": started}));
    writer.send("response.content_part.added", with("part", content("")));
    let is_text = part == "output_text";
    let event = format!("response.{part}");
    for piece in pieces(text) {
        let mut data = with("delta", json!(piece));
        if is_text {
            data["logprobs"] = json!([]);
        }
        writer.send(&format!("{event}.delta"), data);
    }
    let mut data = with(key, json!(text));
    if is_text {
        data["logprobs"] = json!([]);
    }
    writer.send(&format!("{event}.done"), data);
    writer.send("response.content_part.done", with("part", content(text)));
    let done = item("completed", vec![content(text)]);
    writer.send("response.output_item.done", json!({"output_index": at, "item": done}));
    done
}

fn reasoning(writer: &mut Writer, at: usize, text: &str, signature: &str) -> Value {
    let id = format!("rs_scripted_{at}");
    let item = |summary: Vec<Value>, encrypted: Value| json!({"id": id, "type": "reasoning", "encrypted_content": encrypted, "summary": summary});
    let started = item(Vec::new(), Value::Null);
    writer.send("response.output_item.added", json!({"output_index": at, "item": started}));
    let place = json!({"item_id": id, "output_index": at, "summary_index": 0});
    let with = |key: &str, value: Value| {
        let mut data = place.clone();
        data[key] = value;
        data
    };
    let part = |text: &str| json!({"type": "summary_text", "text": text});
    let mut summary = Vec::new();
    if !text.is_empty() {
        writer.send("response.reasoning_summary_part.added", with("part", part("")));
        for piece in pieces(text) {
            writer.send("response.reasoning_summary_text.delta", with("delta", json!(piece)));
        }
        writer.send("response.reasoning_summary_text.done", with("text", json!(text)));
        writer.send("response.reasoning_summary_part.done", with("part", part(text)));
        summary.push(part(text));
    }
    let done = item(summary, json!(signature));
    writer.send("response.output_item.done", json!({"output_index": at, "item": done}));
    done
}

fn call(writer: &mut Writer, at: usize, call_id: &str, name: &str, arguments: &str) -> Value {
    let id = format!("fc_scripted_{at}");
    let item = |status: &str, arguments: &str| {
        json!({
            "id": id, "type": "function_call", "status": status, "arguments": arguments,
            "call_id": call_id, "name": name,
        })
    };
    let started = item("in_progress", "");
    writer.send("response.output_item.added", json!({"output_index": at, "item": started}));
    for piece in pieces(arguments) {
        let data = json!({"item_id": id, "output_index": at, "delta": piece});
        writer.send("response.function_call_arguments.delta", data);
    }
    let data = json!({"item_id": id, "output_index": at, "arguments": arguments, "name": name});
    writer.send("response.function_call_arguments.done", data);
    let done = item("completed", arguments);
    writer.send("response.output_item.done", json!({"output_index": at, "item": done}));
    done
}
