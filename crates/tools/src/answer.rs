//! What a tool answers: a structured value, the same as text, or an error that says what to do.

use serde::Serialize;
use serde_json::{Map, Value, json};
use umbo_engine::JobHandle;
use umbo_ops::{ErrorCode, RefusalDetails};

use crate::completed::Completed;
use crate::schema::Problem;

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// The answer as data: what `umbo call` prints.
    pub structured: Value,
    /// Whether that is what the tool's output schema says. An error may have another shape.
    pub fits_schema: bool,
    /// The answer as text for a model.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What kind of error it is, if it is one.
    pub error: Option<ErrorCode>,
    /// The job that it is about, if it is about one.
    pub job: Option<String>,
    /// Whether a part of that job's output is left out.
    pub is_cut: bool,
    /// Jobs of this caller that ended since it was last told.
    pub completed: Vec<Completed>,
    /// Images that belong to it.
    pub images: Vec<Image>,
    /// What its caller has to know beside it, where the contract has no field for that.
    pub notes: Vec<String>,
}

/// An image for a model to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The kind of its data, such as `image/png`.
    pub mime_type: String,
    /// Its data in base64.
    pub data: String,
}

impl ToolResult {
    /// The data for a client that holds it against the tool's output schema. What is not there is
    /// said by the text.
    pub fn structured_content(&self) -> Option<&Value> {
        Some(&self.structured).filter(|_| self.fits_schema)
    }
}

/// What a tool's function returns when it did its work: data, and the same for a reader.
#[derive(Debug)]
pub struct Answer<T = Value> {
    pub(crate) structured: T,
    pub(crate) text: String,
    pub(crate) job: Option<String>,
    pub(crate) is_cut: bool,
    pub(crate) images: Vec<Image>,
}

impl<T> Answer<T> {
    /// Data, and what a model reads.
    pub fn new(structured: T, text: impl Into<String>) -> Self {
        Self { structured, text: text.into(), job: None, is_cut: false, images: Vec::new() }
    }

    /// The same, about a job.
    #[must_use]
    pub fn of_job(mut self, job: &JobHandle) -> Self {
        self.job = Some(job.id().to_string());
        self
    }

    /// The same, with a part of the job's output left out.
    #[must_use]
    pub fn cut(mut self, is_cut: bool) -> Self {
        self.is_cut = is_cut;
        self
    }

    /// The same, with an image to look at.
    #[must_use]
    pub fn with_image(mut self, mime_type: impl Into<String>, data: impl Into<String>) -> Self {
        self.images.push(Image { mime_type: mime_type.into(), data: data.into() });
        self
    }

    /// The same, about the job with this id.
    #[must_use]
    pub fn of_job_id(mut self, job: &str) -> Self {
        self.job = Some(job.to_owned());
        self
    }
}

impl<T: Serialize> Answer<T> {
    /// Data that is read as JSON.
    pub fn json(structured: T) -> Self {
        let text = to_value(&structured).to_string();
        Self::new(structured, text)
    }

    pub(crate) fn untyped(self) -> Answer {
        let Self { structured, text, job, is_cut, images } = self;
        Answer { structured: to_value(&structured), text, job, is_cut, images }
    }
}

fn to_value(data: &impl Serialize) -> Value {
    serde_json::to_value(data).unwrap_or_default()
}

/// Why a tool did not do its work.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolError {
    /// A word for programs.
    pub code: ErrorCode,
    /// A sentence for whoever called.
    pub message: String,
    /// The argument that is wrong.
    pub field: Option<String>,
    /// The job it is about.
    pub job: Option<String>,
    /// What the gate says beside.
    pub refusal: Option<Box<RefusalDetails>>,
    /// The shape a dialect gives to it, if it is not the common one.
    pub(crate) structured: Option<Value>,
}

impl ToolError {
    /// An error of a kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            field: None,
            job: None,
            refusal: None,
            structured: None,
        }
    }

    /// A wrong argument that no schema can see.
    pub fn argument(field: &str, message: impl std::fmt::Display) -> Self {
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
    #[must_use]
    pub fn shaped(mut self, structured: &impl Serialize) -> Self {
        self.structured = Some(to_value(structured));
        self
    }

    /// The error as most dialects tell it to programs.
    pub fn to_value(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let Some(field) = &self.field {
            error["field"] = json!(field);
        }
        if let Some(job) = &self.job {
            error["job"] = json!(job);
        }
        for (name, value) in self.details() {
            error[name] = value;
        }
        json!({"error": error})
    }

    /// What the gate says beside, by name.
    pub fn details(&self) -> Map<String, Value> {
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
        let umbo_ops::Error { code, mut message, field, job, refusal } = error;
        if code == ErrorCode::Unresponsive {
            message.push_str("; stopping the job ends it from outside");
        }
        Self { code, message, field, job, refusal, structured: None }
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
pub(crate) fn compact(mut value: Value) -> Value {
    remove_empty(&mut value);
    value
}

fn remove_empty(value: &mut Value) {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !says_nothing(value));
            map.values_mut().for_each(remove_empty);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_empty),
        _ => {}
    }
}
