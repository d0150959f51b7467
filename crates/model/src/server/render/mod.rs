//! Answers and errors as the vendors document them.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};

use super::reply::Trouble;
use super::script::Answer;
use crate::message::WireFormat;

/// The name of the model in answers.
const MODEL: &str = "scripted-model";
/// The time in answers.
const CREATED: u64 = 1_760_000_000;

pub(super) fn answer(format: WireFormat, answer: &Answer) -> Vec<u8> {
    match format {
        WireFormat::Anthropic => anthropic::stream(answer),
        WireFormat::Responses => responses::stream(answer),
        WireFormat::Chat => chat::stream(answer),
        WireFormat::Gemini => gemini::stream(answer),
    }
}

/// Status and body of an error.
pub(super) fn failure(format: WireFormat, trouble: &Trouble) -> (u16, Value) {
    match format {
        WireFormat::Anthropic => anthropic::failure(trouble),
        WireFormat::Responses | WireFormat::Chat => openai_failure(trouble),
        WireFormat::Gemini => gemini::failure(trouble),
    }
}

fn openai_failure(trouble: &Trouble) -> (u16, Value) {
    let invalid = "invalid_request_error";
    let (status, kind, code, message) = match trouble {
        Trouble::Overflow => (
            400,
            invalid,
            Some("context_length_exceeded"),
            "Your input exceeds the context window of this model. Please adjust your input and try \
             again.",
        ),
        Trouble::RateLimit(_) => {
            (429, "requests", Some("rate_limit_exceeded"), "Rate limit reached")
        }
        Trouble::Quota => (
            429,
            "insufficient_quota",
            Some("insufficient_quota"),
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        Trouble::Overloaded => (
            503,
            "server_error",
            None,
            "The engine is currently overloaded, please try again later",
        ),
        Trouble::Server => {
            (500, "server_error", None, "The server had an error while processing your request.")
        }
        Trouble::Auth => {
            (401, invalid, Some("invalid_api_key"), "Incorrect API key provided: test-key.")
        }
        Trouble::Invalid(what) => (400, invalid, None, what.as_str()),
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": code});
    (status, json!({"error": error}))
}
