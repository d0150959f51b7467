//! `edit`: changes by anchors, in one file or several.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, EditRequest, EditedFile};
use umbo_ops::{Call, ErrorCode};

use super::super::result::{Output, answer};
use super::told;
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Sections `@@ PATH`, each with operations by anchors
    input: String,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_changed_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_file_results: Vec<FileResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileResult {
    path: String,
    op: &'static str,
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_changed_line: Option<usize>,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    let request = EditRequest { input: Some(arguments.input), ..EditRequest::default() };
    let done = files::edit(call, &request).map_err(failed)?;
    let mut text: String = done.files.iter().map(preview).collect::<Vec<_>>().join("\n");
    if !done.warnings.is_empty() {
        let _ = write!(text, "\nWarnings:\n{}", done.warnings.join("\n"));
    }
    let mut details = Details { change: done.change, ..Details::default() };
    if let [only] = &done.files[..] {
        details.diff.clone_from(&only.diff);
        details.first_changed_line = only.first_changed_line;
        details.op = Some(only.op);
    } else {
        details.diff = done.files.iter().map(|file| file.diff.as_str()).collect();
        details.per_file_results = done.files.into_iter().map(FileResult::new).collect();
    }
    Ok(answer(text.trim_end().to_owned(), details))
}

/// The path, and what changed.
fn preview(file: &EditedFile) -> String {
    let verb = if file.op == "create" { "Created" } else { "Updated" };
    let hunks: Vec<&str> = file.diff.lines().skip(2).collect();
    if hunks.is_empty() || file.op == "create" {
        return format!("{verb} {}\n", file.path);
    }
    format!("{}:\n{}\n", file.path, hunks.join("\n"))
}

/// An error in the words of this contract.
fn failed(error: umbo_ops::Error) -> ToolError {
    let code = error.code;
    let mut told = told(error);
    match code {
        ErrorCode::NotFound => {
            told.message = told.message.replacen("Path not found", "File not found", 1);
        }
        ErrorCode::NoChange => told.message.push('.'),
        _ => {}
    }
    told
}

impl FileResult {
    fn new(file: EditedFile) -> Self {
        let EditedFile { path, op, diff, first_changed_line, .. } = file;
        Self { path, op, diff, first_changed_line }
    }
}
