//! Applying operations to lines: first every anchor is checked, then the lines are put together.

use std::ops::Range;

use super::parse::{Op, OpKind, Position};
use crate::Error;
use crate::anchor::Anchor;
use crate::seen::SeenFile;
use crate::text;

/// Lines that give way to others; an empty range inserts.
#[derive(Debug)]
struct Splice {
    /// From 0.
    range: Range<usize>,
    lines: Vec<String>,
    source_line: usize,
}

/// Why operations do not fit.
#[derive(Debug)]
pub(super) enum ApplyError {
    /// Lines (from 1) that are not what the anchors or the reader's memory say.
    Stale(Vec<usize>),
    Bad(Error),
}

impl From<Error> for ApplyError {
    fn from(error: Error) -> Self {
        Self::Bad(error)
    }
}

/// The text after the operations.
pub(super) fn apply(
    old: &str,
    ops: &[Op],
    seen: Option<&SeenFile>,
    warnings: &mut Vec<String>,
) -> Result<String, ApplyError> {
    let lines = text::lines(old);
    check(&lines, ops, seen)?;
    let mut splices: Vec<Splice> = ops.iter().map(|op| splice(op, lines.len())).collect();
    absorb_repeated(&lines, &mut splices, warnings);
    // At one place, an insertion comes before the lines that begin there.
    splices.sort_by_key(|splice| (splice.range.start, !splice.range.is_empty()));
    check_overlaps(&splices)?;
    let mut new: Vec<&str> = Vec::with_capacity(lines.len());
    let mut at = 0;
    for splice in &splices {
        new.extend(&lines[at..splice.range.start]);
        new.extend(splice.lines.iter().map(String::as_str));
        at = splice.range.end;
    }
    new.extend(&lines[at..]);
    // A new file ends its last line; an old one keeps its way, unless its last line is empty now:
    // without a line break it would not be there.
    let ends = old.is_empty() || old.ends_with('\n') || new.last().is_some_and(|l| l.is_empty());
    let mut joined = new.join("\n");
    if ends && !new.is_empty() {
        joined.push('\n');
    }
    Ok(joined)
}

/// Every anchor, and the lines between two that the reader has seen.
fn check(lines: &[&str], ops: &[Op], seen: Option<&SeenFile>) -> Result<(), ApplyError> {
    let mut stale = Vec::new();
    let is_same = |number: usize| {
        let was = seen.and_then(|seen| seen.line(number));
        was.is_none_or(|was| {
            lines.get(number - 1).is_some_and(|is| is.trim_end() == was.trim_end())
        })
    };
    for op in ops {
        let (first, last) = match op.kind {
            OpKind::InsertAfter(Position::At(at)) | OpKind::InsertBefore(Position::At(at)) => {
                (at, at)
            }
            OpKind::Delete(first, last) | OpKind::Replace(first, last) => (first, last),
            OpKind::InsertAfter(_) | OpKind::InsertBefore(_) => continue,
        };
        let fits =
            |anchor: Anchor| lines.get(anchor.line - 1).is_some_and(|line| anchor.fits(line));
        let anchors = [first, last].into_iter().filter(|anchor| !fits(*anchor));
        stale.extend(anchors.map(|anchor| anchor.line));
        let end = last.line.min(lines.len());
        stale.extend((first.line..=end).filter(|number| !is_same(*number)));
    }
    stale.sort_unstable();
    stale.dedup();
    if stale.is_empty() { Ok(()) } else { Err(ApplyError::Stale(stale)) }
}

fn splice(op: &Op, count: usize) -> Splice {
    let range = match op.kind {
        OpKind::InsertAfter(Position::Start) | OpKind::InsertBefore(Position::Start) => 0..0,
        OpKind::InsertAfter(Position::End) | OpKind::InsertBefore(Position::End) => count..count,
        OpKind::InsertAfter(Position::At(at)) => at.line..at.line,
        OpKind::InsertBefore(Position::At(at)) => at.line - 1..at.line - 1,
        OpKind::Delete(first, last) | OpKind::Replace(first, last) => first.line - 1..last.line,
    };
    let mut lines = op.payload.clone();
    if matches!(op.kind, OpKind::Replace(..)) && lines.is_empty() {
        lines.push(String::new());
    }
    Splice { range, lines, source_line: op.line }
}

/// A replacement that begins or ends with the very line outside its range was meant to replace that
/// line too: it would be there twice. Only lines that say something count, and only if the range
/// itself does not begin or end so.
fn absorb_repeated(lines: &[&str], splices: &mut [Splice], warnings: &mut Vec<String>) {
    let touched: Vec<Range<usize>> = splices.iter().map(|splice| splice.range.clone()).collect();
    let is_free = |at: usize| {
        !touched.iter().any(|range| range.contains(&at) || (range.is_empty() && range.start == at))
    };
    let says_something = |line: &str| line.chars().filter(|c| c.is_alphanumeric()).count() >= 2;
    for splice in
        splices.iter_mut().filter(|splice| !splice.range.is_empty() && splice.lines.len() > 1)
    {
        let Range { start, end } = splice.range;
        let last = splice.lines.last().map(String::as_str);
        if last == lines.get(end).copied()
            && last != Some(lines[end - 1])
            && last.is_some_and(says_something)
            && is_free(end)
        {
            splice.range.end += 1;
            warnings.push(format!(
                "line {}: the payload repeats line {}, so that line was replaced too",
                splice.source_line,
                end + 1
            ));
        }
        let first = splice.lines.first().map(String::as_str);
        if start > 0
            && first == Some(lines[start - 1])
            && first != Some(lines[start])
            && first.is_some_and(says_something)
            && is_free(start - 1)
        {
            splice.range.start -= 1;
            warnings.push(format!(
                "line {}: the payload repeats line {start}, so that line was replaced too",
                splice.source_line
            ));
        }
    }
}

fn check_overlaps(splices: &[Splice]) -> Result<(), Error> {
    for pair in splices.windows(2) {
        let [first, second] = pair else { continue };
        if second.range.start < first.range.end {
            let problem = format!(
                "this touches lines that line {} of the edit changes too; join both into one op",
                first.source_line
            );
            return Err(Error::bad_edit(second.source_line, problem));
        }
    }
    Ok(())
}
