//! `write`: a whole file.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::Call;
use umbo_ops::files::{self, WantedOverwrite, WriteRequest};

use super::super::result::{Output, answer};
use super::told;
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path of the file; missing directories are made
    path: String,
    /// All of its content
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    op: &'static str,
    bytes: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    let request = WriteRequest {
        path: arguments.path,
        content: arguments.content,
        overwrite: Some(WantedOverwrite::UnlessChanged),
        ..WriteRequest::default()
    };
    let done = files::write(call, &request).map_err(told)?;
    let verb = if done.op == "create" { "Created" } else { "Updated" };
    let mut text = format!("{verb} {} ({} bytes)", done.path, done.bytes);
    if !done.warnings.is_empty() {
        let _ = write!(text, "\n\nWarnings:\n{}", done.warnings.join("\n"));
    }
    let details = Details { op: done.op, bytes: done.bytes, diff: done.diff, change: done.change };
    Ok(answer(text, details))
}
