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

use memchr::memmem;

use crate::hash::HashSet;

use crate::effect::{Does, FETCH, READ, UNKNOWN};
use crate::row::{Row, Takes, row};

const TEXT: &str = include_str!("looks.txt");

/// The rows of some lines. They are made once and live as long as the process.
pub(super) fn rows(lines: impl Iterator<Item = &'static str>) -> Vec<Row> {
    let mut rows: Vec<Row> = lines.filter_map(parse).collect();
    rows.extend(missing_parents(&rows));
    rows
}

/// All lines.
pub(super) fn lines() -> impl Iterator<Item = &'static str> {
    TEXT.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The programs of each line; one that has several names of the same program has it several times.
pub(super) fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let heads = lines().filter_map(|line| Some((head(line)?.0, line)));
    heads.flat_map(|(head, line)| head.split(", ").map(move |name| (super::program(name), line)))
}

/// Whether a program has a line. It looks at the lines that have its name in them and no others: to take
/// all of them apart costs more than a reading.
pub(super) fn has_line(program: &str) -> bool {
    let names = |at: usize| {
        let start = TEXT[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = TEXT[at..].find('\n').map_or(TEXT.len(), |end| at + end);
        let line = TEXT[start..end].trim();
        let named = head(line).filter(|_| !line.starts_with('#'));
        named.is_some_and(|(head, _, _)| {
            head.split(", ").any(|name| super::program(name) == program)
        })
    };
    let mut places = memmem::find_iter(TEXT.as_bytes(), program);
    !program.is_empty() && places.any(names)
}

/// A line's names, which sign follows them, and what follows that.
fn head(line: &'static str) -> Option<(&'static str, u8, &'static str)> {
    let is_sign = |window: &[u8]| window[0] == b' ' && b":>=".contains(&window[1]);
    let is_last = |at: usize| at + 2 == line.len() && line.as_bytes()[at + 1] != b'=';
    let ends = |at: usize| is_last(at) || line.as_bytes().get(at + 2) == Some(&b' ');
    let mut signs = line.as_bytes().windows(2).enumerate().filter(|(_, window)| is_sign(window));
    let (at, _) = signs.find(|(at, _)| ends(*at))?;
    Some((&line[..at], line.as_bytes()[at + 1], line[at + 2..].trim()))
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
    use super::{lines, parse};

    #[test]
    fn every_line_is_written_as_a_line_is() {
        for line in lines() {
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
