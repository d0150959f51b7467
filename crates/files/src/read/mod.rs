//! Reading: one path, with a selector, for whatever it leads to.

#[cfg(feature = "archives")]
mod archive;
mod content;
#[cfg(feature = "databases")]
mod database;
#[cfg(feature = "documents")]
mod document;
mod file;
mod hex;
#[cfg(feature = "images")]
mod image;
mod page;
mod place;
#[cfg(feature = "summary")]
mod summary;
mod text;
mod url;

use serde::{Deserialize, Serialize};

use crate::paths::{FoundBy, Located};
use crate::select::{LineRange, Selector};
use crate::tree::{self, TreeAnswer, TreeRequest};
use crate::{Call, Error, Session};

pub use content::{ArchiveEntry, ArchiveListing, ImageContent};
pub(crate) use page::PageLimits;
pub use page::{LineStyle, TextLine, TextPage, TextSource};
use place::Place;

/// The most lines of a page.
pub const MOST_LINES: usize = 3000;
/// The most bytes of a page.
pub const MOST_BYTES: usize = 50 * 1024;

/// Asks for what is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadRequest {
    /// The path, perhaps with a selector: `:50`, `:50-80`, `:50+10`, `:raw`.
    pub path: String,
    /// At most so many lines.
    pub max_lines: usize,
    /// At most so many bytes of text.
    pub max_bytes: usize,
    /// Some lines around a range, so that it can be understood: one before, three after.
    pub context: bool,
    /// Leaves out the bodies of functions of source code, unless a range or `:raw` is asked for.
    pub summary: bool,
    /// In hexadecimal; the lines of a selector are rows of 16 bytes.
    pub hex: bool,
}

impl Default for ReadRequest {
    fn default() -> Self {
        Self {
            path: String::new(),
            max_lines: MOST_LINES,
            max_bytes: MOST_BYTES,
            context: false,
            summary: false,
            hex: false,
        }
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ReadAnswer {
    /// The path, as answers name it.
    pub path: String,
    /// How it was found, if not as it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found_by: Option<FoundBy>,
    /// Its size in bytes.
    pub size: u64,
    /// When its content was changed, in seconds since 1970.
    pub modified: i64,
    /// What is in it.
    pub content: Content,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Content {
    /// Lines.
    Text(TextPage),
    /// A directory.
    Directory(TreeAnswer),
    /// A directory in an archive.
    Archive(ArchiveListing),
    /// An image.
    Image(ImageContent),
}

const CONTEXT_BEFORE: u64 = 1;
const CONTEXT_AFTER: u64 = 3;

/// Reads what is at a path.
pub fn read(session: &Session, request: &ReadRequest, call: &Call) -> Result<ReadAnswer, Error> {
    for (field, value) in [("max_lines", request.max_lines), ("max_bytes", request.max_bytes)] {
        if value == 0 {
            return Err(Error::bad(field, "0", "at least 1 is needed"));
        }
    }
    if let Some(answer) = url::read(session, request, call)? {
        return Ok(answer);
    }
    let place = Place::find(session, &request.path, call)?;
    let content = if place.located.is_directory() {
        Content::Directory(directory(session, &place.located, request, place.selector, call)?)
    } else {
        file::content(session, request, &place, call)?
    };
    let located = place.located;
    Ok(ReadAnswer {
        path: located.shown.clone(),
        size: located.size(),
        modified: located.stat.st_mtime,
        found_by: located.found_by,
        content,
    })
}

impl ReadRequest {
    fn limits(&self) -> PageLimits {
        PageLimits { lines: self.max_lines, bytes: self.max_bytes }
    }
}

fn directory(
    session: &Session,
    located: &Located,
    request: &ReadRequest,
    selector: Selector,
    call: &Call,
) -> Result<TreeAnswer, Error> {
    let lines = selector.lines.and_then(|range| range.end);
    let limit = lines.and_then(|end| usize::try_from(end).ok()).unwrap_or(request.max_lines);
    let path = located.shown.clone();
    let request =
        TreeRequest { path, limit: limit.min(request.max_lines), ..TreeRequest::default() };
    tree::tree(session, &request, call)
}

/// The lines to be read, and those among them that were asked for.
fn widened(selector: Selector, context: bool) -> LineRange {
    match selector.lines {
        None => LineRange { start: 1, end: None },
        Some(range) if !context || selector.raw => range,
        Some(range) => LineRange {
            start: range.start.saturating_sub(CONTEXT_BEFORE).max(1),
            end: range.end.map(|end| end.saturating_add(CONTEXT_AFTER)),
        },
    }
}
