//! What the tools answer with: one block of text, and details.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Number, Value, json};
use umbo_engine::{End, Status};

use crate::answer::Answer;

/// A result with details of a type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output<D> {
    #[schemars(length(min = 1))]
    content: Vec<Block>,
    details: D,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Block {
    r#type: BlockType,
    text: String,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BlockType {
    Text,
}

/// The details of `bash` and `recipe`.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BashDetails {
    #[schemars(with = "f64")]
    pub(super) timeout_seconds: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub(super) requested_timeout_seconds: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#async: Option<Async>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) meta: Option<Meta>,
}

/// A background job, as its start and its end tell of it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Async {
    state: AsyncState,
    job_id: String,
    r#type: JobType,
}

/// Its state, in the words of a start or an end.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AsyncState {
    Running,
    Completed,
    Failed,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum JobType {
    Bash,
}

impl Async {
    pub(super) fn new(state: AsyncState, id: &str) -> Self {
        Self { state, job_id: id.to_owned(), r#type: JobType::Bash }
    }
}

/// What is said beside.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Meta {
    pub(super) truncation: Truncation,
}

/// What of the output is not in the text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Truncation {
    pub(super) direction: Direction,
    pub(super) truncated_by: TruncatedBy,
    pub(super) total_lines: Option<i64>,
    pub(super) total_bytes: u64,
    pub(super) output_lines: u64,
    pub(super) output_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shown_range: Option<ShownRange>,
    pub(super) artifact_id: String,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Direction {
    Tail,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TruncatedBy {
    Bytes,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ShownRange {
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum JobState {
    Running,
    Completed,
    Failed,
    Cancelled,
}

impl JobState {
    pub(super) fn of(status: &Status) -> Self {
        match status {
            Status::Created | Status::Started { .. } => Self::Running,
            Status::Ended(outcome) => match &outcome.end {
                End::Stopped { .. } => Self::Cancelled,
                _ if outcome.success() => Self::Completed,
                _ => Self::Failed,
            },
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl<D> Output<D> {
    pub(super) fn new(text: &str, details: D) -> Self {
        Self { content: vec![Block { r#type: BlockType::Text, text: text.to_owned() }], details }
    }
}

/// One block of text, and details.
pub(super) fn answer<D>(text: String, details: D) -> Answer<Output<D>> {
    Answer::new(Output::new(&text, details), text)
}

/// An error, which is thrown there and has no details.
pub(super) fn thrown(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "details": {}, "isError": true})
}
