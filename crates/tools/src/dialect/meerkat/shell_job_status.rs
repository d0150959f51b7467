//! `shell_job_status`: how a background job stands.

use serde_json::json;

use super::{TIMEOUT, job, status};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("job_id").unwrap_or_default();
    let (job, summary) = job(call, id)?;
    let timeout = summary.labels.get(TIMEOUT).and_then(|digits| digits.parse().ok());
    let timeout: u64 = timeout.unwrap_or_default();
    let value = json!({
        "id": id,
        "command": summary.command,
        "working_dir": summary.cwd,
        "timeout_secs": timeout,
        "status": status(call, &job, &summary)?,
    });
    let text = value.to_string();
    Ok(Answer::new(value, text))
}
