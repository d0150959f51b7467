//! `apply_patch`: files made, changed, moved and removed by one patch, all of it or nothing.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::Call;
use umbo_ops::files::{self, EditRequest};

use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The patch, whole
    #[schemars(length(min = 1))]
    input: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    output: String,
    exit_code: i32,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let request = EditRequest { patch: Some(arguments.input), ..EditRequest::default() };
    let done = files::edit(call, &request)?;
    let mut text = "Success. Updated the following files:".to_owned();
    for file in &done.files {
        let letter = match file.op {
            "create" => 'A',
            "delete" => 'D',
            _ => 'M',
        };
        // A file that was moved is told where it was.
        let path = file.from.as_ref().unwrap_or(&file.path);
        let _ = write!(text, "\n{letter} {path}");
    }
    for warning in &done.warnings {
        let _ = write!(text, "\nNote: {warning}");
    }
    text.push('\n');
    Ok(Answer::new(Output { output: text.clone(), exit_code: 0 }, text))
}
