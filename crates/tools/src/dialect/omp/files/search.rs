//! `search`: a regular expression in files.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, Paths, SearchOptions, SearchRequest};
use umbo_ops::{Call, Count};

use super::super::error;
use super::super::result::{Output, answer};
use super::super::urls::{self, Writing};
use super::{head, skipped, told};
use crate::answer::{Answer, ToolError};

/// As many matches as a page has.
const MATCH_LIMIT: u64 = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Regex; escape literal braces, use `\n` to match across lines
    pattern: String,
    /// Files, directories and globs
    paths: Vec<String>,
    /// Ignore case
    i: Option<bool>,
    /// Respect .gitignore [true]
    gitignore: Option<bool>,
    /// Matches to leave out, for the next page
    skip: Option<f64>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    scope_path: String,
    match_count: usize,
    file_count: usize,
    files: Vec<String>,
    file_matches: Vec<FileMatches>,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_truncated: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_paths: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileMatches {
    path: String,
    count: usize,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    if arguments.pattern.trim().is_empty() {
        return Err(error("Pattern must not be empty"));
    }
    let skip = match arguments.skip {
        Some(skip) if skip < 0.0 => return Err(error("Skip must be a non-negative number")),
        skip => skip.unwrap_or_default(),
    };
    let paths = paths(call, &arguments.paths)?;
    let names_modules = paths.iter().any(|path| path.contains("node_modules"));
    let request = SearchRequest {
        pattern: arguments.pattern,
        paths: Paths(paths.clone()),
        ignore_case: arguments.i == Some(true),
        ignored: arguments.gitignore == Some(false),
        limit: Some(Count(MATCH_LIMIT)),
        skip: Some(Count(
            std::time::Duration::try_from_secs_f64(skip).map_or(u64::MAX, |s| s.as_secs()),
        )),
        options: SearchOptions {
            prune: if names_modules { Vec::new() } else { vec!["node_modules".to_owned()] },
            ..SearchOptions::default()
        },
        ..SearchRequest::default()
    };
    let found = files::search(call, &request).map_err(told)?;
    let mut details = Details {
        scope_path: paths.join(", "),
        match_count: found.shown,
        file_count: found.files.len(),
        files: found.files.iter().map(|file| file.path.clone()).collect(),
        match_limit_reached: found.next_skip.map(|_| MATCH_LIMIT),
        missing_paths: found.missing.clone(),
        ..Details::default()
    };
    for file in &found.files {
        let count = file.lines.iter().filter(|line| line.is_match).count();
        details.file_matches.push(FileMatches { path: file.path.clone(), count });
    }
    let is_cut = found.files.iter().any(|file| file.lines.iter().any(|line| line.is_clamped));
    details.lines_truncated = is_cut.then_some(true);
    // One file needs no heading.
    let is_one =
        matches!(&paths[..], [path] if found.files.len() == 1 && found.files[0].path == *path);
    let text = if is_one {
        found.text.split_once('\n').map_or(found.text.as_str(), |(_, rest)| rest).to_owned()
    } else {
        found.text.clone()
    };
    let (mut text, truncated) = head(text);
    details.truncated = truncated.then_some(true);
    text.truncate(text.trim_end().len());
    if let Some(next) = found.next_skip {
        let total = found.total_matches;
        let _ = write!(text, "\n\n[{} of {total} matches; use skip={next} for more]", found.shown);
    }
    if let Some(line) = skipped(&found.missing) {
        let _ = write!(text, "\n{line}");
    }
    if let Some(why) = found.stopped {
        let _ = write!(text, "\n[Not everything was searched: {why}]");
    }
    Ok(answer(text, details))
}

/// The paths that are meant: an artifact is the file with all that a job wrote.
fn paths(call: &Call<'_>, given: &[String]) -> Result<Vec<String>, ToolError> {
    if given.is_empty() || given.iter().any(|path| path.trim().is_empty()) {
        return Err(error("`paths` must contain non-empty paths or globs"));
    }
    let mut paths = Vec::new();
    for path in given {
        let is_url = path.contains("://") && !path.starts_with("file://");
        if is_url && path.contains(['*', '?', '[', '{']) {
            let text = format!("Glob patterns are not supported for internal URLs: {path}");
            return Err(error(text));
        }
        paths.push(if is_url { urls::expand(call, path, Writing::Bare)? } else { path.clone() });
    }
    Ok(paths)
}
