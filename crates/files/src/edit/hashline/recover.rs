//! Anchors of a file that changed since it was read, brought to where their lines are now.
//!
//! If all of the file was seen, the operations are applied to what was seen and that change is merged
//! with the other one. Else each operation is moved to the only place that has the same lines around
//! it. Where neither is certain, nothing is changed.

use super::apply::apply;
use super::parse::{Op, OpKind, Position};
use crate::anchor::Anchor;
use crate::diff;
use crate::seen::SeenFile;
use crate::text;

/// Lines around an operation that must be found again with it.
const CONTEXT: usize = 3;

/// The text after operations that were meant for what was seen.
pub(super) fn recover(
    now: &str,
    ops: &[Op],
    seen: &SeenFile,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let recovered = if let Some(whole) = seen.whole() {
        let changed = apply(&whole, ops, None, warnings).ok()?;
        diff::merge(&whole, &changed, now)
    } else {
        let lines = text::lines(now);
        let moved: Option<Vec<Op>> = ops.iter().map(|op| moved(op, &lines, seen)).collect();
        apply(now, &moved?, None, warnings).ok()
    };
    if recovered.is_some() {
        let warning = "the file changed since it was read; the edit was merged with that change";
        warnings.push(warning.to_owned());
    }
    recovered
}

/// The same operation on the lines where its own are now.
fn moved(op: &Op, lines: &[&str], seen: &SeenFile) -> Option<Op> {
    let (first, last) = match op.kind {
        OpKind::InsertAfter(Position::At(at)) | OpKind::InsertBefore(Position::At(at)) => (at, at),
        OpKind::Delete(first, last) | OpKind::Replace(first, last) => (first, last),
        OpKind::InsertAfter(_) | OpKind::InsertBefore(_) => return Some(op.clone()),
    };
    if !(first.fits(seen.line(first.line)?) && last.fits(seen.line(last.line)?)) {
        return None;
    }
    let from = (first.line.saturating_sub(CONTEXT).max(1)..first.line)
        .rev()
        .take_while(|number| seen.line(*number).is_some())
        .last()
        .unwrap_or(first.line);
    let to = (last.line + 1..=last.line + CONTEXT)
        .take_while(|number| seen.line(*number).is_some())
        .last()
        .unwrap_or(last.line);
    let block: Option<Vec<&str>> = (from..=to).map(|number| seen.line(number)).collect();
    let place = only_place(lines, &block?)?;
    let shift = |anchor: Anchor| {
        let line = place + (anchor.line - from) + 1;
        Anchor::new(line, lines.get(line - 1).copied().unwrap_or_default())
    };
    let kind = match op.kind {
        OpKind::InsertAfter(_) => OpKind::InsertAfter(Position::At(shift(first))),
        OpKind::InsertBefore(_) => OpKind::InsertBefore(Position::At(shift(first))),
        OpKind::Delete(..) => OpKind::Delete(shift(first), shift(last)),
        OpKind::Replace(..) => OpKind::Replace(shift(first), shift(last)),
    };
    Some(Op { kind, ..op.clone() })
}

/// Where these lines are, if at one place only.
fn only_place(lines: &[&str], block: &[&str]) -> Option<usize> {
    let is_same = |a: &&str, b: &&str| a.trim_end() == b.trim_end();
    let mut places = lines
        .windows(block.len())
        .enumerate()
        .filter(|(_, window)| window.iter().zip(block).all(|(a, b)| is_same(a, b)));
    let (place, _) = places.next()?;
    places.next().is_none().then_some(place)
}
