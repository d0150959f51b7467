//! `undo`: the changes that were made by these operations, listed and taken back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_files::{Change, ChangeKind, ChangesRequest, UndoWhat};

use super::access::{self, DryRun, Named};
use super::time;
use crate::call::Call;
use crate::error::Error;
use crate::values::Count;

/// What to undo, or to list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// Lists changes instead.
    #[serde(default)]
    #[schemars(description = "Only list changes, newest first")]
    pub list: bool,
    /// This change; the last one unless something is named.
    #[schemars(description = "This change [the last]")]
    pub change: Option<String>,
    /// All of a call.
    #[schemars(description = "")]
    pub call: Option<String>,
    /// All of a job.
    #[schemars(description = "All of a job")]
    pub job: Option<String>,
    /// Of a list, only what touches this file.
    #[schemars(description = "With list: of this file")]
    pub path: Option<String>,
    /// Of a list, at most so many.
    #[schemars(description = "With list [50]", range(min = 1))]
    pub limit: Option<Count>,
    /// Also where a file was changed again since.
    #[serde(default)]
    #[schemars(description = "Also if a file was changed since")]
    pub force: bool,
    /// Only says what would change.
    #[serde(default)]
    #[schemars(description = "")]
    pub dry_run: bool,
}

/// A list of changes, or what was undone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UndoAnswer {
    /// The changes, newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<ListedChange>>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// The changes that were undone.
    pub undone: Vec<String>,
    /// The files that got their old content back.
    pub files: Vec<UndoneFile>,
    /// Nothing was changed: this is what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// The change that this made; it can be undone too.
    pub change: Option<String>,
}

/// A change that can be undone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ListedChange {
    /// Its name.
    pub change: String,
    /// When it was made.
    pub time: String,
    /// `write`, `edit` or `undo`.
    #[schemars(with = "String")]
    pub kind: ChangeKind,
    /// The call that made it.
    pub call: String,
    /// The job it was made in.
    pub job: Option<String>,
    /// The files.
    pub files: Vec<String>,
    /// The changes that it undid.
    pub undoes: Vec<String>,
}

/// A file that got its old content back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UndoneFile {
    /// The file.
    pub path: String,
    /// There was none before, so it was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// What changed, as a unified diff.
    pub diff: String,
}

/// Undoes changes, or lists them.
pub fn undo(call: &Call<'_>, request: &UndoRequest) -> Result<UndoAnswer, Error> {
    if request.list { list(call, request) } else { take_back(call, request) }
}

fn list(call: &Call<'_>, request: &UndoRequest) -> Result<UndoAnswer, Error> {
    let wanted = ChangesRequest {
        job: request.job.clone(),
        call: request.call.clone(),
        path: request.path.clone(),
        owner: None,
        everywhere: false,
        limit: request.limit.map_or(ChangesRequest::default().limit, Count::to_usize),
    };
    let named = Named { verb: "undo --list", paths: &[], content: "" };
    let found = access::look(call, named, |session, _| umbo_files::changes(session, &wanted))?;
    Ok(UndoAnswer {
        changes: Some(found.changes.into_iter().map(ListedChange::new).collect()),
        total: Some(found.total),
        undone: Vec::new(),
        files: Vec::new(),
        dry_run: false,
        change: None,
    })
}

fn take_back(call: &Call<'_>, request: &UndoRequest) -> Result<UndoAnswer, Error> {
    if request.path.is_some() {
        return Err(Error::argument("path", "it belongs to `list`; name a change to undo it"));
    }
    let what = match (&request.change, &request.call, &request.job) {
        (None, None, None) => UndoWhat::Last { owner: call.caller.owner.clone() },
        (Some(change), None, None) => UndoWhat::Change(change.clone()),
        (None, Some(call), None) => UndoWhat::Call(call.clone()),
        (None, None, Some(job)) => UndoWhat::Job(job.clone()),
        _ => {
            let problem = "more than one was given; accepted: one of `change`, `call` and `job`";
            return Err(Error::argument("change", problem));
        }
    };
    let name = match &what {
        UndoWhat::Last { .. } => "last".to_owned(),
        UndoWhat::Change(name) | UndoWhat::Call(name) | UndoWhat::Job(name) => name.clone(),
    };
    let named = Named { verb: "undo", paths: &[name], content: "" };
    let diff = |done: &umbo_files::UndoAnswer| {
        done.files.iter().map(|file| file.diff.as_str()).collect::<String>()
    };
    let done = access::change(call, named, diff, |session, call, DryRun(dry)| {
        let wanted = umbo_files::UndoRequest {
            what: what.clone(),
            force: request.force,
            dry_run: dry || request.dry_run,
        };
        umbo_files::undo(session, &wanted, call)
    })?;
    let files = done.files.into_iter().map(|file| UndoneFile {
        path: file.path,
        deleted: file.deleted,
        diff: call.caller.mask(&file.diff),
    });
    Ok(UndoAnswer {
        changes: None,
        total: None,
        undone: done.undone,
        files: files.collect(),
        dry_run: request.dry_run,
        change: done.change,
    })
}

impl ListedChange {
    fn new(change: Change) -> Self {
        let undoes = change.undoes.as_deref().unwrap_or_default();
        Self {
            change: change.id,
            time: time(i64::try_from(change.time).unwrap_or_default()),
            kind: change.kind,
            call: change.call,
            job: change.job,
            files: change.files.into_iter().map(|file| file.path).collect(),
            undoes: undoes.split(',').filter(|id| !id.is_empty()).map(str::to_owned).collect(),
        }
    }
}
