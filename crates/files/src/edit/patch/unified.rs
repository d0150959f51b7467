//! Unified diffs as `diff -u` and `git diff` write them.
//!
//! Context must agree exactly; a hunk may be found at another line than its header says (the nearest
//! wins), which is said. Counts in a header must be right: a wrong one is an error and no guess.

use super::{FilePatch, Hunks};
use crate::Error;

impl Hunk {
    /// The same with `\n` at the end of lines.
    fn plain(&self) -> Self {
        let plain =
            |lines: &[String]| lines.iter().map(|line| line.replace("\r\n", "\n")).collect();
        Self { old: plain(&self.old), new: plain(&self.new), ..*self }
    }
}

/// Hunks with `\n` at the end of lines, for a text that has no other.
pub(super) fn plain(hunks: &[Hunk]) -> Vec<Hunk> {
    hunks.iter().map(Hunk::plain).collect()
}

/// Lines that are there, and lines that are to be there. Each ends with `\n` unless it is the last
/// of a file without one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Where the old lines begin, from 1; 0 for none.
    old_start: usize,
    old: Vec<String>,
    new: Vec<String>,
    /// Lines at the beginning and the end that both have.
    context: (usize, usize),
    /// Its line in the patch.
    line: usize,
}

#[derive(Default)]
struct Header {
    old: Option<String>,
    new: Option<String>,
    rename: (Option<String>, Option<String>),
    new_mode: Option<u32>,
    is_new: bool,
    is_deleted: bool,
    hunks: Vec<Hunk>,
    line: usize,
}

const NOWHERE: &str = "/dev/null";

pub(super) fn parse(patch: &str, strip: Option<usize>) -> Result<Vec<FilePatch>, Error> {
    let lines: Vec<&str> = patch.split('\n').collect();
    let mut files: Vec<FilePatch> = Vec::new();
    let mut header: Option<Header> = None;
    let mut at = 0;
    let mut finish = |header: Option<Header>| -> Result<(), Error> {
        files.extend(header.map(|header| header.patch(strip)).transpose()?.flatten());
        Ok(())
    };
    while at < lines.len() {
        let line = lines[at].strip_suffix('\r').unwrap_or(lines[at]);
        let number = at + 1;
        if line.starts_with("diff --git ") {
            finish(header.replace(Header { line: number, ..Header::default() }))?;
        } else if line.starts_with("--- ")
            && lines.get(at + 1).is_some_and(|l| l.starts_with("+++ "))
        {
            let has_hunks =
                header.as_ref().is_none_or(|own| !own.hunks.is_empty() || own.old.is_some());
            if has_hunks {
                finish(header.replace(Header { line: number, ..Header::default() }))?;
            }
            if let Some(header) = &mut header {
                header.old = Some(file_name(line));
                header.new = Some(file_name(lines[at + 1]));
            }
            at += 1;
        } else if line.starts_with("@@ ") || line == "@@" {
            let Some(header) = &mut header else {
                return Err(Error::bad_edit(
                    number,
                    "a hunk needs `--- OLD` and `+++ NEW` above it",
                ));
            };
            let (hunk, next) = hunk(&lines, at)?;
            header.hunks.push(hunk);
            at = next;
            continue;
        } else if let Some(header) = &mut header {
            header.extended(line, number)?;
        }
        at += 1;
    }
    finish(header)?;
    if files.is_empty() {
        let problem = "this is no patch: it needs `--- OLD`, `+++ NEW` and `@@ -1,3 +1,4 @@`, or an \
                       envelope `*** Begin Patch` … `*** End Patch`";
        return Err(Error::bad_edit(0, problem));
    }
    Ok(files)
}

/// The name in `--- a/x.c<TAB>time`.
fn file_name(line: &str) -> String {
    let name = line.get(4..).unwrap_or_default().trim_end_matches(['\r', ' ']);
    let name = name.split('\t').next().unwrap_or_default();
    unquoted(name)
}

/// Git quotes names that are no plain text.
fn unquoted(name: &str) -> String {
    let Some(inside) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inside.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        match rest {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            [escape, after @ ..] => {
                bytes.push(match escape {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    other => *other,
                });
                rest = after;
            }
            [] => {}
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|error| crate::paths::escape_bytes(error.as_bytes()))
}

impl Header {
    /// The lines that git puts between `diff --git` and `---`.
    fn extended(&mut self, line: &str, number: usize) -> Result<(), Error> {
        let mode = |text: &str| u32::from_str_radix(text, 8).ok().map(|mode| mode & 0o777);
        if let Some(name) = line.strip_prefix("rename from ").or(line.strip_prefix("copy from ")) {
            if line.starts_with("copy") {
                return Err(Error::bad_edit(
                    number,
                    "copies are not applied; create the file instead",
                ));
            }
            self.rename.0 = Some(unquoted(name));
        } else if let Some(name) = line.strip_prefix("rename to ") {
            self.rename.1 = Some(unquoted(name));
        } else if let Some(text) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            self.new_mode = mode(text);
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(text) = line.strip_prefix("new mode ") {
            self.new_mode = mode(text);
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(Error::bad_edit(number, "binary patches are not applied"));
        } else if self.hunks.last().is_some_and(|_| is_body(line)) {
            let problem =
                "there are more lines than the header of this hunk says; correct its counts";
            return Err(Error::bad_edit(number, problem));
        }
        Ok(())
    }

    fn patch(self, strip: Option<usize>) -> Result<Option<FilePatch>, Error> {
        let (rename_from, rename_to) = self.rename;
        let name = |text: Option<String>, prefix: &str| -> Option<String> {
            let text = text.filter(|text| text != NOWHERE)?;
            Some(match strip {
                Some(count) => text.splitn(count + 1, '/').last().unwrap_or_default().to_owned(),
                None => text.strip_prefix(prefix).unwrap_or(&text).to_owned(),
            })
        };
        let is_git = self.old.as_deref().is_some_and(|old| old == NOWHERE || old.starts_with("a/"))
            && self.new.as_deref().is_some_and(|new| new == NOWHERE || new.starts_with("b/"));
        let (a, b) = if is_git { ("a/", "b/") } else { ("", "") };
        let is_deleted = self.is_deleted || self.new.as_deref() == Some(NOWHERE);
        let is_new = self.is_new || self.old.as_deref() == Some(NOWHERE);
        let (old, new) = (name(self.old, a).or(rename_from), name(self.new, b).or(rename_to));
        let missing = || Error::bad_edit(self.line, "this part of the patch names no file");
        Ok(match (old, new) {
            (_, Some(path)) if is_new => {
                let text =
                    self.hunks.iter().flat_map(|hunk| &hunk.new).map(String::as_str).collect();
                let mode = self.new_mode.filter(|mode| mode & 0o111 != 0);
                Some(FilePatch::Create { path, text, mode, replaces: false })
            }
            (Some(path), _) if is_deleted => Some(FilePatch::Delete { path, hunks: self.hunks }),
            (Some(old), Some(new)) => {
                let to = (new != old).then_some(new);
                let hunks = Hunks::Unified(self.hunks);
                Some(FilePatch::Update { path: old, to, hunks, mode: self.new_mode })
            }
            // A header of git without content: a mode, or an empty file.
            _ if self.hunks.is_empty() => None,
            _ => return Err(missing()),
        })
    }
}

fn is_body(line: &str) -> bool {
    line.starts_with([' ', '+'])
        || (line.starts_with('-') && !line.starts_with("-- ") && line != "--")
}

/// One hunk, and the index of the line behind it.
fn hunk(lines: &[&str], at: usize) -> Result<(Hunk, usize), Error> {
    let bad = |line: usize, problem: &str| Error::bad_edit(line + 1, problem);
    let counts =
        counts(lines[at]).ok_or_else(|| bad(at, "a hunk begins like `@@ -12,3 +12,4 @@`"))?;
    let (old_start, mut old_left, mut new_left) = counts;
    let mut hunk =
        Hunk { old_start, old: Vec::new(), new: Vec::new(), context: (0, 0), line: at + 1 };
    let (mut leading, mut trailing, mut seen_change) = (0, 0, false);
    let mut next = at + 1;
    let mut last = ' ';
    while old_left > 0 || new_left > 0 {
        let wrong = || bad(next, "the hunk ends before the counts of its header are reached");
        let line = lines.get(next).ok_or_else(wrong)?;
        // Mail programs strip the blank of an empty line of context.
        let (sign, text) = match line.chars().next() {
            None if next + 1 < lines.len() => (' ', ""),
            Some('\r') => (' ', *line),
            Some(sign @ (' ' | '+' | '-')) => (sign, &line[1..]),
            Some('\\') => {
                no_newline(&mut hunk, last);
                next += 1;
                continue;
            }
            _ => return Err(wrong()),
        };
        let content = format!("{text}\n");
        let (is_old, is_new) = (sign != '+', sign != '-');
        old_left = old_left.checked_sub(usize::from(is_old)).ok_or_else(wrong)?;
        new_left = new_left.checked_sub(usize::from(is_new)).ok_or_else(wrong)?;
        if sign == ' ' {
            trailing += 1;
            leading += usize::from(!seen_change);
        } else {
            seen_change = true;
            trailing = 0;
        }
        if is_old {
            hunk.old.push(content.clone());
        }
        if is_new {
            hunk.new.push(content);
        }
        last = sign;
        next += 1;
    }
    if lines.get(next).is_some_and(|line| line.starts_with('\\')) {
        no_newline(&mut hunk, last);
        next += 1;
    }
    hunk.context = (leading, trailing);
    Ok((hunk, next))
}

/// `\ No newline at end of file` speaks of the line before it.
fn no_newline(hunk: &mut Hunk, last: char) {
    let strip = |lines: &mut Vec<String>| {
        if let Some(line) = lines.last_mut() {
            line.pop();
        }
    };
    if last != '+' {
        strip(&mut hunk.old);
    }
    if last != '-' {
        strip(&mut hunk.new);
    }
}

/// The first old line and both counts of `@@ -12,3 +12,4 @@`.
fn counts(line: &str) -> Option<(usize, usize, usize)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut side = |sign: char| -> Option<(usize, usize)> {
        let text = words.next()?.strip_prefix(sign)?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let (old, new) = (side('-')?, side('+')?);
    let is_end = words.next().is_some_and(|word| word.starts_with("@@"));
    is_end.then_some((old.0, old.1, new.1))
}

pub(super) fn apply(
    path: &str,
    old: &str,
    hunks: &[Hunk],
    warnings: &mut Vec<String>,
) -> Result<String, Error> {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut new = String::with_capacity(old.len());
    let mut at = 0;
    let mut shift: isize = 0;
    for hunk in hunks {
        let wanted = &hunk.old;
        let header =
            if hunk.old.is_empty() { hunk.old_start } else { hunk.old_start.saturating_sub(1) };
        let expected = header.saturating_add_signed(shift);
        let place = nearest(&lines, wanted, hunk.context, at, expected).ok_or_else(|| {
            let first = wanted.first().map_or("", |line| line.trim_end());
            let problem = format!(
                "the hunk of line {} does not fit: its lines are not in the file (they begin {first:?}); \
                 read the file again",
                hunk.line
            );
            Error::NoMatch { path: path.to_owned(), problem }
        })?;
        if place != expected {
            let line = hunk.line;
            warnings
                .push(format!("{path}: the hunk of line {line} was applied at line {}", place + 1));
            shift += place.cast_signed() - expected.cast_signed();
        }
        new.extend(lines[at..place].iter().copied());
        new.extend(hunk.new.iter().map(String::as_str));
        at = place + wanted.len();
    }
    new.extend(lines[at..].iter().copied());
    Ok(new)
}

/// The place nearest to where lines should be, not before `from`. As for git, a hunk with less context
/// at its end than at its beginning is one at the end of the file, and the other way round.
fn nearest(
    lines: &[&str],
    wanted: &[String],
    (leading, trailing): (usize, usize),
    from: usize,
    expected: usize,
) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    if wanted.is_empty() {
        return (expected >= from && expected <= lines.len()).then_some(expected);
    }
    let is_at = |at: &usize| lines[*at..].iter().zip(wanted).all(|(line, wanted)| line == wanted);
    let must_start = leading < trailing && expected == 0;
    let must_end = trailing < leading;
    let mut places: Vec<usize> = (from..=last).filter(is_at).collect();
    if must_start && places.contains(&0) {
        return Some(0);
    }
    if must_end && places.contains(&last) {
        return Some(last);
    }
    places.sort_by_key(|at| at.abs_diff(expected));
    places.first().copied()
}
