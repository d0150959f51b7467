//! `Read`: lines of a file with their numbers, an image, or a notebook.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, Content, LineStyle, ReadOptions, ReadRequest};
use umbo_ops::{Call, Count};

use super::told;
use crate::answer::{Answer, ToolError};

/// As many lines as are read unless more are asked for.
const DEFAULT_LINES: u64 = 2000;
/// A longer line is cut.
const LONGEST_LINE: usize = 2000;
/// How much text an answer has at most.
const MOST_BYTES: usize = 256 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The absolute path to the file to read
    #[schemars(length(min = 1))]
    file_path: String,
    /// The line number to start reading from
    #[schemars(range(min = 0))]
    offset: Option<f64>,
    /// The number of lines to read
    #[schemars(range(min = 1))]
    limit: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Output {
    file_path: String,
    r#type: &'static str,
    content: String,
    num_lines: usize,
    start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
}

pub(super) fn run(call: &Call<'_>, arguments: Arguments) -> Result<Answer<Output>, ToolError> {
    let whole = |number: f64| {
        std::time::Duration::try_from_secs_f64(number).map_or(u64::MAX, |s| s.as_secs())
    };
    let start = arguments.offset.map_or(1, whole).max(1);
    let limit = arguments.limit.map_or(DEFAULT_LINES, whole).max(1);
    let is_part = arguments.offset.is_some() || arguments.limit.is_some();
    let path = if is_part && start > 1 {
        format!("{}:{start}", arguments.file_path)
    } else {
        arguments.file_path.clone()
    };
    let request = ReadRequest {
        path,
        max_lines: Some(Count(limit)),
        options: ReadOptions { style: LineStyle::Plain, max_bytes: MOST_BYTES, context: false },
        ..ReadRequest::default()
    };
    let read = files::read(call, &request).map_err(told)?;
    let file_path = arguments.file_path;
    match &read.content {
        Content::Text(page) => {
            let text = numbered(page.lines.iter().map(|line| (line.number, line.text.as_str())));
            let mut said = text.clone();
            if page.lines.is_empty() {
                let note = read.notes.first().cloned().unwrap_or_default();
                said = format!("<system-reminder>{note}</system-reminder>");
            }
            let output = Output {
                file_path,
                r#type: "text",
                num_lines: page.lines.len(),
                start_line: page.lines.first().map_or(start, |line| line.number),
                total_lines: read.total_lines,
                content: text,
            };
            Ok(Answer::new(output, said))
        }
        Content::Image(image) => {
            let text = read.text.clone();
            let output = output(file_path, "image", text.clone());
            Ok(Answer::new(output, text).with_image(image.mime_type.clone(), image.data.clone()))
        }
        Content::Directory(_) => {
            let message =
                format!("{file_path} is a directory: list it with LS, or read a file in it.");
            Err(ToolError::new(umbo_ops::ErrorCode::WrongKind, message))
        }
        Content::Archive(_) => {
            let text = read.text.clone();
            Ok(Answer::new(output(file_path, "archive", text.clone()), text))
        }
    }
}

fn output(file_path: String, kind: &'static str, content: String) -> Output {
    let num_lines = content.lines().count();
    Output { file_path, r#type: kind, content, num_lines, start_line: 1, total_lines: None }
}

/// Lines as `cat -n` has them: the number right-aligned in six columns, a tab, the line.
fn numbered<'a>(lines: impl Iterator<Item = (u64, &'a str)>) -> String {
    let mut text = String::new();
    for (number, line) in lines {
        let cut = line.floor_char_boundary(LONGEST_LINE);
        let more = if cut < line.len() { "… [line truncated]" } else { "" };
        let _ = writeln!(text, "{number:>6}\t{}{more}", &line[..cut]);
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
