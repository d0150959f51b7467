//! `read`: what is at a path, whatever it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::paths::FoundBy;
use umbo_files::{Content, Encoding, LineEnding, LineStyle, TextPage, TextSource};

use super::access::{self, Named};
use super::time;
use crate::call::Call;
use crate::error::Error;
use crate::values::Count;

/// What to read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadRequest {
    /// The path, perhaps with a selector, a member of an archive, a table, or a URL.
    #[schemars(
        description = "Path; then :50, :50-80, :50+10 or :raw. Also x.zip:member, x.sqlite:table?where=…, artifact://JOB, https://…",
        length(min = 1)
    )]
    pub path: String,
    /// Leaves out the bodies of functions.
    #[serde(default)]
    #[schemars(description = "Source code without function bodies")]
    pub summary: bool,
    /// Bytes in hexadecimal; the lines of a selector are rows of 16.
    #[serde(default)]
    #[schemars(description = "Bytes, 16 a row")]
    pub hex: bool,
    /// At most so many lines.
    #[schemars(description = "[3000]", range(min = 1))]
    pub max_lines: Option<Count>,
    /// What a tool call cannot say.
    #[serde(skip)]
    #[schemars(skip)]
    pub options: ReadOptions,
}

/// How something is read, as far as only a command line, a program or another contract can say it.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions {
    /// How lines are written in the text of the answer.
    pub style: LineStyle,
    /// At most so many bytes of text.
    pub max_bytes: usize,
    /// Some lines around a range: one before, three after.
    pub context: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        let (style, max_bytes) = (LineStyle::Anchors, umbo_files::MOST_BYTES);
        Self { style, max_bytes, context: false }
    }
}

/// What was read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ReadAnswer {
    /// The path, as it was found.
    pub path: String,
    /// How it was found, if not as it was written: `spelling` or `suffix`.
    #[schemars(with = "Option<String>")]
    pub found_by: Option<FoundBy>,
    /// `text`, `directory`, `archive` or `image`.
    pub kind: &'static str,
    /// What its text was made from, if it is not the file itself.
    pub source: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed.
    pub modified: Option<String>,
    /// How many lines it has in all, if they were counted.
    pub total_lines: Option<u64>,
    /// The line to go on with, if there are more.
    pub next_line: Option<u64>,
    /// How its characters are written, if not in UTF-8.
    #[schemars(with = "Option<String>")]
    pub encoding: Option<Encoding>,
    /// How its lines end, if not with a line feed alone.
    #[schemars(with = "Option<String>")]
    pub line_ending: Option<LineEnding>,
    /// Whether its last line ends, where that is not so.
    pub final_newline: Option<bool>,
    /// How many lines a summary left out.
    pub folded_lines: Option<u64>,
    /// Lines of which the end was cut off.
    pub clamped_lines: Vec<u64>,
    /// Somebody wrote to it while it was read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_while_read: bool,
    /// What kind of image it is.
    pub mime_type: Option<String>,
    /// The image's width as it is answered.
    pub width: Option<u32>,
    /// Its height.
    pub height: Option<u32>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// What is in it: lines with their anchors, a tree, or a list.
    pub text: String,
    /// The same for whoever writes it in other words.
    #[serde(skip)]
    #[schemars(skip)]
    pub content: Content,
}

/// Reads what is at a path.
pub fn read(call: &Call<'_>, request: &ReadRequest) -> Result<ReadAnswer, Error> {
    let paths = [request.path.clone()];
    let named = Named { verb: "read", paths: &paths, content: "" };
    if is_web(&request.path) && call.caller.files.fetches() {
        access::admit_fetch(call, named, request.path.trim())?;
    }
    let wanted = umbo_files::ReadRequest {
        path: request.path.clone(),
        max_lines: request.max_lines.map_or(umbo_files::MOST_LINES, Count::to_usize),
        max_bytes: request.options.max_bytes,
        context: request.options.context,
        summary: request.summary,
        hex: request.hex,
    };
    let found =
        access::look(call, named, |session, call| umbo_files::read(session, &wanted, call))?;
    let is_raw = umbo_files::select::split(&request.path).is_ok_and(|(_, selector)| selector.raw);
    let style = if is_raw { LineStyle::Plain } else { request.options.style };
    Ok(ReadAnswer::new(found, style))
}

fn is_web(path: &str) -> bool {
    let path = path.trim();
    ["http://", "https://", "www."]
        .iter()
        .any(|start| path.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start)))
}

impl ReadAnswer {
    fn new(found: umbo_files::ReadAnswer, style: LineStyle) -> Self {
        let umbo_files::ReadAnswer { path, found_by, size, modified, content } = found;
        let (kind, text) = match &content {
            Content::Text(page) => ("text", page.text(style)),
            Content::Directory(tree) => ("directory", tree.text()),
            Content::Archive(listing) => ("archive", listing.text()),
            Content::Image(image) => {
                let size = umbo_files::render::size(size);
                (
                    "image",
                    format!("{} {}x{} ({size})\n", image.mime_type, image.width, image.height),
                )
            }
        };
        let mut answer = Self {
            path,
            found_by,
            kind,
            source: None,
            size,
            modified: (modified != 0).then(|| time(modified)),
            total_lines: None,
            next_line: None,
            encoding: None,
            line_ending: None,
            final_newline: None,
            folded_lines: None,
            clamped_lines: Vec::new(),
            changed_while_read: false,
            mime_type: None,
            width: None,
            height: None,
            notes: Vec::new(),
            text,
            content,
        };
        match &answer.content {
            Content::Text(page) => {
                let page = page.clone();
                answer.tell_page(page);
            }
            Content::Image(image) => {
                answer.mime_type = Some(image.mime_type.clone());
                (answer.width, answer.height) = (Some(image.width), Some(image.height));
                if image.is_resized {
                    let (width, height) = image.original;
                    answer.notes.push(format!("made smaller; the file has {width}x{height}"));
                }
            }
            Content::Directory(_) | Content::Archive(_) => {}
        }
        answer
    }

    fn tell_page(&mut self, page: TextPage) {
        self.source = source(&page.source);
        self.total_lines = page.total_lines;
        self.next_line = page.next_line;
        self.encoding = Some(page.encoding).filter(|encoding| *encoding != Encoding::Utf8);
        self.line_ending = Some(page.line_ending).filter(|ending| *ending != LineEnding::Lf);
        self.final_newline = page.final_newline.filter(|ends| !ends);
        let folded: u64 =
            page.folded.iter().filter_map(|fold| Some(fold.end? + 1 - fold.start)).sum();
        self.folded_lines = Some(folded).filter(|lines| *lines > 0);
        self.clamped_lines = page.clamped_lines;
        self.changed_while_read = page.changed_while_read;
        self.notes.extend(page.notes);
    }
}

/// What a text was made from, in a word or two.
fn source(source: &TextSource) -> Option<String> {
    Some(match source {
        TextSource::File => return None,
        TextSource::Notebook => "notebook".to_owned(),
        TextSource::Document(format) => format.clone(),
        TextSource::ArchiveMember => "archive member".to_owned(),
        TextSource::Database => "database".to_owned(),
        TextSource::Url(url) => url.clone(),
        TextSource::Hex => "hex".to_owned(),
        TextSource::Resource => "job output".to_owned(),
    })
}
