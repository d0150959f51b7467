//! Anthropic Messages.

use serde_json::{Value, json};

use super::MODEL;
use crate::event::StopReason;
use crate::server::reply::Trouble;
use crate::server::script::{Answer, Say, event, pieces};

pub(super) fn stream(answer: &Answer) -> Vec<u8> {
    let mut out = Vec::new();
    let mut send = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        event(&mut out, Some(kind), &data);
    };
    let usage = answer.usage;
    let message = json!({
        "id": "msg_01Scripted", "type": "message", "role": "assistant", "model": MODEL,
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": 1,
        },
    });
    send("message_start", json!({"message": message}));
    for (index, say) in answer.says.iter().enumerate() {
        let (block, deltas) = match say {
            Say::Text(text) | Say::Refusal(text) => {
                let delta = |piece| json!({"type": "text_delta", "text": piece});
                (json!({"type": "text", "text": ""}), pieces(text).into_iter().map(delta).collect())
            }
            Say::Thinking { text, signature } => {
                let delta = |piece| json!({"type": "thinking_delta", "thinking": piece});
                let mut deltas: Vec<Value> = pieces(text).into_iter().map(delta).collect();
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
                (json!({"type": "thinking", "thinking": "", "signature": ""}), deltas)
            }
            Say::Call { id, name, arguments } => {
                let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
                // The first piece is empty.
                let all = std::iter::once("").chain(pieces(arguments));
                let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                (block, all.map(delta).collect())
            }
        };
        send("content_block_start", json!({"index": index, "content_block": block}));
        if index == 0 {
            send("ping", json!({}));
        }
        for delta in deltas {
            send("content_block_delta", json!({"index": index, "delta": delta}));
        }
        send("content_block_stop", json!({"index": index}));
    }
    if let Some(trouble) = &answer.trouble {
        let (_, body) = failure(trouble);
        send("error", body);
        return out;
    }
    let reason = match answer.reason() {
        StopReason::ToolUse => "tool_use",
        StopReason::Length => "max_tokens",
        StopReason::Overflow => "model_context_window_exceeded",
        StopReason::Pause => "pause_turn",
        StopReason::Refusal => "refusal",
        _ => "end_turn",
    };
    let delta = json!({"stop_reason": reason, "stop_sequence": null});
    let usage = json!({"output_tokens": usage.output});
    send("message_delta", json!({"delta": delta, "usage": usage}));
    send("message_stop", json!({}));
    out
}

pub(super) fn failure(trouble: &Trouble) -> (u16, Value) {
    let (status, kind, message) = match trouble {
        Trouble::Overflow => {
            (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
        }
        Trouble::RateLimit(_) => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50 requests per minute.",
        ),
        Trouble::Quota => (
            400,
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API.",
        ),
        Trouble::Overloaded => (529, "overloaded_error", "Overloaded"),
        Trouble::Server => (500, "api_error", "Internal server error"),
        Trouble::Auth => (401, "authentication_error", "invalid x-api-key"),
        Trouble::Invalid(what) => (400, "invalid_request_error", what.as_str()),
    };
    let error = json!({"type": kind, "message": message});
    (status, json!({"type": "error", "error": error, "request_id": "req_011Scripted"}))
}
