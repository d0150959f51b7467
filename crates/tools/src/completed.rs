//! What a dialect tells of jobs that ended without their caller's knowing.

use serde::Serialize;
use serde_json::{Value, json};
use umbo_engine::{Status, Summary};
use umbo_ops::{Call, Ticket, first_line};

use crate::toolset::Toolset;

/// A job that ended unseen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Completed {
    /// The job.
    pub job: String,
    /// The event, in the shape of the dialect.
    pub event: Value,
    /// The same as a sentence.
    pub sentence: String,
    /// Whether it ended with code 0.
    pub is_success: bool,
    /// Whether the sentence is a message of its own, which nothing may be written around.
    pub is_message: bool,
}

impl Completed {
    /// What a dialect tells of a job, as data and as a sentence.
    pub fn new(job: &Summary, event: &impl Serialize, sentence: impl Into<String>) -> Self {
        let event = serde_json::to_value(event).unwrap_or_default();
        let is_success =
            matches!(&job.status, Status::Ended(outcome) if outcome.exit_code() == Some(0));
        let job = job.job.to_string();
        Self { job, event, sentence: sentence.into(), is_success, is_message: false }
    }

    /// The same, with a sentence that is read by a program.
    #[must_use]
    pub fn as_message(mut self) -> Self {
        self.is_message = true;
        self
    }

    /// What most dialects tell of it.
    pub fn usual(job: &Summary) -> Self {
        Self::new(job, &event(job), sentence(job))
    }
}

impl Toolset {
    /// What there is to tell of a job of this caller's that has ended unseen, once. The next result
    /// tells it too, for that is what a model reads.
    pub fn announce(&self, job: &str) -> Option<Completed> {
        let job = self.backend.job(job).ok()?;
        let summary = self.completions.announce(&job)?;
        let ticket = Ticket::default();
        let told = self.told(&Call::new(self, &ticket), &summary)?;
        Some(self.masked_completion(told))
    }
}

fn event(summary: &Summary) -> Value {
    let mut value = json!({
        "job": summary.job.as_str(),
        "state": summary.status.name(),
        "command": first_line(&summary.command),
        "total_bytes": summary.total_bytes,
    });
    if let Some(name) = &summary.name {
        value["name"] = json!(name);
    }
    if let Status::Ended(outcome) = &summary.status
        && let Some(code) = outcome.exit_code()
    {
        value["exit_code"] = json!(code);
    }
    value
}

/// How a job ended, in words.
pub(crate) fn ending(summary: &Summary) -> String {
    match &summary.status {
        Status::Ended(outcome) => match (outcome.exit_code(), outcome.signal()) {
            (Some(code), _) => format!("{} with code {code}", outcome.end.name()),
            (None, Some(signal)) => format!("{} by signal {signal}", outcome.end.name()),
            (None, None) => outcome.end.name().to_owned(),
        },
        status => status.name().to_owned(),
    }
}

fn sentence(summary: &Summary) -> String {
    let how = ending(summary);
    let name = summary.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let command = first_line(&summary.command);
    let (job, bytes) = (summary.job.short(), summary.total_bytes);
    let denied = match &summary.status {
        Status::Ended(outcome) => umbo_ops::denials(outcome),
        Status::Created | Status::Started { .. } => None,
    };
    let denied = denied.map(|denied| format!("; {denied}")).unwrap_or_default();
    format!("job {job}{name} {how}, {bytes} bytes of output: {command}{denied}")
}
