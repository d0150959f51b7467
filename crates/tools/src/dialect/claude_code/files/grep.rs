//! `Grep`: a regular expression in files, by ripgrep's own engine.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, Paths, SearchAnswer, SearchOptions, SearchRequest, WantedOutput};
use umbo_ops::{Call, Count};

use super::told;
use crate::answer::{Answer, ToolError};

/// As many lines or files as an answer has unless it is told.
const DEFAULT_HEAD: u64 = 250;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The regular expression to search for in file contents
    #[schemars(length(min = 1))]
    pattern: String,
    /// File or directory to search in; the working directory unless given
    path: Option<String>,
    /// Glob pattern to filter files, as "*.js" or "*.{ts,tsx}"
    glob: Option<String>,
    /// "content" shows matching lines, `files_with_matches` (default) shows paths, "count" shows counts
    output_mode: Option<OutputMode>,
    /// Lines to show before each match, with `output_mode` "content"
    #[serde(rename = "-B")]
    #[schemars(range(min = 0))]
    before: Option<f64>,
    /// Lines to show after each match, with `output_mode` "content"
    #[serde(rename = "-A")]
    #[schemars(range(min = 0))]
    after: Option<f64>,
    /// Lines to show before and after each match, with `output_mode` "content"
    #[serde(rename = "-C")]
    #[schemars(range(min = 0))]
    context: Option<f64>,
    /// Show line numbers, with `output_mode` "content" (default true)
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Case insensitive search
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Type of files to search, as js, py, rust
    r#type: Option<String>,
    /// At most so many lines or entries
    #[schemars(range(min = 0))]
    head_limit: Option<f64>,
    /// Leave out so many of the first lines or entries
    #[schemars(range(min = 0))]
    offset: Option<f64>,
    /// Let patterns span lines, where `.` matches line breaks
    multiline: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    mode: OutputMode,
    filenames: Vec<String>,
    num_files: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_matches: Option<u64>,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let mode = arguments.output_mode.unwrap_or(OutputMode::FilesWithMatches);
    let count = |number: f64| {
        std::time::Duration::try_from_secs_f64(number).map_or(u64::MAX, |span| span.as_secs())
    };
    let lines = |number: Option<f64>| {
        let number = number.or(arguments.context).map_or(0, count);
        Some(usize::try_from(number).unwrap_or(usize::MAX))
    };
    // 0 is all of it.
    let head = arguments.head_limit.map_or(DEFAULT_HEAD, count);
    let head = if head == 0 { u64::MAX / 2 } else { head };
    let request = SearchRequest {
        pattern: arguments.pattern.clone(),
        paths: Paths(arguments.path.iter().cloned().collect()),
        ignore_case: arguments.ignore_case == Some(true),
        multiline: Some(arguments.multiline == Some(true)),
        output: Some(match mode {
            OutputMode::Content => WantedOutput::Lines,
            OutputMode::FilesWithMatches => WantedOutput::Files,
            OutputMode::Count => WantedOutput::Counts,
        }),
        limit: Some(Count(head)),
        skip: arguments.offset.map(count).map(Count),
        options: SearchOptions {
            globs: arguments.glob.iter().cloned().collect(),
            file_type: arguments.r#type.clone(),
            dot_matches_newline: arguments.multiline == Some(true),
            before: lines(arguments.before),
            after: lines(arguments.after),
            ..SearchOptions::default()
        },
        ..SearchRequest::default()
    };
    let found = files::search(call, &request).map_err(told)?;
    Ok(answer(mode, arguments.numbers != Some(false), &found))
}

fn answer(mode: OutputMode, numbers: bool, found: &SearchAnswer) -> Answer<Output> {
    let filenames: Vec<String> = found.files.iter().map(|file| file.path.clone()).collect();
    let (content, mut text) = match mode {
        OutputMode::Content => {
            let content = content(found, numbers);
            let text =
                if content.is_empty() { "No matches found".to_owned() } else { content.clone() };
            (Some(content), text)
        }
        OutputMode::FilesWithMatches if filenames.is_empty() => (None, "No files found".to_owned()),
        OutputMode::FilesWithMatches => {
            let count = found.total_files;
            let noun = if count == 1 { "file" } else { "files" };
            (None, format!("Found {count} {noun}\n{}", filenames.join("\n")))
        }
        OutputMode::Count if filenames.is_empty() => {
            (Some(String::new()), "No matches found".to_owned())
        }
        OutputMode::Count => {
            let (matches, files) = (found.total_matches, found.total_files);
            let text = format!("{}\n{matches} matches in {files} files", found.text);
            (Some(found.text.clone()), text)
        }
    };
    if let Some(next) = found.next_skip {
        let _ = write!(text, "\n[there are more: offset {next}]");
    }
    if let Some(why) = found.stopped {
        let _ = write!(text, "\n[not everything was searched: {why}]");
    }
    let num_matches = (mode != OutputMode::FilesWithMatches).then_some(found.total_matches);
    Answer::new(Output { mode, num_files: filenames.len(), filenames, content, num_matches }, text)
}

/// Matching lines as `path:5:text`, those around them as `path-6-text`.
fn content(found: &SearchAnswer, numbers: bool) -> String {
    let mut text = String::new();
    for file in &found.files {
        let mut last = None;
        for line in &file.lines {
            if last.is_some_and(|last| line.number > last + 1) {
                text.push_str("--\n");
            }
            last = Some(line.number);
            let mark = if line.is_match { ':' } else { '-' };
            let _ = if numbers {
                writeln!(text, "{}{mark}{}{mark}{}", file.path, line.number, line.text)
            } else {
                writeln!(text, "{}{mark}{}", file.path, line.text)
            };
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
