//! The difference between two texts, for people and models, and the merge of two changes.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices_deadline};

use crate::text;

/// How long the shortest difference is looked for: where two long texts have little in common, that
/// takes time by the square. What is found until then is a difference, too, only not the shortest.
const LONGEST_LOOK: Duration = Duration::from_millis(500);

/// What leads from some lines to others.
pub(crate) fn ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let deadline = Instant::now().checked_add(LONGEST_LOOK);
    capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

/// A unified diff, cut where it grows too long.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    const MOST_LINES: usize = 400;
    let diff = TextDiff::configure().timeout(LONGEST_LOOK).diff_lines(old, new);
    let whole = diff.unified_diff().context_radius(3).header(path, path).to_string();
    let mut lines = whole.split_inclusive('\n');
    let mut shown: String = lines.by_ref().take(MOST_LINES).collect();
    let left = lines.count();
    if left > 0 {
        let _ = writeln!(shown, "… {left} more lines of difference");
    }
    shown
}

/// The number of the first line of the new text that is not in the old, from 1, and how many lines
/// were added and removed.
pub(crate) fn counts(old: &str, new: &str) -> (Option<usize>, usize, usize) {
    let diff = TextDiff::configure().timeout(LONGEST_LOOK).diff_lines(old, new);
    let (mut first, mut added, mut removed, mut line) = (None, 0, 0, 1);
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => line += 1,
            ChangeTag::Delete => {
                first.get_or_insert(line);
                removed += 1;
            }
            ChangeTag::Insert => {
                first.get_or_insert(line);
                added += 1;
                line += 1;
            }
        }
    }
    (first, added, removed)
}

/// Lines of the base that a change replaces, and what by.
struct Hunk<'a> {
    start: usize,
    end: usize,
    lines: &'a [&'a str],
}

/// Both changes of a text together, or `None` if they touch.
pub(crate) fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    // A line and its end are one: a line break that one side adds or removes is a change too.
    let base: Vec<&str> = base.split_inclusive('\n').collect();
    let ours: Vec<&str> = ours.split_inclusive('\n').collect();
    let theirs: Vec<&str> = theirs.split_inclusive('\n').collect();
    let mut hunks = hunks(&base, &ours);
    let other = self::hunks(&base, &theirs);
    let touches = |a: &Hunk<'_>, b: &Hunk<'_>| a.start <= b.end && b.start <= a.end;
    let is_same =
        |a: &Hunk<'_>, b: &Hunk<'_>| (a.start, a.end, a.lines) == (b.start, b.end, b.lines);
    for hunk in other {
        if hunks.iter().any(|own| is_same(own, &hunk)) {
            continue;
        }
        if hunks.iter().any(|own| touches(own, &hunk)) {
            return None;
        }
        hunks.push(hunk);
    }
    hunks.sort_by_key(|hunk| hunk.start);
    let mut merged = String::new();
    let mut at = 0;
    for hunk in hunks {
        merged.extend(base[at..hunk.start].iter().copied());
        merged.extend(hunk.lines.iter().copied());
        at = hunk.end;
    }
    merged.extend(base[at..].iter().copied());
    Some(merged)
}

fn hunks<'a>(base: &[&str], changed: &'a [&'a str]) -> Vec<Hunk<'a>> {
    let ops = ops(base, changed);
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (old, new) = (op.old_range(), op.new_range());
        let start = new.start;
        match hunks.last_mut() {
            // A deletion and an insertion at one place are one change.
            Some(last) if last.end == old.start => {
                let from = start - last.lines.len();
                last.end = old.end;
                last.lines = &changed[from..new.end];
            }
            _ => hunks.push(Hunk { start: old.start, end: old.end, lines: &changed[new] }),
        }
    }
    hunks
}

/// What differs between the lines that were shown and the text that is there.
pub(crate) fn of_seen(path: &str, seen: &crate::seen::SeenFile, now: &str) -> String {
    if let Some(whole) = seen.whole() {
        return unified(path, &whole, now);
    }
    let lines = text::lines(now);
    let mut shown = String::new();
    for (number, was) in seen.lines() {
        match lines.get(number - 1) {
            Some(is) if *is == was => {}
            Some(is) => {
                let _ = writeln!(shown, "@@ line {number} @@\n-{was}\n+{is}");
            }
            None => {
                let _ = writeln!(shown, "@@ line {number} @@\n-{was}");
            }
        }
    }
    if shown.is_empty() { "(only lines that were not shown)\n".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_do_not_touch_are_merged() {
        let base = "a\nb\nc\nd\ne\n";
        assert_eq!(merge(base, "a\nB\nc\nd\ne\n", "a\nb\nc\nd\nE\n").unwrap(), "a\nB\nc\nd\nE\n");
        assert_eq!(
            merge(base, "a\nB\nc\nd\ne\n", "new\na\nb\nc\nd\ne\n").unwrap(),
            "new\na\nB\nc\nd\ne\n".to_owned()
        );
        assert_eq!(merge(base, "a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n"), None);
        assert_eq!(merge(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\ne\n").unwrap(), "a\nB\nc\nd\ne\n");
    }
}
