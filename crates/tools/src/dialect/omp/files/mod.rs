//! The file tools of `omp`: `read`, `search`, `find`, `write` and `edit`.

mod edit;
mod find;
mod read;
mod search;
mod write;

use schemars::JsonSchema;
use serde::Serialize;
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::tool::{Annotations, Tool};

/// The tools, in the order in which they are listed.
pub(super) fn tools() -> Vec<Tool> {
    let read = Tool::new("read", include_str!("read.md"), read::run);
    let search = Tool::new("search", include_str!("search.md"), search::run);
    let find = Tool::new("find", include_str!("find.md"), find::run);
    let edit = Tool::new("edit", include_str!("edit.md"), edit::run).serial();
    let write = Tool::new("write", include_str!("write.md"), write::run).serial();
    vec![
        read.hints(Annotations::READS).for_files(),
        search.hints(Annotations::READS).for_files(),
        find.hints(Annotations::READS).for_files(),
        edit.hints(Annotations::CHANGES).for_files(),
        write.hints(Annotations::CHANGES).for_files(),
    ]
}

/// How much text a result has at most.
const MOST_TEXT_BYTES: usize = 50 * 1024;

/// What of a text is not shown.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HeadTruncation {
    direction: Head,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_lines: Option<u64>,
    output_lines: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Head {
    Head,
}

/// What is said beside.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileMeta {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<HeadTruncation>,
}

/// An error in the words of this contract: without the name of a field, and as a sentence.
fn told(error: umbo_ops::Error) -> ToolError {
    let named = error.field.as_ref().map(|field| format!("{field}: "));
    let mut message = match named.and_then(|named| error.message.strip_prefix(&named)) {
        Some(rest) => rest.split(" (got ").next().unwrap_or(rest).to_owned(),
        None => error.message.clone(),
    };
    let is_sentence = matches!(
        error.code,
        ErrorCode::NotFound | ErrorCode::NoChange | ErrorCode::InvalidArgument
    );
    let mut letters = message.chars();
    if let Some(first) = letters.next().filter(|_| is_sentence) {
        message = first.to_uppercase().chain(letters).collect();
    }
    ToolError { message, ..ToolError::from(error) }
}

/// The first lines of a text that fit; whether some did not.
fn head(text: String) -> (String, bool) {
    if text.len() <= MOST_TEXT_BYTES {
        return (text, false);
    }
    let cut = text.floor_char_boundary(MOST_TEXT_BYTES);
    let end = text[..cut].rfind('\n').map_or(cut, |at| at + 1);
    (text[..end].to_owned(), true)
}

/// A line on paths that do not exist.
fn skipped(missing: &[String]) -> Option<String> {
    (!missing.is_empty()).then(|| format!("Skipped missing paths: {}", missing.join(", ")))
}
