//! Undoing: every write and edit leaves a record by which its files get their old content back.

mod store;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::change::{self, FileChange};
use crate::guard::AccessKind;
use crate::{Call, Error, Session, diff, paths};

pub(crate) use store::hash;
pub use store::{Change, ChangeKind, ChangedFile, Kept, UndoStore};

/// Asks for the changes that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChangesRequest {
    /// Only those of this job.
    pub job: Option<String>,
    /// Only those of this call.
    pub call: Option<String>,
    /// Only those that touch this file.
    pub path: Option<String>,
    /// Only those of this owner.
    pub owner: Option<String>,
    /// Also those of files outside the roots.
    pub everywhere: bool,
    /// At most so many.
    pub limit: usize,
}

impl Default for ChangesRequest {
    fn default() -> Self {
        let (job, call, path, owner) = (None, None, None, None);
        Self { job, call, path, owner, everywhere: false, limit: 50 }
    }
}

/// Changes that can be undone, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ChangesAnswer {
    /// The changes.
    pub changes: Vec<Change>,
    /// How many there are in all.
    pub total: usize,
}

/// Which changes to undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndoWhat {
    /// The newest change that was not undone, of files inside the roots.
    Last {
        /// Only one of this owner.
        owner: Option<String>,
    },
    /// This one, by its name.
    Change(String),
    /// All of a call, newest first.
    Call(String),
    /// All of a job, newest first.
    Job(String),
    /// All that came after a change, also what was undone since: files are as they were then.
    After {
        /// The change; an empty name is before the first one.
        change: String,
        /// Only those of this owner.
        owner: Option<String>,
    },
}

/// Asks to undo.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoRequest {
    /// What.
    pub what: UndoWhat,
    /// Also where a file was changed again since; that later change is lost (but can be undone).
    #[serde(default)]
    pub force: bool,
    /// Only says what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UndoAnswer {
    /// The changes that were undone.
    pub undone: Vec<String>,
    /// The change that this made; it can be undone too.
    pub change: Option<String>,
    /// The files that were changed.
    pub files: Vec<UndoneFile>,
}

/// A file that got its old content back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UndoneFile {
    /// The file.
    pub path: String,
    /// What changed in it.
    pub diff: String,
    /// There was no file before, so it was deleted.
    pub deleted: bool,
}

/// Lists changes.
pub fn changes(session: &Session, request: &ChangesRequest) -> Result<ChangesAnswer, Error> {
    let path = request.path.as_deref().map(|path| session.absolute(path)).transpose()?;
    let path = path.map(|path| paths::shown(&path.canonicalize().unwrap_or(path)));
    let mut changes = store(session)?.changes()?;
    changes.retain(|change| {
        request.job.as_ref().is_none_or(|job| change.job.as_ref() == Some(job))
            && request.call.as_ref().is_none_or(|call| change.call == *call)
            && request.owner.as_ref().is_none_or(|owner| change.owner.as_ref() == Some(owner))
            && (request.everywhere || is_inside(session, change))
            && path.as_ref().is_none_or(|path| change.files.iter().any(|file| file.path == *path))
    });
    let total = changes.len();
    changes.truncate(request.limit);
    Ok(ChangesAnswer { changes, total })
}

/// Whether all files of a change lie inside the roots.
fn is_inside(session: &Session, change: &Change) -> bool {
    change
        .files
        .iter()
        .all(|file| session.workspace.place(&path_of(&file.path)) != crate::Place::Outside)
}

fn store(session: &Session) -> Result<&UndoStore, Error> {
    session.undo.as_deref().ok_or_else(|| {
        Error::bad("undo", "", "no changes are kept here: there is no store for them")
    })
}

/// Undoes changes: all of them or none.
pub fn undo(session: &Session, request: &UndoRequest, call: &Call) -> Result<UndoAnswer, Error> {
    let store = store(session)?;
    let all = store.changes()?;
    let chosen = chosen(session, &all, &request.what)?;
    let mut steps: Vec<Step> = Vec::new();
    for change in &chosen {
        for file in &change.files {
            let path = path_of(&file.path);
            match steps.iter_mut().find(|step| step.path == path) {
                // An older change of the same file: go back further.
                Some(step) => step.before.clone_from(&file.before),
                None => steps.push(Step {
                    path,
                    before: file.before.clone(),
                    after: file.after.clone(),
                }),
            }
        }
    }
    let mut file_changes = Vec::new();
    for step in &steps {
        call.stop.check()?;
        file_changes.extend(step.change(session, store, request.force)?);
    }
    let files = file_changes.iter().map(undone_file).collect();
    let undoes = chosen.iter().map(|change| change.id.clone()).collect::<Vec<_>>();
    if request.dry_run {
        return Ok(UndoAnswer { undone: undoes, change: None, files });
    }
    let made =
        change::apply(session, call, ChangeKind::Undo, file_changes, Some(undoes.join(",")))?;
    Ok(UndoAnswer { undone: undoes, change: made.change, files })
}

fn undone_file(change: &FileChange) -> UndoneFile {
    let text =
        |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let before = text(change.before.as_ref().map(|before| before.bytes.as_slice()));
    let diff = diff::unified(&change.target.shown, &before, &text(change.after.as_deref()));
    UndoneFile { path: change.target.shown.clone(), diff, deleted: change.after.is_none() }
}

fn chosen<'a>(
    session: &Session,
    all: &'a [Change],
    what: &UndoWhat,
) -> Result<Vec<&'a Change>, Error> {
    let undone: Vec<&str> = all
        .iter()
        .filter_map(|change| change.undoes.as_deref())
        .flat_map(|ids| ids.split(','))
        .collect();
    let is_open = |change: &&Change| !undone.contains(&change.id.as_str());
    let (id, chosen): (&str, Vec<&Change>) = match what {
        UndoWhat::Last { owner } => {
            let last = all.iter().filter(is_open).find(|change| {
                change.kind != ChangeKind::Undo
                    && owner.as_ref().is_none_or(|owner| change.owner.as_ref() == Some(owner))
                    && is_inside(session, change)
            });
            ("last", last.into_iter().collect())
        }
        UndoWhat::Change(id) => (id, all.iter().filter(|change| change.id == *id).collect()),
        UndoWhat::Call(call) => {
            (call, all.iter().filter(is_open).filter(|change| change.call == *call).collect())
        }
        UndoWhat::Job(job) => {
            let of_job = |change: &&Change| change.job.as_ref() == Some(job);
            (job, all.iter().filter(is_open).filter(of_job).collect())
        }
        UndoWhat::After { change: mark, owner } => {
            let is_after = |change: &&Change| {
                change.id > *mark
                    && owner.as_ref().is_none_or(|owner| change.owner.as_ref() == Some(owner))
            };
            (mark, all.iter().filter(is_after).collect())
        }
    };
    if chosen.is_empty() { Err(Error::NoSuchChange { id: id.to_owned() }) } else { Ok(chosen) }
}

/// The path that a record names.
fn path_of(text: &str) -> PathBuf {
    let is_escaped = |bytes: &Vec<u8>| {
        let path = PathBuf::from(OsString::from_vec(bytes.clone()));
        paths::shown(&path) == text && path != Path::new(text)
    };
    paths::unescape(text)
        .filter(is_escaped)
        .map_or_else(|| PathBuf::from(text), |bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// One file that goes back.
struct Step {
    path: PathBuf,
    before: Option<Kept>,
    after: Option<String>,
}

impl Step {
    fn change(
        &self,
        session: &Session,
        store: &UndoStore,
        force: bool,
    ) -> Result<Option<FileChange>, Error> {
        let kind = if self.before.is_some() { AccessKind::Write } else { AccessKind::Delete };
        let target = session.target_at(&self.path, kind)?;
        let now = target.read()?;
        let now_hash = now.as_ref().map(|now| hash(&now.bytes));
        let old_hash = self.before.as_ref().map(|kept| &kept.hash);
        if now_hash.as_ref() == old_hash {
            return Ok(None);
        }
        if now_hash != self.after && !force {
            let after = "(it was changed again since; undo that first, or force it)".to_owned();
            return Err(Error::ChangedSinceRead { path: target.shown, diff: after });
        }
        let after = self.before.as_ref().map(|kept| store.content(&kept.hash)).transpose()?;
        let mode = self.before.as_ref().map(|kept| kept.mode);
        Ok(Some(FileChange { target, before: now, after, mode, seen_text: None }))
    }
}
