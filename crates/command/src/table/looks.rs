//! Programs that mostly look, one line each: the text `looks.txt`, and reading it.
//!
//! A line names programs, or programs with a sub-command, and what they may be given so that they only
//! read. Options are as [`crate::spec`] has them:
//!
//! - `cal, ncal : 13jy --year` reads whatever it is given with these options and no others; its operands
//!   are files;
//! - `whois > h:p: --host=` does so too, and its operands are other machines;
//! - `aplay = -l | -L | -D= -l` reads only with the options of one of these sets, of which the first must be
//!   there, and is unknown otherwise;
//! - `fatlabel /1 : ` reads with at most one operand.
//!
//! A program whose sub-commands alone have lines is unknown with any other. A program that has a row in
//! Rust keeps it: a line only says in which ways it looks.

use crate::effect::{Does, FETCH, READ, UNKNOWN};
use crate::hash::HashSet;
use crate::row::{Row, Takes, row};

use super::lines::head;

// The lines, and which of them each program has: `build.rs` has sorted them.
include!(concat!(env!("OUT_DIR"), "/looks.rs"));

/// The rows of some lines. They are made once and live as long as the process.
pub(super) fn rows(lines: impl Iterator<Item = &'static str>) -> Vec<Row> {
    let mut rows: Vec<Row> = lines.filter_map(parse).collect();
    rows.extend(missing_parents(&rows));
    rows
}

/// Where a program is among all that have lines.
pub(super) fn place(program: &str) -> Option<usize> {
    PROGRAMS.binary_search(&program).ok()
}

/// The lines of the program at that place.
pub(super) fn lines_at(place: usize) -> impl Iterator<Item = &'static str> {
    PLACES[place].iter().map(|line| LINES[*line])
}

/// One line; nothing where it is not written as a line is. A test reads all of them.
fn parse(line: &'static str) -> Option<Row> {
    let (head, sign, rest) = head(line)?;
    let (names, most) = match head.rsplit_once(" /") {
        Some((names, most)) => (names, Some(most.parse::<usize>().ok()?)),
        None => (head, None),
    };
    let names = leak(names.split(", ").collect::<Vec<_>>().join("|"));
    let mut made = match sign {
        b':' => row(names, READ).takes(Takes::Paths).options(rest),
        b'>' => row(names, FETCH).takes(Takes::Hosts).options(rest),
        _ => sets(names, rest),
    };
    if let Some(most) = most {
        made = made.beyond(most, UNKNOWN, "");
    }
    Some(made)
}

/// A program that reads only with the options of one of several sets.
fn sets(names: &'static str, text: &'static str) -> Row {
    let mut valued = Vec::new();
    let mut rules: Vec<(&'static str, Does)> = Vec::new();
    for set in text.split(" | ") {
        let mut options = Vec::new();
        for option in set.split_whitespace() {
            let name = option.strip_suffix('=').unwrap_or(option);
            if name.len() < option.len() {
                valued.push(name);
            }
            options.push(name);
        }
        rules.push((leak(options.join(" ")), READ));
    }
    row(names, UNKNOWN)
        .takes(Takes::Paths)
        .valued(leak(valued.join(" ")))
        .when(Box::leak(rules.into_boxed_slice()))
}

/// Rows for programs that only have lines for their sub-commands.
fn missing_parents(rows: &[Row]) -> Vec<Row> {
    let mine: Vec<&'static str> = rows.iter().flat_map(|row| row.names.split('|')).collect();
    let mut known: HashSet<&'static str> = mine.iter().copied().collect();
    let mut parents: Vec<&'static str> = Vec::new();
    for mut name in mine {
        while let Some((parent, _)) = name.rsplit_once(' ') {
            if known.insert(parent) {
                parents.push(parent);
            }
            name = parent;
        }
    }
    parents.into_iter().map(|parent| row(parent, UNKNOWN).subs().other(UNKNOWN)).collect()
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::{LINES, parse};

    #[test]
    fn every_line_is_written_as_a_line_is() {
        for line in LINES {
            let row = parse(line);
            assert!(row.is_some(), "{line}");
            let row = row.unwrap();
            assert!(
                row.names.split('|').all(|name| !name.is_empty() && name.trim() == name),
                "{line}"
            );
        }
    }
}
