//! `list_process_handles`: what was started and stays.

use serde_json::json;

use super::{allows_nonzero, handle, processes};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let mut handles = Vec::new();
    let mut lines = Vec::new();
    for summary in processes(call)? {
        let id = summary.name.as_deref().unwrap_or_default();
        let mut listed = handle(id, &summary.status, allows_nonzero(&summary.labels));
        let word = listed["status"].as_str().unwrap_or_default();
        lines.push(format!("{id} {word}: {}", summary.command));
        listed["descriptor"] = json!({"kind": "shell", "label": summary.command});
        handles.push(listed);
    }
    if lines.is_empty() {
        lines.push("no processes".to_owned());
    }
    Ok(Answer::new(json!({"processes": handles}), lines.join("\n")))
}
