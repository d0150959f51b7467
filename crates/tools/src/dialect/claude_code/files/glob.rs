//! `Glob`: files by name, the latest first.

use std::fmt::Write as _;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, FindRequest, Paths};
use umbo_ops::{Call, Count};

use super::told;
use crate::answer::{Answer, ToolError};

const MOST_FILES: u64 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The glob pattern to match files against
    #[schemars(length(min = 1))]
    pattern: String,
    /// The directory to search in; the working directory unless given
    path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    filenames: Vec<String>,
    num_files: usize,
    truncated: bool,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let Arguments { pattern, path } = arguments;
    // Below a directory a pattern is as it stands: `*.rs` is not `**/*.rs`.
    let glob = match path {
        Some(path) => format!("{}/{pattern}", path.trim_end_matches('/')),
        None if pattern.starts_with(['/', '~']) => pattern,
        None => format!("./{pattern}"),
    };
    let request = FindRequest {
        paths: Paths(vec![glob]),
        limit: Some(Count(MOST_FILES)),
        ..FindRequest::default()
    };
    let found = files::find(call, &request).map_err(told)?;
    let absolute =
        |file: &String| call.caller.directory.join(Path::new(file)).display().to_string();
    let filenames: Vec<String> = found.files.iter().map(absolute).collect();
    let truncated = found.total > filenames.len() as u64 || found.stopped.is_some();
    let mut text = filenames.join("\n");
    if text.is_empty() {
        text.push_str("No files found");
    }
    if truncated {
        let _ = write!(text, "\n(the latest {} of {} files)", filenames.len(), found.total);
    }
    Ok(Answer::new(Output { num_files: filenames.len(), filenames, truncated }, text))
}
