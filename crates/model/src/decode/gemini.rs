//! Gemini: each event is a piece of the whole answer; signatures stay with exactly their part.

use serde_json::{Value, json};

use super::{Emitter, number, text};
use crate::event::{BlockStart, StopReason, Usage};
use crate::failure::{Failure, FailureClass};

#[derive(Debug, Default)]
pub(super) struct State {
    /// The block that is open, and whether it is thinking.
    open: Option<(usize, bool)>,
    has_calls: bool,
    finish: Option<(String, Option<String>)>,
}

impl State {
    pub(super) fn may_end(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn read(&mut self, value: &Value, out: &mut Emitter) {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            out.fail(Failure::from_json(None, value));
            return;
        }
        out.start(text(value, &["responseId"]), text(value, &["modelVersion"]));
        count(value, out);
        let Some(candidate) = value.get("candidates").and_then(|list| list.get(0)) else {
            if let Some(reason) = text(value, &["promptFeedback", "blockReason"]) {
                self.close(out);
                let said = text(value, &["promptFeedback", "blockReasonMessage"]);
                let detail = said.unwrap_or(reason).to_owned();
                out.end(StopReason::Refusal, Some(detail));
            }
            return;
        };
        let parts = candidate.get("content").and_then(|content| content.get("parts"));
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            self.part(part, out);
        }
        if let Some(reason) = text(candidate, &["finishReason"]) {
            let said = text(candidate, &["finishMessage"]).map(str::to_owned);
            self.finish = Some((reason.to_owned(), said));
        }
    }

    fn part(&mut self, part: &Value, out: &mut Emitter) {
        let signature = part.get("thoughtSignature").or_else(|| part.get("thought_signature"));
        let signature = signature.filter(|signature| signature.is_string());
        let opaque = signature.map(|signature| json!({"thoughtSignature": signature}));
        if let Some(call) = part.get("functionCall") {
            self.close(out);
            self.has_calls = true;
            let wire_id = text(call, &["id"]).filter(|id| !id.is_empty());
            let mut opaque = opaque;
            let id = wire_id.map_or_else(
                || {
                    // A name of ours is not sent back.
                    opaque.get_or_insert_with(|| json!({}))["madeUpId"] = json!(true);
                    out.make_id()
                },
                str::to_owned,
            );
            let name = text(call, &["name"]).unwrap_or_default().to_owned();
            let arguments = call.get("args").filter(|args| args.is_object());
            let arguments = arguments.map(Value::to_string).unwrap_or_default();
            out.whole(BlockStart::ToolCall { id, name, raw: false }, &arguments, opaque);
        } else if let Some(piece) = text(part, &["text"]) {
            let is_thinking = part.get("thought").and_then(Value::as_bool) == Some(true);
            let start = || {
                if is_thinking { BlockStart::Thinking } else { BlockStart::Text { refusal: false } }
            };
            if opaque.is_some() {
                // It must go back on this part, so the part is a block of its own.
                self.close(out);
                out.whole(start(), piece, opaque);
                return;
            }
            if piece.is_empty() {
                return;
            }
            let index = match self.open {
                Some((index, open)) if open == is_thinking => index,
                _ => {
                    self.close(out);
                    out.open(start())
                }
            };
            self.open = Some((index, is_thinking));
            out.delta(index, piece);
        } else if part.as_object().is_some_and(|map| !map.is_empty()) {
            self.close(out);
            out.whole(BlockStart::Opaque, "", Some(part.clone()));
        }
    }

    fn close(&mut self, out: &mut Emitter) {
        if let Some((index, _)) = self.open.take() {
            out.close(index, None);
        }
    }

    pub(super) fn end(&mut self, out: &mut Emitter) {
        let Some((finish, said)) = self.finish.take() else { return };
        self.close(out);
        let reason = match finish.as_str() {
            "MAX_TOKENS" => StopReason::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
                StopReason::Refusal
            }
            image if image.starts_with("IMAGE_") => StopReason::Refusal,
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE" => StopReason::ModelFault,
            "OTHER" => {
                let what = said.unwrap_or_else(|| "the vendor ended the answer: OTHER".to_owned());
                out.fail(Failure::new(FailureClass::Transient, what));
                return;
            }
            _ if self.has_calls => StopReason::ToolUse,
            _ => StopReason::Stop,
        };
        let detail = said.or_else(|| (finish != "STOP").then_some(finish));
        out.end(reason, detail);
    }
}

fn count(value: &Value, out: &mut Emitter) {
    let Some(usage) = value.get("usageMetadata").filter(|usage| usage.is_object()) else { return };
    let count = |path: &[&str]| number(usage, path).unwrap_or(0);
    let cache_read = count(&["cachedContentTokenCount"]);
    let prompt = count(&["promptTokenCount"]).saturating_add(count(&["toolUsePromptTokenCount"]));
    let reasoning = count(&["thoughtsTokenCount"]);
    out.usage(Usage {
        input: prompt.saturating_sub(cache_read),
        cache_read,
        cache_write: 0,
        output: count(&["candidatesTokenCount"]).saturating_add(reasoning),
        reasoning,
        ..Usage::default()
    });
}
