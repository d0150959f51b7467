//! What a dialect tells of jobs that ended without their caller's knowing.

use serde_json::{Value, json};
use umbo_engine::{Status, Summary};
use umbo_ops::{Ticket, first_line};

use crate::answer::Completed;
use crate::call::Call;
use crate::toolset::Toolset;

impl Toolset {
    /// What there is to tell of a job of this caller's that has ended unseen, once. The next result
    /// tells it too, for that is what a model reads.
    pub fn announce(&self, job: &str) -> Option<Completed> {
        let job = self.engine.job(job).ok()?;
        let summary = self.completions.announce(&job)?;
        let ticket = Ticket::default();
        let told = told(&Call::new(self, &ticket), &summary)?;
        Some(self.masked_completion(told))
    }
}

fn is_success(summary: &Summary) -> bool {
    matches!(&summary.status, Status::Ended(outcome) if outcome.exit_code() == Some(0))
}

pub(crate) fn told(call: &Call<'_>, summary: &Summary) -> Option<Completed> {
    let event = (call.tools.dialect.event)(call, summary)?;
    let sentence = (call.tools.dialect.sentence)(summary, &event);
    Some(Completed { event, sentence, is_success: is_success(summary) })
}

/// What most dialects tell of a job that has ended.
#[expect(clippy::unnecessary_wraps, reason = "the signature of all dialects' events")]
pub(crate) fn event(_call: &Call<'_>, summary: &Summary) -> Option<Value> {
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
    Some(value)
}

/// What most dialects say of it.
pub(crate) fn sentence(summary: &Summary, _event: &Value) -> String {
    let how = match &summary.status {
        Status::Ended(outcome) => match (outcome.exit_code(), outcome.signal()) {
            (Some(code), _) => format!("{} with code {code}", outcome.end.name()),
            (None, Some(signal)) => format!("{} by signal {signal}", outcome.end.name()),
            (None, None) => outcome.end.name().to_owned(),
        },
        status => status.name().to_owned(),
    };
    let name = summary.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let command = first_line(&summary.command);
    format!("job {}{name} {how}, {} bytes of output: {command}", summary.job, summary.total_bytes)
}
