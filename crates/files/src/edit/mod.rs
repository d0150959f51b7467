//! Editing: by anchors, by text, by patch. Everything is checked first; then all files of the edit
//! are changed, or none.

mod batch;
mod fuzzy;
mod hashline;
mod patch;
mod replace;

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

use crate::undo::ChangeKind;
use crate::{Call, Error, Session, change};

use batch::Batch;
pub use replace::Replacement;

/// Asks for an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// What is to be changed.
    pub edit: Edit,
    /// Only says what would change.
    #[serde(default)]
    pub dry_run: bool,
    /// Only files that its caller has read, and that are still as they were read. Anchors are checked
    /// line by line in any case.
    #[serde(default)]
    pub if_read: bool,
}

/// The ways to say what is to be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// By the anchors that `read` and `search` show.
    Hashline {
        /// Sections of operations.
        input: String,
        /// The file of operations that come before any header.
        #[serde(default)]
        path: Option<String>,
    },
    /// By text.
    Replace {
        /// The file.
        path: String,
        /// One after the other.
        edits: Vec<Replacement>,
    },
    /// By a unified diff, or an envelope `*** Begin Patch`.
    Patch {
        /// The patch.
        patch: String,
        /// How many leading parts of its paths are not meant; unless said, git's `a/` and `b/`.
        #[serde(default)]
        strip: Option<usize>,
    },
}

/// What happened to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileOp {
    /// It was made.
    Create,
    /// It was changed.
    Update,
    /// It was removed.
    Delete,
    /// It was moved from there, and perhaps changed.
    MoveFrom(String),
}

/// A file that was edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EditedFile {
    /// The file.
    pub path: String,
    /// What happened to it.
    pub op: FileOp,
    /// What changed, as a unified diff.
    pub diff: String,
    /// The first line that is new, from 1.
    pub first_changed_line: Option<usize>,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
}

/// What an edit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EditAnswer {
    /// The files.
    pub files: Vec<EditedFile>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// The change's name for undo.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub change: Option<String>,
}

/// The paths that an edit names, as it writes them; none if it cannot be understood.
pub fn paths(edit: &Edit) -> Vec<String> {
    let mut paths = match edit {
        Edit::Replace { path, .. } => vec![path.clone()],
        Edit::Hashline { input, path } => hashline::parse(input, path.as_deref())
            .map(|parsed| parsed.sections.into_iter().map(|section| section.path).collect())
            .unwrap_or_default(),
        Edit::Patch { patch, strip } => patch::parse(patch, *strip)
            .map(|files| files.iter().flat_map(patch::FilePatch::paths).collect())
            .unwrap_or_default(),
    };
    paths.dedup();
    paths
}

/// Edits files: all of them or none.
pub fn edit(session: &Session, request: &EditRequest, call: &Call) -> Result<EditAnswer, Error> {
    let mut batch = Batch::new(session);
    match &request.edit {
        Edit::Hashline { input, path } => batch.hashline(input, path.as_deref())?,
        Edit::Replace { path, edits } => batch.replace(path, edits)?,
        Edit::Patch { patch, strip } => batch.patch(patch, *strip)?,
    }
    if request.if_read {
        batch.is_as_read()?;
    }
    let (changes, files, mut warnings) = batch.finish()?;
    if request.dry_run {
        return Ok(EditAnswer { files, warnings, change: None });
    }
    let made = change::apply(session, call, ChangeKind::Edit, changes, None)?;
    warnings.extend(made.warnings);
    Ok(EditAnswer { files, warnings, change: made.change })
}

impl EditAnswer {
    /// The answer as text: the diffs, then the warnings.
    pub fn text(&self) -> String {
        let mut text: String = self.files.iter().map(|file| file.diff.as_str()).collect();
        if !self.warnings.is_empty() {
            text.push_str("\nWarnings:\n");
            self.warnings.iter().for_each(|warning| {
                let _ = writeln!(text, "{warning}");
            });
        }
        text
    }
}

pub mod parse {
    //! The parsers alone, for those who check or fuzz input without files.

    use crate::Error;

    /// Whether an input of anchored edits can be understood; how many files it names.
    pub fn hashline(input: &str) -> Result<usize, Error> {
        super::hashline::parse(input, None).map(|parsed| parsed.sections.len())
    }

    /// Whether a patch can be understood; how many files it changes.
    pub fn patch(input: &str) -> Result<usize, Error> {
        super::patch::parse(input, None).map(|files| files.len())
    }
}
