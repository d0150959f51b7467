//! Chat Completions: pieces of one message, and as many deviations as there are servers.

use serde_json::{Value, json};

use super::{Emitter, number, text};
use crate::event::{BlockStart, StopReason, Usage};
use crate::failure::{Failure, FailureClass};

/// Where servers put thinking; the first that is not empty counts.
const THINKING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

#[derive(Debug, Default)]
pub(super) struct State {
    /// The block of text or thinking that is open.
    open: Option<(usize, Kind)>,
    calls: Vec<Call>,
    /// The `reasoning_details` of `OpenRouter`, to be sent back as they came.
    details: Vec<Value>,
    finish: Option<String>,
    has_refusal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Refusal,
    Thinking(&'static str),
}

/// A call of which more may come.
#[derive(Debug)]
struct Call {
    wire_index: Option<u64>,
    wire_id: Option<String>,
    name: String,
    /// The number of its block. A call is opened when its name is known.
    index: Option<usize>,
    /// Arguments that came before the name.
    early: String,
}

impl State {
    pub(super) fn may_end(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn read(&mut self, name: Option<&str>, value: &Value, out: &mut Emitter) {
        let error = value.get("error").filter(|error| !error.is_null());
        if error.is_some() || text(value, &["object"]) == Some("error") || name == Some("error") {
            out.fail(Failure::from_json(None, value));
            return;
        }
        out.start(text(value, &["id"]).filter(|id| !id.is_empty()), text(value, &["model"]));
        count(value, out);
        // One answer is asked for; a second choice would be another answer.
        let choices = value.get("choices").and_then(Value::as_array).into_iter().flatten();
        let is_first = |choice: &&Value| number(choice, &["index"]).unwrap_or(0) == 0;
        let Some(choice) = choices.into_iter().find(is_first) else { return };
        count(choice, out);
        // A server that does not stream sends a whole message.
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, out);
        }
        if let Some(reason) = text(choice, &["finish_reason"]) {
            self.finish = Some(reason.to_owned());
        }
    }

    fn delta(&mut self, delta: &Value, out: &mut Emitter) {
        let word = |key: &str| text(delta, &[key]).filter(|piece| !piece.is_empty());
        if let Some((field, piece)) =
            THINKING_FIELDS.into_iter().find_map(|field| Some((field, word(field)?)))
        {
            self.say(Kind::Thinking(field), piece, out);
        }
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            if out.grow(super::weight(detail)) {
                self.details.push(detail.clone());
            }
        }
        if let Some(piece) = word("content") {
            self.say(Kind::Text, piece, out);
        }
        if let Some(piece) = word("refusal") {
            self.has_refusal = true;
            self.say(Kind::Refusal, piece, out);
        }
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(piece, out);
        }
        // The form before there were parallel calls.
        if let Some(function) = delta.get("function_call").filter(|call| call.is_object()) {
            self.call(&json!({"index": 0, "function": function}), out);
        }
    }

    fn say(&mut self, kind: Kind, piece: &str, out: &mut Emitter) {
        let index = match self.open {
            Some((index, open)) if open == kind => index,
            _ => {
                self.close(out);
                let index = out.open(match kind {
                    Kind::Text => BlockStart::Text { refusal: false },
                    Kind::Refusal => BlockStart::Text { refusal: true },
                    Kind::Thinking(_) => BlockStart::Thinking,
                });
                self.open = Some((index, kind));
                index
            }
        };
        out.delta(index, piece);
    }

    fn close(&mut self, out: &mut Emitter) {
        if let Some((index, kind)) = self.open.take() {
            let opaque = match kind {
                Kind::Thinking(field) => Some(json!({"field": field})),
                Kind::Text | Kind::Refusal => None,
            };
            out.close(index, opaque);
        }
    }

    fn call(&mut self, piece: &Value, out: &mut Emitter) {
        let wire_index = number(piece, &["index"]);
        let wire_id = text(piece, &["id"]).filter(|id| !id.is_empty());
        let name = text(piece, &["function", "name"]).filter(|name| !name.is_empty());
        let known = self.calls.iter().position(|call| match (wire_index, wire_id) {
            (Some(at), Some(id)) => {
                // One index for all calls is a fault of some servers: another id is another call.
                call.wire_index == Some(at)
                    && (call.wire_id.as_deref() == Some(id) || call.wire_id.is_none())
            }
            (None, Some(id)) => call.wire_id.as_deref() == Some(id),
            (at, None) => at.is_some() && call.wire_index == at,
        });
        // The last one with that index, if several share it.
        let last = self.calls.iter().rposition(|call| call.wire_index == wire_index);
        let known = match (wire_index, wire_id) {
            (Some(_), None) => last,
            // Neither index nor id: more of the last call, unless a name begins another one.
            (None, None) if name.is_none() => self.calls.len().checked_sub(1),
            _ => known,
        };
        let at = known.unwrap_or_else(|| {
            self.close(out);
            self.calls.push(Call {
                wire_index,
                wire_id: None,
                name: String::new(),
                index: None,
                early: String::new(),
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if let Some(id) = wire_id {
            call.wire_id.get_or_insert_with(|| id.to_owned());
        }
        if call.name.is_empty() {
            call.name.push_str(name.unwrap_or_default());
        }
        let function = piece.get("function").unwrap_or(piece);
        let whole;
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.as_str(),
            Some(value @ Value::Object(_)) => {
                whole = value.to_string();
                &whole
            }
            _ => "",
        };
        call.add(arguments, out);
    }

    pub(super) fn end(&mut self, out: &mut Emitter) {
        let Some(finish) = self.finish.take() else { return };
        self.close(out);
        let mut calls = 0;
        for mut call in std::mem::take(&mut self.calls) {
            if !call.name.is_empty() {
                calls += 1;
                call.add("", out);
                out.close(call.index.unwrap_or_default(), None);
            }
        }
        if !self.details.is_empty() {
            let details = std::mem::take(&mut self.details);
            out.whole(BlockStart::Opaque, "", Some(json!({"reasoning_details": details})));
        }
        let reason = match finish.as_str() {
            "length" | "max_tokens" => StopReason::Length,
            "content_filter" => StopReason::Refusal,
            "model_context_window_exceeded" => StopReason::Overflow,
            "error" => {
                let what = "the server ended the answer with an error and said no more";
                out.fail(Failure::new(FailureClass::Transient, what));
                return;
            }
            // Servers say `stop` with calls, and `tool_calls` without.
            _ if calls > 0 => StopReason::ToolUse,
            _ if self.has_refusal => StopReason::Refusal,
            _ => StopReason::Stop,
        };
        let usual = ["stop", "length", "tool_calls", "function_call", "content_filter"];
        let detail = (!usual.contains(&finish.as_str())).then_some(finish);
        out.end(reason, detail);
    }
}

impl Call {
    fn add(&mut self, arguments: &str, out: &mut Emitter) {
        if self.name.is_empty() {
            if out.grow(arguments.len()) {
                self.early.push_str(arguments);
            }
            return;
        }
        let index = self.index.unwrap_or_else(|| {
            let id = self.wire_id.clone().unwrap_or_else(|| out.make_id());
            out.open(BlockStart::ToolCall { id, name: self.name.clone(), raw: false })
        });
        self.index = Some(index);
        let early = std::mem::take(&mut self.early);
        out.delta(index, &early);
        out.delta(index, arguments);
    }
}

fn count(value: &Value, out: &mut Emitter) {
    let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) else { return };
    let count = |path: &[&str]| number(usage, path).unwrap_or(0);
    let mut cache_read = count(&["prompt_tokens_details", "cached_tokens"]);
    if cache_read == 0 {
        cache_read = count(&["prompt_cache_hit_tokens"]);
    }
    let cache_write = count(&["prompt_tokens_details", "cache_write_tokens"]);
    let input = count(&["prompt_tokens"]);
    out.usage(Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: count(&["completion_tokens"]),
        reasoning: count(&["completion_tokens_details", "reasoning_tokens"]),
        ..Usage::default()
    });
}
