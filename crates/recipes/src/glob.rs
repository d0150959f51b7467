//! Workspace patterns (`packages/*`, `libs/**`, `!libs/old`) turned into package directories.
//! The walk never leaves the project, follows a symbolic link at most once, ignores dependency
//! folders, and stops at a budget.

use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

use crate::{folder::Folder, options::Limits, project::Problem};

/// Directories that hold other people's packages, never the project's own.
const FOREIGN: [&str; 4] = ["node_modules", ".git", "bower_components", ".venv"];

/// Longer patterns and deeper directories than this are not walked.
const MAX_DEPTH: usize = 64;

/// More alternatives than this from braces, and the pattern is an attack.
const MAX_ALTERNATIVES: usize = 256;

/// The directories that match the patterns and hold one of the manifests, sorted.
pub(crate) fn packages(
    folder: &Folder<'_>,
    limits: &Limits,
    file: &str,
    patterns: &[String],
    manifests: &[&str],
) -> (Vec<String>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut walk =
        Walk { folder, budget: limits.directories, seen: HashSet::new(), found: BTreeSet::new() };
    let (excluded, included): (Vec<_>, Vec<_>) = patterns.iter().partition(|p| p.starts_with('!'));
    for pattern in included {
        for alternative in braces(pattern) {
            match segments(&alternative) {
                Some(segments) => {
                    walk.seen.clear();
                    walk.visit("", &segments);
                }
                None => problems.push(Problem::new(
                    file,
                    None,
                    format!("workspace pattern `{pattern}` leaves the project or is too deep, and was ignored"),
                )),
            }
        }
    }
    if walk.budget == 0 {
        let message = format!("workspace search stopped after {} directories", limits.directories);
        problems.push(Problem::new(file, None, message));
    }
    let excluded: Vec<Vec<String>> = excluded
        .iter()
        .flat_map(|pattern| braces(&pattern[1..]))
        .filter_map(|pattern| segments(&pattern))
        .collect();
    let is_excluded = |directory: &str| {
        let parts: Vec<&str> = directory.split('/').collect();
        excluded.iter().any(|pattern| matches_path(pattern, &parts))
    };
    let mut found: Vec<String> = walk
        .found
        .into_iter()
        .filter(|directory| !is_excluded(directory))
        .filter(|directory| manifests.iter().any(|name| folder.has(&format!("{directory}/{name}"))))
        .collect();
    if found.len() > limits.packages {
        let message =
            format!("only the first {} of {} packages are read", limits.packages, found.len());
        problems.push(Problem::new(file, None, message));
        found.truncate(limits.packages);
    }
    (found, problems)
}

/// The parts of a pattern; `None` when it points outside the project or is too deep.
fn segments(pattern: &str) -> Option<Vec<String>> {
    if pattern.starts_with('/') {
        return None;
    }
    let parts = pattern.split('/').filter(|part| !part.is_empty() && *part != ".");
    let parts: Option<Vec<String>> =
        parts.map(|part| (part != "..").then(|| part.to_owned())).collect();
    parts.filter(|parts| parts.len() <= MAX_DEPTH)
}

struct Walk<'a, 'b> {
    folder: &'a Folder<'b>,
    budget: usize,
    /// Real directories already visited with so many segments left: the end of every loop.
    seen: HashSet<(PathBuf, usize)>,
    found: BTreeSet<String>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, directory: &str, segments: &[String]) {
        let Some(real) = self.folder.real_directory(directory) else { return };
        let is_deep = directory.split('/').count() > MAX_DEPTH;
        if self.budget == 0 || is_deep || !self.seen.insert((real, segments.len())) {
            return;
        }
        self.budget -= 1;
        let Some((first, rest)) = segments.split_first() else {
            if !directory.is_empty() {
                self.found.insert(directory.to_owned());
            }
            return;
        };
        if first == "**" {
            self.visit(directory, rest);
        } else if !first.contains(['*', '?', '[']) {
            self.visit(&joined(directory, first), rest);
            return;
        }
        for name in self.folder.list(directory) {
            if !name.is_directory || FOREIGN.contains(&name.text.as_str()) {
                continue;
            }
            let below = joined(directory, &name.text);
            if first == "**" {
                if !name.text.starts_with('.') {
                    self.visit(&below, segments);
                }
            } else if matches(first, &name.text) {
                self.visit(&below, rest);
            }
        }
    }
}

pub(crate) fn joined(directory: &str, name: &str) -> String {
    if directory.is_empty() || directory == "." {
        name.to_owned()
    } else {
        format!("{directory}/{name}")
    }
}

/// Whether a path matches a pattern. Row by row: `row[n]` says whether the pattern so far matches
/// the first `n` parts, so no pattern can make this slow.
fn matches_path(pattern: &[String], parts: &[&str]) -> bool {
    let mut row = vec![false; parts.len() + 1];
    row[0] = true;
    for segment in pattern {
        let mut next = vec![false; parts.len() + 1];
        next[0] = row[0] && segment == "**";
        for (at, part) in parts.iter().enumerate() {
            next[at + 1] = if segment == "**" {
                next[at] || row[at + 1]
            } else {
                row[at] && matches(segment, part)
            };
        }
        row = next;
    }
    row[parts.len()]
}

/// Whether a name matches one segment: `*`, `?` and `[a-z]`, without backtracking over more than
/// the last star.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match one(&pattern[p..], name[n]) {
            Some(length) => {
                p += length;
                n += 1;
            }
            None if pattern.get(p) == Some(&'*') => {
                star = Some((p, n));
                p += 1;
            }
            None => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// How many pattern characters match this one character, if they do.
fn one(pattern: &[char], c: char) -> Option<usize> {
    match pattern.first()? {
        '*' => None,
        '?' => Some(1),
        '[' => {
            let end = 1 + pattern[1..].iter().skip(1).position(|c| *c == ']')? + 1;
            let mut set = &pattern[1..end];
            let negated = matches!(set.first(), Some('!' | '^'));
            if negated {
                set = &set[1..];
            }
            let mut hit = false;
            let mut at = 0;
            while at < set.len() {
                if at + 2 < set.len() && set[at + 1] == '-' {
                    hit |= (set[at]..=set[at + 2]).contains(&c);
                    at += 3;
                } else {
                    hit |= set[at] == c;
                    at += 1;
                }
            }
            (hit != negated).then_some(end + 1)
        }
        literal => (*literal == c).then_some(1),
    }
}

/// The alternatives of `{a,b}` groups, innermost last, at most [`MAX_ALTERNATIVES`].
fn braces(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let group = text.find('}').and_then(|end| text[..end].rfind('{').map(|start| (start, end)));
        match group {
            Some((start, end)) if open.len() + done.len() < MAX_ALTERNATIVES => {
                for choice in text[start + 1..end].split(',') {
                    open.push(format!("{}{choice}{}", &text[..start], &text[end + 1..]));
                }
            }
            Some(_) => {}
            None => done.push(text),
        }
    }
    done.sort();
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_match_as_shells_match() {
        assert!(matches("*", "a"));
        assert!(!matches("*", ".a"));
        assert!(matches("pkg-*-x", "pkg-a-b-x"));
        assert!(!matches("pkg-*-x", "pkg-a-b-y"));
        assert!(matches("[a-c]?", "bz"));
        assert!(!matches("[!a-c]?", "bz"));
        assert!(!matches("[", "a"));
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }

    #[test]
    fn paths_match_with_any_number_of_parts_between() {
        let matches = |pattern: &str, path: &str| {
            matches_path(&segments(pattern).unwrap(), &path.split('/').collect::<Vec<_>>())
        };
        assert!(matches("**/test", "a/b/test"));
        assert!(matches("**/test", "test"));
        assert!(matches("a/**", "a/b/c"));
        assert!(!matches("a/*", "a/b/c"));
        assert!(!matches(&"**/a/".repeat(30), &["a"; 29].join("/")));
    }

    #[test]
    fn braces_multiply_up_to_a_bound() {
        assert_eq!(braces("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
        assert_eq!(braces("a{"), ["a{"]);
        assert!(braces(&"{a,b}".repeat(64)).len() <= MAX_ALTERNATIVES);
    }

    #[test]
    fn patterns_that_leave_the_project_are_refused() {
        assert_eq!(segments("../x"), None);
        assert_eq!(segments("/etc"), None);
        assert_eq!(segments("./a//b/").unwrap(), ["a", "b"]);
    }
}
