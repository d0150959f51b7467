//! `BashOutput`: what is new in a background shell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_engine::Status;
use umbo_ops::{Call, text};
use umbo_view::{Regex, View};

use super::{State, exit_code, shell};
use crate::answer::{Answer, ToolError};
use crate::denied::with_denials;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The ID of the background shell
    bash_id: String,
    /// Optional regular expression to filter the output lines
    filter: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    shell_id: String,
    command: String,
    status: State,
    exit_code: Option<i32>,
    stdout: String,
    stderr: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let filter = match &arguments.filter {
        Some(pattern) => Some(Regex::new(pattern).map_err(|error| {
            ToolError::argument("filter", format!("{pattern:?} is no pattern: {error}"))
        })?),
        None => None,
    };
    let job = shell(call, &arguments.bash_id)?;
    // Asked first: what is written after the answer is then still to come.
    let status = job.status()?;
    let (stdout, stderr) = call.unread_streams(&job, call.budget(None))?;
    let filtered = |view: &View| -> String {
        let Some(filter) = &filter else { return text(view) };
        let text = text(view);
        let lines = text.split_inclusive('\n');
        lines.filter(|line| filter.is_match(line.trim_end_matches('\n'))).collect()
    };
    let (stdout, mut stderr) = (filtered(&stdout), filtered(&stderr));
    let code = match &status {
        Status::Ended(outcome) => {
            call.told(&job);
            stderr = with_denials(stderr, outcome);
            exit_code(outcome)
        }
        Status::Created | Status::Started { .. } => None,
    };
    let state = State::of(&status);
    let mut sections = vec![format!("<status>{}</status>", state.as_str())];
    if let Some(code) = code {
        sections.push(format!("<exit_code>{code}</exit_code>"));
    }
    for (name, text) in [("stdout", &stdout), ("stderr", &stderr)] {
        if !text.is_empty() {
            sections.push(format!("<{name}>\n{}\n</{name}>", text.trim_end_matches('\n')));
        }
    }
    let command = job.summary().map(|summary| summary.command).unwrap_or_default();
    let shell_id = arguments.bash_id;
    let output = Output { shell_id, command, status: state, exit_code: code, stdout, stderr };
    Ok(Answer::new(output, sections.join("\n\n")).of_job(&job))
}
