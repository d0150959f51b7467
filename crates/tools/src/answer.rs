//! What a tool answers: a structured value, the same as text, or an error that says what to do.

use serde_json::{Map, Value, json};
use umbo_ops::{ErrorCode, RefusalDetails};

use crate::schema::Problem;

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The answer as data: what `umbo call` prints.
    pub structured: Value,
    /// The answer as text for a model.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Jobs of this caller that ended since it was last told.
    pub completed: Vec<Completed>,
}

/// A job that ended unseen.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The event, in the shape of the dialect.
    pub event: Value,
    /// The same as a sentence.
    pub sentence: String,
    /// Whether it ended with code 0.
    pub is_success: bool,
}

/// What a tool's function returns when it did its work.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) structured: Value,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn new(structured: Value, text: impl Into<String>) -> Self {
        Self { structured, text: text.into() }
    }
}

/// Why a tool did not do its work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolError {
    /// A word for programs.
    pub(crate) code: ErrorCode,
    /// A sentence for whoever called.
    pub(crate) message: String,
    /// The argument that is wrong.
    pub(crate) field: Option<String>,
    /// What the gate says beside.
    pub(crate) refusal: Option<Box<RefusalDetails>>,
    /// The shape a dialect gives to it, if it is not the common one.
    pub(crate) structured: Option<Value>,
}

impl ToolError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, refusal: None, structured: None }
    }

    /// A wrong argument that no schema can see.
    pub(crate) fn argument(field: &str, message: impl std::fmt::Display) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..Self::new(ErrorCode::InvalidArgument, format!("{field}: {message}"))
        }
    }

    /// The same error, in the words of a caller that has other names for its fields.
    pub(crate) fn in_words_of(mut self, fields: &[(&str, &str)]) -> Self {
        let own = |(engines, _): &&(&str, &str)| self.field.as_deref() == Some(*engines);
        if let Some((engines, callers)) = fields.iter().find(own) {
            if let Some(rest) = self.message.strip_prefix(engines) {
                self.message = format!("{callers}{rest}");
            }
            self.field = Some((*callers).to_owned());
        }
        self
    }

    /// The same error in a shape of its dialect.
    pub(crate) fn shaped(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// The error as most dialects tell it to programs.
    pub(crate) fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(field) = &self.field {
            error["field"] = json!(field);
        }
        for (name, value) in self.details() {
            error[name] = value;
        }
        json!({"error": error})
    }

    /// What the gate says beside, by name.
    pub(crate) fn details(&self) -> Map<String, Value> {
        match serde_json::to_value(&self.refusal) {
            Ok(Value::Object(details)) => details,
            _ => Map::new(),
        }
    }
}

impl From<Problem> for ToolError {
    fn from(problem: Problem) -> Self {
        Self {
            field: Some(problem.field.clone()).filter(|field| !field.is_empty()),
            ..Self::new(ErrorCode::InvalidArgument, problem.to_string())
        }
    }
}

impl From<umbo_ops::Error> for ToolError {
    fn from(error: umbo_ops::Error) -> Self {
        let umbo_ops::Error { code, message, field, refusal } = error;
        Self { code, message, field, refusal, structured: None }
    }
}

impl From<umbo_engine::Error> for ToolError {
    fn from(error: umbo_engine::Error) -> Self {
        umbo_ops::Error::from(error).into()
    }
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        umbo_ops::Error::from(error).into()
    }
}

/// A value without fields that say nothing: a model pays for each of them.
pub(crate) fn compact(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let says_nothing = |value: &Value| match value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                _ => false,
            };
            let kept: Map<String, Value> = map
                .into_iter()
                .filter(|(_, value)| !says_nothing(value))
                .map(|(name, value)| (name, compact(value)))
                .collect();
            Value::Object(kept)
        }
        Value::Array(items) => items.into_iter().map(compact).collect(),
        other => other,
    }
}
