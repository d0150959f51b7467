//! `find`: files by name, newest first.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, FindRequest, Paths};
use umbo_ops::{Call, Count};

use super::super::error;
use super::super::result::{Output, answer};
use super::{head, skipped, told};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Globs, files and directories
    paths: Vec<String>,
    /// Include hidden files [true]
    hidden: Option<bool>,
    /// Most paths [1000]
    limit: Option<f64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    scope_path: String,
    file_count: usize,
    files: Vec<String>,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_paths: Vec<String>,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    let paths: Vec<String> =
        arguments.paths.iter().map(|path| path.trim().replace('\\', "/")).collect();
    if paths.is_empty() || paths.iter().any(String::is_empty) {
        return Err(error("`paths` must contain non-empty globs or paths"));
    }
    if paths.iter().any(|path| path.trim_end_matches('/').is_empty()) {
        return Err(error("Searching from root directory '/' is not allowed"));
    }
    let limit = arguments.limit.unwrap_or(1000.0);
    if limit < 1.0 {
        return Err(error("Limit must be a positive number"));
    }
    let limit = std::time::Duration::try_from_secs_f64(limit).map_or(u64::MAX, |s| s.as_secs());
    let request = FindRequest {
        paths: Paths(paths.clone()),
        no_hidden: arguments.hidden == Some(false),
        limit: Some(Count(limit.max(1))),
        ..FindRequest::default()
    };
    let found = files::find(call, &request).map_err(told)?;
    let mut text = found.files.join("\n");
    if text.is_empty() {
        text.push_str("No files found matching pattern");
    }
    let (mut text, is_cut) = head(text);
    text.truncate(text.trim_end().len());
    let reached = found.total > found.files.len() as u64;
    if reached {
        let _ = write!(text, "\n\n[The newest {} of {}]", found.files.len(), found.total);
    }
    if let Some(line) = skipped(&found.missing) {
        let _ = write!(text, "\n{line}");
    }
    if found.stopped.is_some() {
        text.push_str("\n[find timed out after 5s; what was found until then]");
    }
    let details = Details {
        scope_path: paths.join(", "),
        file_count: found.files.len(),
        truncated: reached || is_cut || found.stopped.is_some(),
        result_limit_reached: reached.then_some(limit),
        missing_paths: found.missing,
        files: found.files,
    };
    Ok(answer(text, details))
}
