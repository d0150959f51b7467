//! What a tool answers: a structured value, the same as text, or an error that says what to do.

use serde_json::{Map, Value, json};
use umbo_engine::Error;
use umbo_gate::{Refusal, show_time};

use crate::gatekeeper::NotAdmitted;
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
    pub(crate) code: &'static str,
    /// A sentence for whoever called.
    pub(crate) message: String,
    /// The argument that is wrong.
    pub(crate) field: Option<String>,
    /// What programs are told beside.
    pub(crate) details: Map<String, Value>,
    /// The shape a dialect gives to it, if it is not the common one.
    pub(crate) structured: Option<Value>,
}

impl ToolError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, details: Map::new(), structured: None }
    }

    /// A wrong argument that no schema can see.
    pub(crate) fn argument(field: &str, message: impl std::fmt::Display) -> Self {
        Self {
            field: Some(field.to_owned()),
            ..Self::new("invalid_argument", format!("{field}: {message}"))
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
        for (name, value) in &self.details {
            error[name] = value.clone();
        }
        json!({"error": error})
    }
}

impl From<Problem> for ToolError {
    fn from(problem: Problem) -> Self {
        Self {
            field: Some(problem.field.clone()).filter(|field| !field.is_empty()),
            ..Self::new("invalid_argument", problem.to_string())
        }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let field = error.field().map(str::to_owned);
        // Who calls tools has no command line.
        let message = match &error {
            Error::UnknownJob(name) => format!("no job {name:?}"),
            Error::Unresponsive { job, seconds } => format!(
                "the supervisor of job {job} did not answer within {seconds} s; stopping the job \
                 ends it from outside"
            ),
            other => other.to_string(),
        };
        Self { field, ..Self::new(error.code(), message) }
    }
}

impl From<NotAdmitted> for ToolError {
    fn from(error: NotAdmitted) -> Self {
        match error {
            NotAdmitted::Refused(refusal) => refused(&refusal),
            NotAdmitted::Gate(error) => Self::new("gate_failed", error.to_string()),
        }
    }
}

fn refused(refusal: &Refusal) -> ToolError {
    let mut error = ToolError::new(refusal.code(), refusal.to_string());
    if let Ok(Value::Object(details)) = serde_json::to_value(refusal) {
        error.details = details;
    }
    if let Some(time) = refusal.expires_at() {
        error.details.insert("expires_at".to_owned(), json!(show_time(time)));
    }
    if let Some(line) = refusal.answer_with() {
        error.details.insert("answer_with".to_owned(), json!(line));
    }
    error
}

impl From<std::io::Error> for ToolError {
    fn from(error: std::io::Error) -> Self {
        Self::new("internal", format!("cannot read the output: {error}"))
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
