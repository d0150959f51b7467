//! `list_process_handles`: what was started and stays.

use serde_json::json;

use super::{allows_nonzero, handle};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;

/// Processes that ended are listed for so many seconds, and so many of them.
const SHOWN: (u64, usize) = (300, 100);

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let mut handles = Vec::new();
    let mut lines = Vec::new();
    // What `exec_command` runs has no name.
    for summary in call.own(SHOWN.0, SHOWN.1, |summary| summary.name.is_some())? {
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
