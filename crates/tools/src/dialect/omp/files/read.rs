//! `read`: whatever one string leads to.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::files::{self, Content, LineStyle, ReadAnswer, ReadOptions, ReadRequest, TextPage};
use umbo_ops::{Call, ErrorCode};

use super::super::result::{Output, answer};
use super::{FileMeta, Head, HeadTruncation, told};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Path or URL; a selector may follow, as `src/a.ts:50-100`, `src/a.ts:50+10`, `src/a.ts:raw`
    path: String,
}

/// What is said beside the text.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    is_directory: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suffix_resolution: Option<SuffixResolution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Summary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<FileMeta>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SuffixResolution {
    from: String,
    to: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Summary {
    lines: usize,
    elided_spans: usize,
    elided_lines: u64,
}

pub(super) fn run(
    call: &Call<'_>,
    arguments: Arguments,
) -> Result<Answer<Output<Details>>, ToolError> {
    // As the contract has it, a bare slash is where the caller works.
    let path = if arguments.path.trim() == "/" { ".".to_owned() } else { arguments.path };
    let request = ReadRequest {
        path: path.clone(),
        summary: true,
        options: ReadOptions { style: LineStyle::Anchors, context: true, ..ReadOptions::default() },
        ..ReadRequest::default()
    };
    match files::read(call, &request) {
        Ok(read) => Ok(shown(&path, &read)),
        // What cannot be converted is said, not thrown.
        Err(error) if error.code == ErrorCode::Unreadable && is_notice(&path) => {
            let text = format!("[{}]", upper(&error.message));
            Ok(answer(text, Details::default()))
        }
        Err(error) => Err(told(error)),
    }
}

/// Whether a failure to read this is a notice of the contract: documents and members of archives.
fn is_notice(path: &str) -> bool {
    const DOCUMENTS: [&str; 9] =
        [".pdf", ".doc", ".docx", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf", ".epub"];
    const ARCHIVES: [&str; 4] = [".tar:", ".tgz:", ".tar.gz:", ".zip:"];
    let path = path.to_ascii_lowercase();
    DOCUMENTS.iter().any(|ending| path.ends_with(ending))
        || ARCHIVES.iter().any(|part| path.contains(part))
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn shown(path: &str, read: &ReadAnswer) -> Answer<Output<Details>> {
    let mut text = String::new();
    let mut details = Details {
        is_directory: (read.kind == "directory").then_some(true),
        resolved_path: read.found_by.as_ref().map(|_| read.path.clone()),
        ..Details::default()
    };
    if read.found_by == Some(files::FoundBy::Suffix) {
        let (from, to) = (path.to_owned(), read.path.clone());
        let _ = writeln!(text, "[Path '{from}' not found; resolved to '{to}' via suffix match]");
        details.suffix_resolution = Some(SuffixResolution { from, to });
    }
    match &read.content {
        Content::Text(page) => text.push_str(&page_text(page, &read.text)),
        _ => text.push_str(&read.text),
    }
    details.notes.clone_from(&read.notes);
    for note in &read.notes {
        let note = note.trim_matches(['[', ']']);
        let _ = write!(text, "\n[{note}]");
    }
    let mut meta = FileMeta { source: Some(read.path.clone()), truncation: None };
    if let Content::Text(page) = &read.content {
        details.summary = summary(page);
        if let Some(next) = read.next_line {
            let total = read.total_lines.map(|lines| format!(" of {lines}")).unwrap_or_default();
            let last = next - 1;
            let _ = write!(text, "\n[Showing lines to {last}{total}. Use :{next} to continue]");
            meta.truncation = Some(HeadTruncation {
                direction: Head::Head,
                total_lines: read.total_lines,
                output_lines: page.lines.len() as u64,
                next_offset: Some(next),
            });
        }
    }
    details.meta = Some(meta);
    let told = answer(text.trim_end_matches('\n').to_owned(), details);
    match &read.content {
        Content::Image(image) => told.with_image(image.mime_type.clone(), image.data.clone()),
        _ => told,
    }
}

/// Lines; what a summary leaves out is three dots.
fn page_text(page: &TextPage, text: &str) -> String {
    if page.folded.is_empty() { text.to_owned() } else { text.replace("\n…\n", "\n...\n") }
}

fn summary(page: &TextPage) -> Option<Summary> {
    let elided = page.folded.iter().filter_map(|fold| Some(fold.end? + 1 - fold.start));
    (!page.folded.is_empty()).then(|| Summary {
        lines: page.lines.len(),
        elided_spans: page.folded.len(),
        elided_lines: elided.sum(),
    })
}
