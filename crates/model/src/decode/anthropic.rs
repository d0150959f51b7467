//! Anthropic Messages: blocks are numbered by the vendor and end by an event of their own.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Emitter, number, text};
use crate::event::{BlockStart, StopReason, Usage};
use crate::failure::Failure;
use crate::partial::complete_json;

#[derive(Debug, Default)]
pub(super) struct State {
    open: BTreeMap<u64, Open>,
    usage: Usage,
    stop: Option<(StopReason, Option<String>)>,
}

/// A block that has not ended.
#[derive(Debug)]
struct Open {
    index: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Plain,
    Thinking {
        signature: String,
    },
    /// Kept as it came; what deltas add to `input` is put in at the end.
    Opaque {
        value: Value,
        input: String,
    },
}

impl State {
    pub(super) fn read(&mut self, name: Option<&str>, value: &Value, out: &mut Emitter) {
        match text(value, &["type"]).or(name).unwrap_or_default() {
            "message_start" => self.begin(value, out),
            "content_block_start" => self.block_start(value, out),
            "content_block_delta" => self.block_delta(value, out),
            "content_block_stop" => self.block_stop(value, out),
            "message_delta" => self.message_delta(value, out),
            "message_stop" => {
                let (reason, detail) = self.stop.take().unwrap_or((StopReason::Stop, None));
                out.end(reason, detail);
            }
            "error" => out.fail(Failure::from_json(None, value)),
            // `ping`, and what will be invented.
            _ => {}
        }
    }

    fn begin(&mut self, value: &Value, out: &mut Emitter) {
        out.start(text(value, &["message", "id"]), text(value, &["message", "model"]));
        self.count(value.get("message").unwrap_or(value), out);
    }

    /// Counts are sums so far, and only those that are sent have changed.
    fn count(&mut self, value: &Value, out: &mut Emitter) {
        let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) else { return };
        let put = |field: &mut u64, path: &[&str]| {
            if let Some(count) = number(usage, path) {
                *field = count;
            }
        };
        put(&mut self.usage.input, &["input_tokens"]);
        put(&mut self.usage.cache_read, &["cache_read_input_tokens"]);
        put(&mut self.usage.cache_write, &["cache_creation_input_tokens"]);
        put(&mut self.usage.output, &["output_tokens"]);
        put(&mut self.usage.reasoning, &["output_tokens_details", "thinking_tokens"]);
        out.usage(self.usage);
    }

    fn block_start(&mut self, value: &Value, out: &mut Emitter) {
        let Some(block) = value.get("content_block") else { return };
        let at = number(value, &["index"]).unwrap_or(u64::MAX);
        let word = |key| text(block, &[key]).unwrap_or_default();
        let (start, kind, first) = match word("type") {
            "text" => (BlockStart::Text { refusal: false }, Kind::Plain, word("text")),
            "thinking" => {
                let signature = word("signature").to_owned();
                (BlockStart::Thinking, Kind::Thinking { signature }, word("thinking"))
            }
            "tool_use" => {
                let id = match word("id") {
                    "" => out.make_id(),
                    id => id.to_owned(),
                };
                let name = word("name").to_owned();
                (BlockStart::ToolCall { id, name, raw: false }, Kind::Plain, "")
            }
            _ => {
                let kind = Kind::Opaque { value: block.clone(), input: String::new() };
                (BlockStart::Opaque, kind, "")
            }
        };
        let index = out.open(start);
        out.delta(index, first);
        // A call that brings its arguments whole, as some proxies do.
        if let Some(input) = block.get("input").and_then(Value::as_object)
            && word("type") == "tool_use"
            && !input.is_empty()
        {
            out.delta(index, &Value::Object(input.clone()).to_string());
        }
        self.open.insert(at, Open { index, kind });
    }

    fn block_delta(&mut self, value: &Value, out: &mut Emitter) {
        let at = number(value, &["index"]).unwrap_or(u64::MAX);
        let (Some(open), Some(delta)) = (self.open.get_mut(&at), value.get("delta")) else {
            return;
        };
        let word = |key| text(delta, &[key]).unwrap_or_default();
        match (word("type"), &mut open.kind) {
            ("text_delta", Kind::Plain) => out.delta(open.index, word("text")),
            ("thinking_delta", Kind::Thinking { .. }) => out.delta(open.index, word("thinking")),
            ("input_json_delta", Kind::Plain) => out.delta(open.index, word("partial_json")),
            ("signature_delta", Kind::Thinking { signature })
                if out.grow(word("signature").len()) =>
            {
                word("signature").clone_into(signature);
            }
            ("input_json_delta", Kind::Opaque { input, .. })
                if out.grow(word("partial_json").len()) =>
            {
                input.push_str(word("partial_json"));
            }
            _ => {}
        }
    }

    fn block_stop(&mut self, value: &Value, out: &mut Emitter) {
        let at = number(value, &["index"]).unwrap_or(u64::MAX);
        let Some(open) = self.open.remove(&at) else { return };
        let opaque = match open.kind {
            Kind::Plain => None,
            Kind::Thinking { signature } if signature.is_empty() => None,
            Kind::Thinking { signature } => Some(json!({"signature": signature})),
            Kind::Opaque { mut value, input } => {
                if let (Some(map), Some(input)) = (value.as_object_mut(), complete_json(&input)) {
                    map.insert("input".to_owned(), input);
                }
                Some(value)
            }
        };
        out.close(open.index, opaque);
    }

    fn message_delta(&mut self, value: &Value, out: &mut Emitter) {
        self.count(value, out);
        let Some(reason) = text(value, &["delta", "stop_reason"]) else { return };
        let details = value.get("delta").and_then(|delta| delta.get("stop_details"));
        let detail = details.and_then(|details| {
            let word = |key| text(details, &[key]);
            word("explanation").or_else(|| word("category")).map(str::to_owned)
        });
        let (reason, detail) = match reason {
            "end_turn" | "stop_sequence" => (StopReason::Stop, detail),
            "tool_use" => (StopReason::ToolUse, detail),
            "max_tokens" => (StopReason::Length, detail),
            "model_context_window_exceeded" => (StopReason::Overflow, detail),
            "pause_turn" => (StopReason::Pause, detail),
            "refusal" | "sensitive" => (StopReason::Refusal, detail),
            other => (StopReason::Stop, detail.or_else(|| Some(other.to_owned()))),
        };
        self.stop = Some((reason, detail));
    }
}
