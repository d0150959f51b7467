//! Bytes of a vendor's stream to events: pure, bounded, the same however the bytes are cut.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;

use crate::event::{BlockStart, Event, StopReason, Usage};
use crate::failure::{Failure, FailureClass};
use crate::message::WireFormat;
use crate::sse::{SseEvent, SseSplitter};

/// The most bytes of text, thinking, arguments and opaque values that one answer may have.
pub const LONGEST_ANSWER_BYTES: usize = 32 << 20;
/// The most blocks of one answer.
const MOST_BLOCKS: usize = 10_000;

/// Makes events of the bytes of one answer.
#[derive(Debug)]
pub struct Decoder {
    splitter: SseSplitter,
    format: Format,
    emitter: Emitter,
}

#[derive(Debug)]
enum Format {
    Anthropic(anthropic::State),
    Responses(responses::State),
    Chat(chat::State),
    Gemini(gemini::State),
}

impl Decoder {
    /// A decoder for one answer. `id_prefix` begins the names of calls for which the server has
    /// none; it must be another one for each answer of a conversation.
    pub fn new(format: WireFormat, id_prefix: impl Into<String>) -> Self {
        let state = match format {
            WireFormat::Anthropic => Format::Anthropic(anthropic::State::default()),
            WireFormat::Responses => Format::Responses(responses::State::default()),
            WireFormat::Chat => Format::Chat(chat::State::default()),
            WireFormat::Gemini => Format::Gemini(gemini::State::default()),
        };
        let emitter = Emitter::new(id_prefix.into());
        Self { splitter: SseSplitter::new(), format: state, emitter }
    }

    /// Reads more bytes; the events that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let Self { splitter, format, emitter } = self;
        if !emitter.is_done {
            let result = splitter.feed(bytes, |event| format.read(&event, emitter));
            if let Err(error) = result {
                emitter.fail(Failure::new(FailureClass::Protocol, error.to_string()));
            }
        }
        std::mem::take(&mut self.emitter.events)
    }

    /// The bytes have ended; the events that this makes. The last one ends the answer.
    pub fn finish(&mut self) -> Vec<Event> {
        if let Some(event) = self.splitter.finish() {
            self.format.read(&event, &mut self.emitter);
        }
        self.format.end(&mut self.emitter);
        let cut = Failure::new(
            FailureClass::Transient,
            "the stream ended before the answer did: the connection was cut",
        );
        self.emitter.fail(cut);
        std::mem::take(&mut self.emitter.events)
    }

    /// Whether the last event was made.
    pub fn is_done(&self) -> bool {
        self.emitter.is_done
    }

    /// Whether the end of the bytes would be a good end: all was said, and nothing but the end of
    /// the stream is missing.
    pub fn may_end(&self) -> bool {
        match &self.format {
            Format::Anthropic(_) | Format::Responses(_) => false,
            Format::Chat(state) => state.may_end(),
            Format::Gemini(state) => state.may_end(),
        }
    }
}

impl Format {
    fn read(&mut self, event: &SseEvent, out: &mut Emitter) {
        if out.is_done {
            return;
        }
        let data = event.data.trim();
        if data.is_empty() {
            return;
        }
        if data == "[DONE]" {
            self.end(out);
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            // An error of a server in front of the vendor may be no JSON.
            let start: String = data.chars().take(200).collect();
            let is_error = event.name.as_deref() == Some("error");
            out.fail(if is_error {
                Failure::from_json(None, &Value::from(start))
            } else {
                let what = format!("an event of the stream is no JSON: {start}");
                Failure::new(FailureClass::Protocol, what)
            });
            return;
        };
        let name = event.name.as_deref();
        match self {
            Self::Anthropic(state) => state.read(name, &value, out),
            Self::Responses(state) => state.read(name, &value, out),
            Self::Chat(state) => state.read(name, &value, out),
            Self::Gemini(state) => state.read(&value, out),
        }
    }

    /// The vendor, or the connection, says that nothing more comes.
    fn end(&mut self, out: &mut Emitter) {
        match self {
            Self::Anthropic(_) | Self::Responses(_) => {}
            Self::Chat(state) => state.end(out),
            Self::Gemini(state) => state.end(out),
        }
    }
}

/// Collects events and keeps their rules: numbers in order, limits, one last event.
#[derive(Debug)]
struct Emitter {
    events: Vec<Event>,
    next: usize,
    bytes: usize,
    has_started: bool,
    is_done: bool,
    id_prefix: String,
    made_up: usize,
}

impl Emitter {
    fn new(id_prefix: String) -> Self {
        Self {
            events: Vec::new(),
            next: 0,
            bytes: 0,
            has_started: false,
            is_done: false,
            id_prefix,
            made_up: 0,
        }
    }

    fn push(&mut self, event: Event) {
        if !self.is_done {
            self.is_done = event.is_last();
            self.events.push(event);
        }
    }

    fn start(&mut self, id: Option<&str>, model: Option<&str>) {
        if !self.has_started {
            self.has_started = true;
            let (id, model) = (id.map(str::to_owned), model.map(str::to_owned));
            self.push(Event::Start { id, model });
        }
    }

    fn open(&mut self, block: BlockStart) -> usize {
        self.start(None, None);
        let index = self.next;
        self.next += 1;
        if index >= MOST_BLOCKS {
            let what = format!("the answer has more than {MOST_BLOCKS} blocks");
            self.fail(Failure::new(FailureClass::Protocol, what));
        }
        self.push(Event::BlockStart { index, block });
        index
    }

    fn delta(&mut self, index: usize, text: &str) {
        if !text.is_empty() && self.grow(text.len()) {
            self.push(Event::Delta { index, text: text.to_owned() });
        }
    }

    fn close(&mut self, index: usize, opaque: Option<Value>) {
        let weight = opaque.as_ref().map_or(0, weight);
        if self.grow(weight) {
            self.push(Event::BlockEnd { index, opaque });
        }
    }

    /// A block that comes whole.
    fn whole(&mut self, block: BlockStart, text: &str, opaque: Option<Value>) {
        let index = self.open(block);
        self.delta(index, text);
        self.close(index, opaque);
    }

    fn usage(&mut self, usage: Usage) {
        self.push(Event::Usage(usage));
    }

    fn end(&mut self, reason: StopReason, detail: Option<String>) {
        self.start(None, None);
        self.push(Event::End { reason, detail });
    }

    fn fail(&mut self, failure: Failure) {
        self.push(Event::Error(failure));
    }

    /// A name for a call that has none.
    fn make_id(&mut self) -> String {
        self.made_up += 1;
        format!("call_{}_{}", self.id_prefix, self.made_up)
    }

    fn grow(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        let fits = self.bytes <= LONGEST_ANSWER_BYTES;
        if !fits {
            let what = format!("the answer is longer than {LONGEST_ANSWER_BYTES} bytes");
            self.fail(Failure::new(FailureClass::Protocol, what));
        }
        fits
    }
}

/// The bytes of all strings in a value, about.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum::<usize>() + items.len(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        _ => 8,
    }
}

/// A string behind a path of keys.
fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_str()
}

/// A number behind a path of keys; `null` and what is no number is none.
fn number(value: &Value, path: &[&str]) -> Option<u64> {
    let value = path.iter().try_fold(value, |value, key| value.get(key))?;
    // Some proxies count in floating point.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
}
