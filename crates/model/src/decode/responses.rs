//! `OpenAI` Responses: items are numbered by the vendor; the complete item is what is sent back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Emitter, number, text};
use crate::event::{BlockStart, StopReason, Usage};
use crate::failure::{Failure, FailureClass};

#[derive(Debug, Default)]
pub(super) struct State {
    items: BTreeMap<u64, Item>,
    has_calls: bool,
    has_refusal: bool,
}

/// An item of the output.
#[derive(Debug)]
struct Item {
    kind: Kind,
    /// The number of its block, once something of it is known.
    index: Option<usize>,
    /// Whether any text of it was sent in pieces.
    has_deltas: bool,
    /// The part of the text that the last delta belonged to.
    part: Option<u64>,
    is_closed: bool,
}

impl Item {
    fn new(kind: Kind) -> Self {
        Self { kind, index: None, has_deltas: false, part: None, is_closed: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
    RawCall,
    Other,
}

impl State {
    pub(super) fn read(&mut self, name: Option<&str>, value: &Value, out: &mut Emitter) {
        let kind = text(value, &["type"]).or(name).unwrap_or_default();
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        match kind {
            "created" | "in_progress" | "queued" => {
                out.start(text(value, &["response", "id"]), text(value, &["response", "model"]));
            }
            "output_item.added" => self.added(value, out),
            "output_item.done" => self.done(value, out),
            "output_text.delta" => self.delta(value, Kind::Message, "content_index", out),
            "refusal.delta" => {
                self.has_refusal = true;
                self.refuse(value, out);
                self.delta(value, Kind::Message, "content_index", out);
            }
            "reasoning_summary_text.delta" => {
                self.delta(value, Kind::Reasoning, "summary_index", out);
            }
            "reasoning_text.delta" => self.delta(value, Kind::Reasoning, "content_index", out),
            "function_call_arguments.delta" => self.delta(value, Kind::Call, "", out),
            "custom_tool_call_input.delta" => self.delta(value, Kind::RawCall, "", out),
            "function_call_arguments.done" => self.all(value, Kind::Call, "arguments", out),
            "custom_tool_call_input.done" => self.all(value, Kind::RawCall, "input", out),
            "completed" | "incomplete" => self.end(value, kind == "incomplete", out),
            "failed" | "cancelled" => {
                count(value, out);
                let error = value
                    .get("response")
                    .filter(|response| response.get("error").is_some_and(Value::is_object));
                out.fail(error.map_or_else(
                    || Failure::new(FailureClass::Transient, format!("the vendor says: {kind}")),
                    |response| Failure::from_json(None, response),
                ));
            }
            "error" => out.fail(Failure::from_json(None, value)),
            _ => {}
        }
    }

    fn added(&mut self, value: &Value, out: &mut Emitter) {
        let at = number(value, &["output_index"]).unwrap_or(u64::MAX);
        let Some(wire) = value.get("item") else { return };
        let kind = match text(wire, &["type"]).unwrap_or_default() {
            "message" => Kind::Message,
            "reasoning" => Kind::Reasoning,
            "function_call" => Kind::Call,
            "custom_tool_call" => Kind::RawCall,
            _ => Kind::Other,
        };
        let mut item = Item::new(kind);
        // A message is opened by its first piece, which says whether it is a refusal.
        if kind != Kind::Message {
            item.index = Some(open(kind, wire, out));
        }
        self.has_calls |= matches!(kind, Kind::Call | Kind::RawCall);
        self.items.insert(at, item);
    }

    /// The item that an event is about. Proxies may leave the event out that adds it.
    fn item(&mut self, value: &Value, kind: Kind, out: &mut Emitter) -> Option<&mut Item> {
        let at = number(value, &["output_index"]).unwrap_or(u64::MAX);
        // A call without its name is none.
        if matches!(kind, Kind::Call | Kind::RawCall) && !self.items.contains_key(&at) {
            return None;
        }
        let item = self.items.entry(at).or_insert_with(|| Item::new(kind));
        if item.kind != kind || item.is_closed {
            return None;
        }
        if item.index.is_none() {
            item.index = Some(open(kind, value, out));
        }
        Some(item)
    }

    fn refuse(&mut self, value: &Value, out: &mut Emitter) {
        let at = number(value, &["output_index"]).unwrap_or(u64::MAX);
        if let Some(item) = self.items.get_mut(&at)
            && item.index.is_none()
            && item.kind == Kind::Message
        {
            item.index = Some(out.open(BlockStart::Text { refusal: true }));
        }
    }

    fn delta(&mut self, value: &Value, kind: Kind, part: &str, out: &mut Emitter) {
        let Some(item) = self.item(value, kind, out) else { return };
        let Some(index) = item.index else { return };
        let part = number(value, &[part]);
        if item.has_deltas && item.part != part && kind == Kind::Reasoning {
            out.delta(index, "\n\n");
        }
        item.part = part;
        let piece = text(value, &["delta"]).unwrap_or_default();
        item.has_deltas |= !piece.is_empty();
        out.delta(index, piece);
    }

    /// All arguments at once, from those who send no pieces.
    fn all(&mut self, value: &Value, kind: Kind, key: &str, out: &mut Emitter) {
        if let Some(item) = self.item(value, kind, out)
            && !item.has_deltas
            && let Some(index) = item.index
        {
            let whole = text(value, &[key]).unwrap_or_default();
            item.has_deltas = !whole.is_empty();
            out.delta(index, whole);
        }
    }

    fn done(&mut self, value: &Value, out: &mut Emitter) {
        let at = number(value, &["output_index"]).unwrap_or(u64::MAX);
        let Some(wire) = value.get("item") else { return };
        if !self.items.contains_key(&at) {
            self.added(value, out);
        }
        let Some(item) = self.items.get_mut(&at).filter(|item| !item.is_closed) else { return };
        let (whole, is_refusal) = whole_text(item.kind, wire);
        self.has_refusal |= is_refusal;
        let index = match item.index {
            Some(index) => index,
            // A message without any text: nothing to show, and nothing to send back.
            None if whole.is_empty() => {
                item.is_closed = true;
                return;
            }
            None => out.open(BlockStart::Text { refusal: is_refusal }),
        };
        item.index = Some(index);
        if !item.has_deltas {
            out.delta(index, &whole);
        }
        item.is_closed = true;
        out.close(index, Some(wire.clone()));
    }

    fn end(&mut self, value: &Value, is_incomplete: bool, out: &mut Emitter) {
        out.start(text(value, &["response", "id"]), text(value, &["response", "model"]));
        count(value, out);
        let why = text(value, &["response", "incomplete_details", "reason"]);
        let is_incomplete =
            is_incomplete || text(value, &["response", "status"]) == Some("incomplete");
        let reason = match why {
            Some("content_filter") => StopReason::Refusal,
            _ if is_incomplete => StopReason::Length,
            _ if self.has_calls => StopReason::ToolUse,
            _ if self.has_refusal => StopReason::Refusal,
            _ => StopReason::Stop,
        };
        out.end(reason, why.map(str::to_owned));
    }
}

fn open(kind: Kind, wire: &Value, out: &mut Emitter) -> usize {
    let start = match kind {
        Kind::Message => BlockStart::Text { refusal: false },
        Kind::Reasoning => BlockStart::Thinking,
        Kind::Call | Kind::RawCall => {
            let id = text(wire, &["call_id"]).filter(|id| !id.is_empty()).map(str::to_owned);
            let id = id.unwrap_or_else(|| out.make_id());
            let name = text(wire, &["name"]).unwrap_or_default().to_owned();
            BlockStart::ToolCall { id, name, raw: kind == Kind::RawCall }
        }
        Kind::Other => BlockStart::Opaque,
    };
    out.open(start)
}

fn count(value: &Value, out: &mut Emitter) {
    let Some(usage) = value.get("response").and_then(|response| response.get("usage")) else {
        return;
    };
    if !usage.is_object() {
        return;
    }
    let count = |path: &[&str]| number(usage, path).unwrap_or(0);
    let cache_read = count(&["input_tokens_details", "cached_tokens"]);
    let cache_write = count(&["input_tokens_details", "cache_write_tokens"]);
    let input = count(&["input_tokens"]);
    out.usage(Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        output: count(&["output_tokens"]),
        reasoning: count(&["output_tokens_details", "reasoning_tokens"]),
        ..Usage::default()
    });
}

/// The text that the deltas of a complete item add up to, and whether it is a refusal.
fn whole_text(kind: Kind, wire: &Value) -> (String, bool) {
    let joined = |list: &str, between: &str| {
        let parts = wire.get(list).and_then(Value::as_array).into_iter().flatten();
        let texts = parts.filter_map(|part| text(part, &["text"]).or(text(part, &["refusal"])));
        texts.collect::<Vec<_>>().join(between)
    };
    match kind {
        Kind::Message => {
            let parts = wire.get("content").and_then(Value::as_array).into_iter().flatten();
            let mut parts = parts.map(|part| text(part, &["type"]));
            (joined("content", ""), parts.next() == Some(Some("refusal")))
        }
        Kind::Reasoning => {
            let summary = joined("summary", "\n\n");
            (if summary.is_empty() { joined("content", "\n\n") } else { summary }, false)
        }
        Kind::Call => (text(wire, &["arguments"]).unwrap_or_default().to_owned(), false),
        Kind::RawCall => (text(wire, &["input"]).unwrap_or_default().to_owned(), false),
        Kind::Other => (String::new(), false),
    }
}
