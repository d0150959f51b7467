//! An answer without a format: what a model says in a script.

use serde_json::{Value, json};

use super::render;
use super::reply::Trouble;
use crate::event::{StopReason, Usage};
use crate::message::WireFormat;

/// What a model says.
#[derive(Clone, Debug)]
pub struct Answer {
    /// In this order.
    pub says: Vec<Say>,
    /// The tokens it costs.
    pub usage: Usage,
    /// Why it ends; by itself, what follows from what it says.
    pub stop: Option<StopReason>,
    /// What goes wrong in place of the end.
    pub trouble: Option<Trouble>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
pub enum Say {
    /// Text.
    Text(String),
    /// Thinking with its signature.
    Thinking {
        /// What is shown of it.
        text: String,
        /// What must come back.
        signature: String,
    },
    /// Words by which the model refuses.
    Refusal(String),
    /// A call of a tool.
    Call {
        /// Its name.
        id: String,
        /// The tool.
        name: String,
        /// The JSON text of the arguments.
        arguments: String,
    },
}

impl Answer {
    /// Nothing yet.
    pub fn new() -> Self {
        let usage = Usage { input: 25, output: 15, ..Usage::default() };
        Self { says: Vec::new(), usage, stop: None, trouble: None }
    }

    /// One text.
    pub fn text(text: &str) -> Self {
        Self::new().and_text(text)
    }

    /// One call.
    pub fn call(id: &str, name: &str, arguments: &Value) -> Self {
        Self::new().and_call(id, name, arguments)
    }

    /// And a text.
    #[must_use]
    pub fn and_text(mut self, text: &str) -> Self {
        self.says.push(Say::Text(text.to_owned()));
        self
    }

    /// And thinking.
    #[must_use]
    pub fn and_thinking(mut self, text: &str, signature: &str) -> Self {
        let (text, signature) = (text.to_owned(), signature.to_owned());
        self.says.push(Say::Thinking { text, signature });
        self
    }

    /// And a call.
    #[must_use]
    pub fn and_call(mut self, id: &str, name: &str, arguments: &Value) -> Self {
        let arguments = arguments.to_string();
        self.says.push(Say::Call { id: id.to_owned(), name: name.to_owned(), arguments });
        self
    }

    /// With this many tokens.
    #[must_use]
    pub fn costs(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Ending for this reason.
    #[must_use]
    pub fn ends(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Failing in place of its end.
    #[must_use]
    pub fn fails(mut self, trouble: Trouble) -> Self {
        self.trouble = Some(trouble);
        self
    }

    /// Why it ends.
    pub fn reason(&self) -> StopReason {
        let has = |is: fn(&Say) -> bool| self.says.iter().any(is);
        self.stop.unwrap_or_else(|| {
            if has(|say| matches!(say, Say::Call { .. })) {
                StopReason::ToolUse
            } else if has(|say| matches!(say, Say::Refusal(_))) {
                StopReason::Refusal
            } else {
                StopReason::Stop
            }
        })
    }

    /// The body of the response in a format.
    pub fn bytes(&self, format: WireFormat) -> Vec<u8> {
        render::answer(format, self)
    }
}

impl Default for Answer {
    fn default() -> Self {
        Self::new()
    }
}

/// A text in the pieces in which a model would say it.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().map(|(at, _)| at).nth(7).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// One event of a stream.
pub(super) fn event(out: &mut Vec<u8>, name: Option<&str>, data: &Value) {
    if let Some(name) = name {
        out.extend_from_slice(format!("event: {name}\n").as_bytes());
    }
    out.extend_from_slice(format!("data: {data}\n\n").as_bytes());
}

/// The value of arguments; an object in every case.
pub(super) fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({}))
}
