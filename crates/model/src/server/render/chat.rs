//! Chat Completions.

use serde_json::{Value, json};

use super::{CREATED, MODEL};
use crate::event::StopReason;
use crate::server::script::{Answer, Say, event, pieces};

pub(super) fn stream(answer: &Answer) -> Vec<u8> {
    let mut out = Vec::new();
    let mut send = |choices: Value, usage: Value| {
        let chunk = json!({
            "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": CREATED,
            "model": MODEL, "service_tier": "default", "system_fingerprint": "fp_scripted",
            "choices": choices, "usage": usage,
        });
        event(&mut out, None, &chunk);
    };
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let first = json!({"role": "assistant", "content": "", "refusal": null});
    send(choice(first, Value::Null), Value::Null);
    let mut calls = 0;
    for say in &answer.says {
        let deltas: Vec<Value> = match say {
            Say::Text(text) => {
                pieces(text).into_iter().map(|piece| json!({"content": piece})).collect()
            }
            Say::Refusal(text) => {
                pieces(text).into_iter().map(|piece| json!({"refusal": piece})).collect()
            }
            Say::Thinking { text, .. } => {
                pieces(text).into_iter().map(|piece| json!({"reasoning_content": piece})).collect()
            }
            Say::Call { id, name, arguments } => {
                let function = json!({"name": name, "arguments": ""});
                let first =
                    json!({"index": calls, "id": id, "type": "function", "function": function});
                let more = pieces(arguments)
                    .into_iter()
                    .map(|piece| json!({"index": calls, "function": {"arguments": piece}}));
                let all: Vec<Value> = std::iter::once(first)
                    .chain(more)
                    .map(|p| json!({"tool_calls": [p]}))
                    .collect();
                calls += 1;
                all
            }
        };
        for delta in deltas {
            send(choice(delta, Value::Null), Value::Null);
        }
    }
    if let Some(trouble) = &answer.trouble {
        let (_, body) = super::openai_failure(trouble);
        event(&mut out, None, &body);
        return out;
    }
    let finish = match answer.reason() {
        StopReason::ToolUse => "tool_calls",
        StopReason::Length => "length",
        StopReason::Refusal if answer.stop.is_some() => "content_filter",
        StopReason::Overflow => "model_context_window_exceeded",
        _ => "stop",
    };
    send(choice(json!({}), json!(finish)), Value::Null);
    let usage = answer.usage;
    let usage = json!({
        "prompt_tokens": usage.all_input(), "completion_tokens": usage.output,
        "total_tokens": usage.context(),
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    });
    send(json!([]), usage);
    out.extend_from_slice(b"data: [DONE]\n\n");
    out
}
