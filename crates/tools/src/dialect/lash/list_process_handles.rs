//! `list_process_handles`: what was started and stays.

use serde_json::{Value, json};
use umbo_engine::Scope;

use super::handle;
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, Whose};

pub(super) fn run(call: &Call<'_>, _arguments: &Arguments) -> Result<Answer, ToolError> {
    let mut handles = Vec::new();
    let mut lines = Vec::new();
    for summary in call.jobs(Whose::Mine, Scope::Recent)? {
        let Some(id) = summary.name.as_deref().filter(|name| name.starts_with("shell:")) else {
            continue;
        };
        let mut listed = handle(id, &summary.status);
        listed["descriptor"] = json!({"kind": "shell", "label": summary.command});
        lines.push(format!("{id} {}: {}", listed["status"], summary.command));
        handles.push(listed);
    }
    Ok(Answer::new(Value::Array(handles), lines.join("\n")))
}
