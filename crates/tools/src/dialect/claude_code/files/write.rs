//! `Write`: a whole file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::Call;
use umbo_ops::files::{self, WantedOverwrite, WriteRequest};

use super::told;
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The absolute path to the file to write
    #[schemars(length(min = 1))]
    file_path: String,
    /// The content to write to the file
    content: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    r#type: &'static str,
    file_path: String,
    diff: String,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let file_path = arguments.file_path;
    let request = WriteRequest {
        path: file_path.clone(),
        content: arguments.content,
        overwrite: Some(WantedOverwrite::IfRead),
        ..WriteRequest::default()
    };
    let done = files::write(call, &request).map_err(told)?;
    let text = match done.op {
        "create" => format!("File created successfully at: {file_path}"),
        _ => format!("The file {file_path} has been updated.\n{}", done.diff),
    };
    let output = Output { r#type: done.op, file_path, diff: done.diff };
    Ok(Answer::new(output, text.trim_end()))
}
