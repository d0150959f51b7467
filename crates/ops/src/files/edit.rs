//! `edit`: changes in files, by anchors, by text or by patch; all of them or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{Edit, FileOp};

use super::access::{self, DryRun, Named};
use crate::call::Call;
use crate::error::Error;

/// What to change. One of the three ways: `input`, `patch`, or `path` with `edits`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditRequest {
    /// Operations by anchors.
    #[schemars(
        description = "By anchors. `@@ PATH`, then: `= 4fb..6th` (replace), `- 4fb..4fb` (delete), `+ 4fb` (after), `< 4fb` (before); new lines each behind `~`. BOF and EOF are anchors"
    )]
    pub input: Option<String>,
    /// A unified diff, or an envelope `*** Begin Patch`.
    #[schemars(description = "Or: unified diff, or *** Begin Patch")]
    pub patch: Option<String>,
    /// The file of `edits`.
    #[schemars(description = "Or: the file of edits")]
    pub path: Option<String>,
    /// Text that gives way to other text, one after the other.
    #[schemars(description = "")]
    pub edits: Option<Vec<Replacement>>,
    /// Only says what would change.
    #[serde(default)]
    #[schemars(description = "")]
    pub dry_run: bool,
    /// Only files that the caller has read, and that nobody changed since.
    #[serde(skip)]
    #[schemars(skip)]
    pub if_read: bool,
}

/// Text that gives way to other text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct Replacement {
    /// The text that is there.
    #[schemars(description = "")]
    pub old: String,
    /// The text to be there.
    #[schemars(description = "")]
    pub new: String,
    /// Everywhere it occurs; else it must occur once.
    #[serde(default)]
    #[schemars(description = "Everywhere; else it must occur once")]
    pub all: bool,
}

/// What an edit did.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EditAnswer {
    /// The files.
    pub files: Vec<EditedFile>,
    /// Nothing was changed: this is what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// The name of the change, to undo it by.
    pub change: Option<String>,
}

/// A file that was edited.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EditedFile {
    /// The file.
    pub path: String,
    /// `create`, `update`, `delete` or `move`.
    pub op: &'static str,
    /// Where it was before it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The first line that is new, from 1.
    pub first_changed_line: Option<usize>,
    /// How many lines were added.
    pub added: usize,
    /// How many lines were removed.
    pub removed: usize,
    /// What changed, as a unified diff.
    pub diff: String,
}

/// Edits files.
pub fn edit(call: &Call<'_>, request: &EditRequest) -> Result<EditAnswer, Error> {
    let edit = request.edit()?;
    let paths = umbo_files::edit::paths(&edit);
    let content = serde_json::to_string(&edit).unwrap_or_default();
    let named = Named { verb: "edit", paths: &paths, content: &content };
    let diff = |done: &umbo_files::EditAnswer| {
        done.files.iter().map(|file| file.diff.as_str()).collect::<String>()
    };
    let done = access::change(call, named, diff, |session, call, DryRun(dry)| {
        let (dry_run, if_read) = (dry || request.dry_run, request.if_read);
        let wanted = umbo_files::EditRequest { edit: edit.clone(), dry_run, if_read };
        umbo_files::edit::edit(session, &wanted, call)
    })?;
    Ok(EditAnswer {
        files: done.files.into_iter().map(EditedFile::new).collect(),
        dry_run: request.dry_run,
        warnings: done.warnings,
        change: done.change,
    })
}

impl EditRequest {
    fn edit(&self) -> Result<Edit, Error> {
        match (&self.input, &self.patch, &self.path, &self.edits) {
            (Some(input), None, path, None) => {
                Ok(Edit::Hashline { input: input.clone(), path: path.clone() })
            }
            (None, Some(patch), None, None) => {
                Ok(Edit::Patch { patch: patch.clone(), strip: None })
            }
            (None, None, Some(path), Some(edits)) => Ok(Edit::Replace {
                path: path.clone(),
                edits: edits
                    .iter()
                    .map(|edit| umbo_files::Replacement {
                        old: edit.old.clone(),
                        new: edit.new.clone(),
                        all: edit.all,
                    })
                    .collect(),
            }),
            (None, None, Some(_), None) => Err(Error::argument(
                "edits",
                "nothing was given; accepted: a list of {old, new} beside `path`",
            )),
            (None, None, None, _) => Err(Error::argument(
                "input",
                "nothing was given; accepted: `input`, `patch`, or `path` with `edits`",
            )),
            _ => Err(Error::argument(
                "input",
                "more than one way was given; accepted: `input`, `patch`, or `path` with `edits`",
            )),
        }
    }
}

impl EditedFile {
    fn new(file: umbo_files::EditedFile) -> Self {
        let (op, from) = match file.op {
            FileOp::Create => ("create", None),
            FileOp::Update => ("update", None),
            FileOp::Delete => ("delete", None),
            FileOp::MoveFrom(from) => ("move", Some(from)),
        };
        Self {
            path: file.path,
            op,
            from,
            first_changed_line: file.first_changed_line,
            added: file.added,
            removed: file.removed,
            diff: file.diff,
        }
    }
}
