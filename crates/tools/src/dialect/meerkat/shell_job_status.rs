//! `shell_job_status`: how a background job stands.

use serde_json::json;

use super::{MARK, job, status};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let id = arguments.text("job_id").unwrap_or_default();
    let (job, summary) = job(call, id)?;
    let timeout = summary.name.as_deref().and_then(|name| name.strip_prefix(MARK));
    let timeout: u64 = timeout.and_then(|digits| digits.parse().ok()).unwrap_or(0);
    if matches!(summary.status, umbo_engine::Status::Ended(_)) {
        call.told(&job);
    }
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
