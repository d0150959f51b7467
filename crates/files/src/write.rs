//! Writing a whole file.

use serde::{Deserialize, Serialize};

use crate::change::{self, FileChange};
use crate::edit::FileOp;
use crate::guard::AccessKind;
use crate::paths::{Before, Target};
use crate::seen::SeenFile;
use crate::text::Document;
use crate::undo::ChangeKind;
use crate::{Call, Error, Session, diff};

/// Asks for a file with this content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteRequest {
    /// The file.
    pub path: String,
    /// Its content, written as it is.
    pub content: String,
    /// Makes directories that are missing.
    pub create_parents: bool,
    /// What happens to a file that exists.
    pub overwrite: Overwrite,
    /// Makes it executable, or not; unless said, as it was.
    pub executable: Option<bool>,
    /// Only says what would change.
    pub dry_run: bool,
}

impl Default for WriteRequest {
    fn default() -> Self {
        Self {
            path: String::new(),
            content: String::new(),
            create_parents: true,
            overwrite: Overwrite::IfRead,
            executable: None,
            dry_run: false,
        }
    }
}

/// What happens to a file that exists.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Overwrite {
    /// It stays; the write is refused.
    Never,
    /// It is replaced if its caller read it, and it is still as it was read.
    #[default]
    IfRead,
    /// It is replaced, unless its caller read it and somebody changed it since.
    UnlessChanged,
    /// It is replaced.
    Always,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WriteAnswer {
    /// The file.
    pub path: String,
    /// Whether it is new.
    pub op: FileOp,
    /// How many bytes it has.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: usize,
    /// What changed, as a unified diff; of a new file nothing.
    pub diff: String,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// The change's name for undo.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<String>,
}

/// Writes a file, by one rename.
pub fn write(session: &Session, request: &WriteRequest, call: &Call) -> Result<WriteAnswer, Error> {
    let target = session.target(&request.path, AccessKind::Write)?;
    if target.lacks_directory() && !request.create_parents {
        let problem = "its directory does not exist; ask for parents to be created";
        return Err(Error::bad("path", &request.path, problem));
    }
    let before = target.read()?;
    if let Some(before) = &before {
        may_replace(session, request.overwrite, &target, before)?;
    }
    let content = session.restore(&target.real, request.content.clone())?;
    let old = before.as_ref().map(|before| text(&before.bytes));
    let mode = mode(before.as_ref().map(|before| before.mode), request.executable);
    let (path, real) = (target.shown.clone(), target.real.clone());
    let shown = old.as_ref().map(|old| diff::unified(&path, old, &content)).unwrap_or_default();
    let (bytes, lines) = (content.len() as u64, crate::text::lines(&content).len());
    let change = FileChange {
        target,
        before,
        after: Some(content.clone().into_bytes()),
        mode,
        seen_text: Some(text(content.as_bytes())),
    };
    let done = if request.dry_run {
        change::Made::default()
    } else {
        change::apply(session, call, ChangeKind::Write, vec![change], None)?
    };
    let diff = session.mask(&real, shown.split('\n').map(str::to_owned).collect()).join("\n");
    Ok(WriteAnswer {
        path,
        op: if old.is_some() { FileOp::Update } else { FileOp::Create },
        bytes,
        lines,
        diff,
        warnings: done.warnings,
        change: done.change,
    })
}

/// Text as lines are numbered in it; of what is no text, as much as can be shown.
fn text(bytes: &[u8]) -> String {
    Document::parse(bytes)
        .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), |document| document.text())
}

fn mode(before: Option<u32>, executable: Option<bool>) -> Option<u32> {
    match (before, executable) {
        (before, None) => before,
        (Some(mode), Some(true)) => Some(mode | ((mode & 0o444) >> 2)),
        (Some(mode), Some(false)) => Some(mode & !0o111),
        (None, Some(true)) => Some(0o755),
        (None, Some(false)) => None,
    }
}

fn may_replace(
    session: &Session,
    overwrite: Overwrite,
    target: &Target,
    before: &Before,
) -> Result<(), Error> {
    let path = target.shown.clone();
    match overwrite {
        Overwrite::Always => Ok(()),
        Overwrite::Never => Err(Error::Exists { path }),
        Overwrite::UnlessChanged => match session.seen.get(&target.real) {
            Some(seen) => is_as_seen(session, target, before, &seen),
            None => Ok(()),
        },
        Overwrite::IfRead => {
            let seen =
                session.seen.get(&target.real).ok_or(Error::NotRead { path: path.clone() })?;
            is_as_seen(session, target, before, &seen)
        }
    }
}

/// That nobody changed the file since it was read.
pub(crate) fn is_as_seen(
    session: &Session,
    target: &Target,
    before: &Before,
    seen: &SeenFile,
) -> Result<(), Error> {
    let now = text(&before.bytes);
    if seen.stamp() == Some(before.seen_stamp()) || seen.whole().as_ref() == Some(&now) {
        return Ok(());
    }
    let diff = diff::of_seen(&target.shown, seen, &now);
    let diff = session.mask(&target.real, diff.split('\n').map(str::to_owned).collect()).join("\n");
    Err(Error::ChangedSinceRead { path: target.shown.clone(), diff })
}
