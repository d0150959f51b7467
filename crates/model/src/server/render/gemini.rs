//! Gemini, whose lines end with CR and LF.

use serde_json::{Value, json};

use super::MODEL;
use crate::event::StopReason;
use crate::server::reply::Trouble;
use crate::server::script::{Answer, Say, arguments as arguments_value, pieces};

pub(super) fn stream(answer: &Answer) -> Vec<u8> {
    let mut parts = Vec::new();
    for say in &answer.says {
        match say {
            Say::Text(text) | Say::Refusal(text) => {
                parts.extend(pieces(text).into_iter().map(|piece| json!({"text": piece})));
            }
            Say::Thinking { text, .. } => {
                let part = |piece| json!({"text": piece, "thought": true});
                parts.extend(pieces(text).into_iter().map(part));
            }
            Say::Call { id, name, arguments } => {
                let call = json!({"id": id, "name": name, "args": arguments_value(arguments)});
                parts.push(json!({"functionCall": call}));
            }
        }
    }
    sign(answer, &mut parts);
    let mut out = Vec::new();
    let mut send = |data: &Value| {
        out.extend_from_slice(format!("data: {data}\r\n\r\n").as_bytes());
    };
    let usage = answer.usage;
    let usage = |is_last: bool| {
        let mut counts = json!({"promptTokenCount": usage.all_input()});
        if usage.cache_read > 0 {
            counts["cachedContentTokenCount"] = json!(usage.cache_read);
        }
        if is_last {
            counts["candidatesTokenCount"] = json!(usage.output.saturating_sub(usage.reasoning));
            if usage.reasoning > 0 {
                counts["thoughtsTokenCount"] = json!(usage.reasoning);
            }
            counts["totalTokenCount"] = json!(usage.context());
        }
        counts
    };
    let chunk = |parts: &[Value], finish: Option<&str>| {
        let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
        if let Some(finish) = finish {
            candidate["finishReason"] = json!(finish);
        }
        json!({
            "candidates": [candidate], "usageMetadata": usage(finish.is_some()),
            "modelVersion": MODEL, "responseId": "scripted-response",
        })
    };
    for part in &parts {
        send(&chunk(std::slice::from_ref(part), None));
    }
    if let Some(trouble) = &answer.trouble {
        send(&failure(trouble).1);
        return out;
    }
    let finish = match answer.reason() {
        StopReason::Length => "MAX_TOKENS",
        StopReason::Refusal => "SAFETY",
        StopReason::ModelFault => "MALFORMED_FUNCTION_CALL",
        _ => "STOP",
    };
    send(&chunk(&[json!({"text": ""})], Some(finish)));
    out
}

/// A signature is on the first call of an answer, or else on its last part.
fn sign(answer: &Answer, parts: &mut Vec<Value>) {
    let signature = answer.says.iter().find_map(|say| match say {
        Say::Thinking { signature, .. } => Some(signature),
        _ => None,
    });
    let Some(signature) = signature else { return };
    if let Some(call) = parts.iter_mut().find(|part| part.get("functionCall").is_some()) {
        call["thoughtSignature"] = json!(signature);
    } else {
        parts.push(json!({"text": "", "thoughtSignature": signature}));
    }
}

pub(super) fn failure(trouble: &Trouble) -> (u16, Value) {
    let (code, status, message) = match trouble {
        Trouble::Overflow => (
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        Trouble::RateLimit(_) => (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted."),
        Trouble::Quota => (402, "FAILED_PRECONDITION", "Billing is not enabled for this project."),
        Trouble::Overloaded => {
            (503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
        }
        Trouble::Server => (500, "INTERNAL", "An internal error has occurred."),
        Trouble::Auth => (403, "PERMISSION_DENIED", "The API key does not have access."),
        Trouble::Invalid(what) => (400, "INVALID_ARGUMENT", what.as_str()),
    };
    let mut error = json!({"code": code, "message": message, "status": status});
    if let Trouble::RateLimit(Some(seconds)) = trouble {
        error["details"] = json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }]);
    }
    (code, json!({"error": error}))
}
