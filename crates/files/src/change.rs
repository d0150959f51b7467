//! Making changes: all files of a batch or none.
//!
//! Everything is known before anything is touched. New contents are written beside their files
//! first, then a record for undo, and only then they are renamed into place. If a rename fails, those
//! before it are taken back.

use std::path::PathBuf;

use crate::paths::{Before, Target};
use crate::seen::SeenStamp;
use crate::undo::{ChangeKind, ChangedFile, Kept, hash};
use crate::{Call, Error, Session, paths};

/// A file that changes.
#[derive(Debug)]
pub(crate) struct FileChange {
    pub(crate) target: Target,
    /// As it was read; `None` if it does not exist.
    pub(crate) before: Option<Before>,
    /// `None` deletes it.
    pub(crate) after: Option<Vec<u8>>,
    /// Permissions; `None` for a new file's usual ones.
    pub(crate) mode: Option<u32>,
    /// The new text as lines are numbered in it, where the caller knows it.
    pub(crate) seen_text: Option<String>,
}

/// What was made.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// The change's name for undo.
    pub(crate) change: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// Makes all changes, or none.
pub(crate) fn apply(
    session: &Session,
    call: &Call,
    kind: ChangeKind,
    mut changes: Vec<FileChange>,
    undoes: Option<String>,
) -> Result<Made, Error> {
    call.stop.check()?;
    if changes.is_empty() {
        return Ok(Made::default());
    }
    let mut made = Made::default();
    let mut directories = Vec::new();
    let prepared = prepare(session, call, kind, &mut changes, undoes, &mut directories);
    let record = match prepared {
        Ok(record) => record,
        Err(error) => {
            remove_directories(&directories);
            return Err(error);
        }
    };
    if let Err(error) = commit(&changes) {
        remove_directories(&directories);
        if let (Some(store), Some(id)) = (&session.undo, &record.id) {
            store.withdraw(id);
        }
        return Err(error);
    }
    made.change = record.id;
    made.warnings = record.warnings;
    for change in &changes {
        remember(session, change);
    }
    if let Some(store) = &session.undo {
        // What was changed is changed; that old records could not be cleared is no failure of it.
        let _ = store.make_room();
    }
    Ok(made)
}

#[derive(Default)]
struct Record {
    id: Option<String>,
    warnings: Vec<String>,
}

/// Makes directories, and keeps what undo needs.
fn prepare(
    session: &Session,
    call: &Call,
    kind: ChangeKind,
    changes: &mut [FileChange],
    undoes: Option<String>,
    directories: &mut Vec<PathBuf>,
) -> Result<Record, Error> {
    for change in changes.iter_mut().filter(|change| change.after.is_some()) {
        directories.extend(change.target.make_directories()?);
    }
    let mut record = Record::default();
    for change in changes.iter() {
        if change.before.as_ref().is_some_and(|before| before.hard_links > 1) {
            let path = &change.target.shown;
            record.warnings.push(format!("{path} had other hard links; they keep the old content"));
        }
    }
    let Some(store) = &session.undo else { return Ok(record) };
    let mut files = Vec::new();
    for change in changes.iter() {
        let before = match &change.before {
            Some(before) if !store.keeps(before.bytes.len()) => {
                let path = &change.target.shown;
                record.warnings.push(format!("{path} is too large to be kept for undo"));
                continue;
            }
            Some(before) => Some(Kept {
                hash: store.keep(&before.bytes)?,
                mode: before.mode,
                size: before.bytes.len() as u64,
            }),
            None => None,
        };
        let after = change.after.as_deref().map(hash);
        files.push(ChangedFile { path: paths::shown(&change.target.real), before, after });
    }
    if !files.is_empty() {
        record.id = Some(store.record(kind, call, files, undoes)?.id);
    }
    Ok(record)
}

/// Stages everything, then puts everything in place; takes back what was done if one fails.
fn commit(changes: &[FileChange]) -> Result<(), Error> {
    let mut staged = Vec::new();
    for change in changes {
        staged.push(match &change.after {
            Some(bytes) => Some(change.target.stage(bytes, change.mode, change.before.as_ref())?),
            None => None,
        });
    }
    for (at, (change, staged)) in changes.iter().zip(staged).enumerate() {
        let done = match (staged, &change.before) {
            (Some(staged), before) => staged.commit(before.as_ref()),
            (None, Some(before)) => change.target.remove(before),
            (None, None) => Ok(()),
        };
        if let Err(error) = done {
            changes[..at].iter().rev().for_each(take_back);
            return Err(error);
        }
    }
    Ok(())
}

/// As it was before, as well as that can be done.
fn take_back(change: &FileChange) {
    let Ok(now) = change.target.read() else { return };
    match (&change.before, now) {
        (Some(before), now) => {
            let staged = change.target.stage(&before.bytes, Some(before.mode), Some(before));
            if let Ok(staged) = staged {
                let _ = staged.commit(now.as_ref());
            }
        }
        (None, Some(now)) => {
            let _ = change.target.remove(&now);
        }
        (None, None) => {}
    }
}

/// Empty ones, innermost first.
fn remove_directories(directories: &[PathBuf]) {
    for directory in directories.iter().rev() {
        let _ = std::fs::remove_dir(directory);
    }
}

/// What was written has been seen by who wrote it.
fn remember(session: &Session, change: &FileChange) {
    let path = &change.target.real;
    match (&change.seen_text, rustix::fs::stat(path)) {
        (Some(text), Ok(stat)) => session.seen.record_whole(path, text, SeenStamp::of(&stat)),
        _ => session.seen.forget(path),
    }
}
