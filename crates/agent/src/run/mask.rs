//! Secrets, hidden in all that is sent to a model. What a vendor wants back verbatim is left as it
//! came: the model wrote it, and it has seen no secret.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use umbo_model::{Block, Message, Part, Request};

/// Hides secrets in a text, the same way every time.
#[derive(Clone)]
pub struct Mask(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl Mask {
    /// Hides with a function.
    pub fn new(hide: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(hide))
    }

    /// A text without secrets.
    pub fn hide(&self, text: &str) -> String {
        (self.0)(text)
    }

    /// What stands around a conversation, without secrets.
    pub(super) fn hide_in_frame(&self, request: &mut Request) {
        request.system = self.hide(&request.system);
        for tool in &mut request.tools {
            tool.description = self.hide(&tool.description);
        }
    }

    /// A message without secrets.
    pub(super) fn hide_in_message(&self, message: &mut Message) {
        match message {
            Message::User(user) => self.hide_in_parts(&mut user.content),
            Message::ToolResult(result) => self.hide_in_parts(&mut result.content),
            Message::Assistant(answer) => {
                for block in &mut answer.content {
                    match block {
                        Block::Text { text, .. } => *text = self.hide(text),
                        Block::ToolCall(call) => {
                            call.arguments.values_mut().for_each(|value| self.hide_in_value(value));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn hide_in_parts(&self, parts: &mut [Part]) {
        for part in parts {
            if let Part::Text { text } = part {
                *text = self.hide(text);
            }
        }
    }

    fn hide_in_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_value(item)),
            Value::Object(map) => map.values_mut().for_each(|value| self.hide_in_value(value)),
            _ => {}
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mask(…)")
    }
}
