//! `task_list`: every background task.

use serde_json::json;

use super::{SHOWN, standing, told};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::Call;
use umbo_ops::outlasted;

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let tasks = call.own(SHOWN.0, SHOWN.1, outlasted)?;
    let mut lines: Vec<String> = tasks
        .iter()
        .map(|summary| {
            let (status, _) = standing(&summary.status);
            let id = summary.name.as_deref().unwrap_or_default();
            format!("{id} {}: {}", status.as_str(), summary.command)
        })
        .collect();
    if lines.is_empty() {
        lines.push("no background tasks".to_owned());
    }
    let list: Vec<_> = tasks.iter().map(told).collect();
    Ok(Answer::new(json!({"tasks": list}), lines.join("\n")))
}
