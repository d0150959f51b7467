//! `BashOutput`: what is new in a background shell.

use serde_json::json;
use umbo_engine::Status;
use umbo_view::{Regex, View};

use super::{exit_code, shell, status};
use crate::answer::{Answer, ToolError};
use crate::arguments::Arguments;
use crate::call::{Call, text};

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let filter = match arguments.text("filter") {
        Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
            ToolError::argument("filter", format!("{pattern:?} is no pattern: {error}"))
        })?),
        None => None,
    };
    let id = arguments.text("bash_id").unwrap_or_default();
    let job = shell(call, id)?;
    // Asked first: what is written after the answer is then still to come.
    let state = job.status()?;
    let (stdout, stderr) = call.unread_streams(&job, call.budget(None))?;
    let filtered = |view: &View| -> String {
        let Some(filter) = &filter else { return text(view) };
        let text = text(view);
        let lines = text.split_inclusive('\n');
        lines.filter(|line| filter.is_match(line.trim_end_matches('\n'))).collect()
    };
    let (stdout, stderr) = (filtered(&stdout), filtered(&stderr));
    let code = match &state {
        Status::Ended(outcome) => {
            call.told(&job);
            exit_code(outcome)
        }
        Status::Created | Status::Started { .. } => None,
    };
    let mut sections = vec![format!("<status>{}</status>", status(&state))];
    if let Some(code) = code {
        sections.push(format!("<exit_code>{code}</exit_code>"));
    }
    for (name, text) in [("stdout", &stdout), ("stderr", &stderr)] {
        if !text.is_empty() {
            sections.push(format!("<{name}>\n{}\n</{name}>", text.trim_end_matches('\n')));
        }
    }
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    let value = json!({
        "shellId": id,
        "command": command,
        "status": status(&state),
        "exitCode": code,
        "stdout": stdout,
        "stderr": stderr,
    });
    Ok(Answer::new(value, sections.join("\n\n")))
}
