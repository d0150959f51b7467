//! `Edit` and `MultiEdit`: text of one file gives way to other text.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, EditRequest, Replacement};
use umbo_ops::{Call, ErrorCode};

use super::told;
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The absolute path to the file to modify
    #[schemars(length(min = 1))]
    file_path: String,
    /// The text to replace
    old_string: String,
    /// The text to replace it with
    new_string: String,
    /// Replace all occurrences of `old_string` (default false)
    replace_all: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ManyArguments {
    /// The absolute path to the file to modify
    #[schemars(length(min = 1))]
    file_path: String,
    /// The edits, each made to the result of the one before
    #[schemars(length(min = 1))]
    edits: Vec<OneEdit>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OneEdit {
    /// The text to replace
    old_string: String,
    /// The text to replace it with
    new_string: String,
    /// Replace all occurrences of `old_string` (default false)
    replace_all: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    file_path: String,
    diff: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let Arguments { file_path, old_string, new_string, replace_all } = arguments;
    edit(call, file_path, &[OneEdit { old_string, new_string, replace_all }])
}

pub(super) fn run_many(
    call: &Call<'_>,
    arguments: ManyArguments,
) -> Result<Answer<Output>, ToolError> {
    edit(call, arguments.file_path, &arguments.edits)
}

fn edit(
    call: &Call<'_>,
    file_path: String,
    edits: &[OneEdit],
) -> Result<Answer<Output>, ToolError> {
    if edits.iter().any(|edit| edit.old_string == edit.new_string) {
        let message = "There is nothing to change: old_string and new_string are the same.";
        return Err(ToolError::new(ErrorCode::NoChange, message));
    }
    let request = EditRequest {
        path: Some(file_path.clone()),
        edits: Some(edits.iter().map(replacement).collect()),
        // What was not read is not known, and what changed since is not what was read.
        if_read: true,
        ..EditRequest::default()
    };
    let done = files::edit(call, &request).map_err(told)?;
    let diff: String = done.files.iter().map(|file| file.diff.as_str()).collect();
    let mut text = format!("The file {file_path} has been updated.\n{diff}");
    for warning in &done.warnings {
        let _ = write!(text, "\nNote: {warning}");
    }
    Ok(Answer::new(Output { file_path, diff }, text.trim_end()))
}

fn replacement(edit: &OneEdit) -> Replacement {
    Replacement {
        old: edit.old_string.clone(),
        new: edit.new_string.clone(),
        all: edit.replace_all == Some(true),
    }
}
