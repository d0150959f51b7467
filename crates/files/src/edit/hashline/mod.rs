//! Edits by anchors.

mod apply;
mod parse;
mod recover;

use crate::Error;
use crate::anchor::Anchor;
use crate::seen::SeenFile;
use crate::text;
use std::fmt::Write as _;

use apply::ApplyError;
pub(super) use parse::{Op, OpKind, Position, parse};

/// How many lines around a stale anchor are shown.
const STALE_CONTEXT: usize = 2;

/// The text of a file after its operations.
pub(super) fn apply(
    path: &str,
    old: &str,
    ops: &[Op],
    seen: Option<&SeenFile>,
    warnings: &mut Vec<String>,
) -> Result<String, Error> {
    let stale = match apply::apply(old, ops, seen, warnings) {
        Ok(new) => return Ok(new),
        Err(ApplyError::Bad(error)) => return Err(error),
        Err(ApplyError::Stale(stale)) => stale,
    };
    if let Some(new) = seen.and_then(|seen| recover::recover(old, ops, seen, warnings)) {
        return Ok(new);
    }
    let lines = text::lines(old);
    if let Some(beyond) = stale.iter().find(|line| **line > lines.len()) {
        let problem = format!("Line {beyond} does not exist (file has {} lines)", lines.len());
        return Err(Error::NoMatch { path: path.to_owned(), problem });
    }
    Err(Error::StaleAnchors { path: path.to_owned(), context: context(&lines, &stale) })
}

/// Fresh lines around those that do not fit.
fn context(lines: &[&str], stale: &[usize]) -> String {
    let mut shown = String::new();
    let mut last = 0;
    for (at, line) in lines.iter().enumerate() {
        let number = at + 1;
        if !stale.iter().any(|own| own.abs_diff(number) <= STALE_CONTEXT) {
            continue;
        }
        if last > 0 && number > last + 1 {
            shown.push_str("…\n");
        }
        last = number;
        let mark = if stale.contains(&number) { '*' } else { ' ' };
        let _ = writeln!(shown, "{mark}{}|{line}", Anchor::new(number, line));
    }
    shown
}

/// Whether operations can make a file that does not exist.
pub(super) fn creates(ops: &[Op]) -> bool {
    ops.iter().all(|op| {
        matches!(
            op.kind,
            OpKind::InsertAfter(Position::Start | Position::End)
                | OpKind::InsertBefore(Position::Start | Position::End)
        )
    })
}
