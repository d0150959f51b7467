//! What programs do: the tables, and finding a row in them.
//!
//! Every table is a flat list of rows, grouped by who uses the programs. A program without a row is
//! unknown; so is a sub-command without one.

mod cloud;
mod core;
mod develop;
mod git;
mod github;
mod looks;
mod package;
mod show;
mod system;
mod tools;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::argv::has_shape;
use crate::row::Row;

type Index = HashMap<&'static str, &'static Row>;

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = index(written());
    // What is written in Rust says more.
    let programs: HashSet<&str> = index.keys().map(|name| program(name)).collect();
    let lines = self::index(LOOKS.iter());
    index.extend(lines.into_iter().filter(|(name, _)| !programs.contains(program(name))));
    index
});

/// The program of a name that may have sub-commands.
fn program(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

/// The rows of [`looks`], also those of programs that have another row.
static LOOKS: LazyLock<Vec<Row>> = LazyLock::new(looks::rows);
static LOOKS_INDEX: LazyLock<Index> = LazyLock::new(|| index(LOOKS.iter()));

fn index(rows: impl Iterator<Item = &'static Row>) -> Index {
    rows.flat_map(|row| row.names.split('|').map(move |name| (name, row))).collect()
}

/// All rows of all tables.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    written().chain(LOOKS.iter())
}

/// The rows that are written in Rust.
fn written() -> impl Iterator<Item = &'static Row> {
    [
        core::ROWS,
        git::ROWS,
        github::ROWS,
        develop::ROWS,
        package::ROWS,
        cloud::ROWS,
        system::ROWS,
        show::ROWS,
        tools::ROWS,
    ]
    .into_iter()
    .flatten()
}

/// Names with a `*` in a word, which is any text: sub-commands that follow a rule of their own. Each is found
/// by its program.
type Families = HashMap<&'static str, Vec<(Vec<&'static str>, &'static Row)>>;

static FAMILIES: LazyLock<Families> = LazyLock::new(|| families(all()));
static LOOK_FAMILIES: LazyLock<Families> = LazyLock::new(|| families(LOOKS.iter()));

fn families(rows: impl Iterator<Item = &'static Row>) -> Families {
    let named = rows.flat_map(|row| row.names.split('|').map(move |name| (name, row)));
    let mut families = Families::new();
    for (name, row) in named.filter(|(name, _)| name.contains('*')) {
        families.entry(program(name)).or_default().push((name.split(' ').collect(), row));
    }
    families
}

/// The row of a program or of a program with its sub-commands (`git remote add`).
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    INDEX.get(name).copied().or_else(|| family(name))
}

/// Programs that [`looks`] has lines for.
static LOOKERS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| LOOKS_INDEX.keys().map(|name| program(name)).collect());

/// Names below which [`looks`] has others.
static LOOK_PARENTS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    LOOKS_INDEX.keys().filter_map(|name| Some(name.rsplit_once(' ')?.0)).collect()
});

/// Whether the operands of a name may be sub-commands.
pub(crate) fn is_look_parent(name: &str) -> bool {
    LOOK_PARENTS.contains(name)
}

/// Whether there is any line for the program of a name.
pub(crate) fn has_looks(name: &str) -> bool {
    LOOKERS.contains(program(name))
}

/// A row that says with which options a program only looks, which may have another row beside it.
pub(crate) fn find_look(name: &str) -> Option<&'static Row> {
    LOOKS_INDEX.get(name).copied().or_else(|| family_among(&LOOK_FAMILIES, name))
}

/// The first row whose name fits with any text for `*`.
fn family(name: &str) -> Option<&'static Row> {
    family_among(&FAMILIES, name)
}

fn family_among(families: &Families, name: &str) -> Option<&'static Row> {
    let families = families.get(program(name))?;
    let words: Vec<&str> = name.split(' ').collect();
    let fits = |family: &[&str]| {
        family.len() == words.len()
            && family.iter().zip(&words).all(|(shape, word)| has_shape(shape, word))
    };
    families.iter().find(|(family, _)| words.len() > 1 && fits(family)).map(|(_, row)| *row)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{LOOKS, all, find, written};
    use crate::risk::Risk;

    #[test]
    fn no_name_has_two_rows() {
        for rows in [written().collect::<Vec<_>>(), LOOKS.iter().collect()] {
            let mut seen = HashSet::new();
            for name in rows.iter().flat_map(|row| row.names.split('|')) {
                assert!(seen.insert(name), "{name} has two rows");
                assert!(!name.is_empty() && name.trim() == name, "{name:?}");
            }
            assert!(seen.len() > 900, "{}", seen.len());
        }
    }

    #[test]
    fn every_option_in_the_tables_is_spelled_as_an_option() {
        for row in all() {
            let ruled = row.rules.iter().map(|(options, _)| *options);
            let unless = row.operands.map(|(_, _, unless)| unless);
            for list in ruled.chain([row.valued]).chain(row.only).chain(unless) {
                for option in list.split_whitespace() {
                    let ok = option.starts_with('-') || option.starts_with('+');
                    assert!(ok && option.len() > 1, "{}: {option}", row.names);
                }
            }
        }
    }

    #[test]
    fn no_option_makes_a_program_safer_than_its_row() {
        for row in all() {
            for (options, does) in row.rules {
                // Running code is worth saying even where the row is dangerous anyway.
                let said = matches!(does.risk, Risk::ReadOnly | Risk::Unknown);
                let softer = does.risk < row.does.risk && !said;
                assert!(!softer, "{}: {options}", row.names);
            }
        }
    }

    #[test]
    fn a_sub_command_has_a_parent_that_takes_sub_commands() {
        for name in written().flat_map(|row| row.names.split('|')) {
            if let Some((parent, _)) = name.rsplit_once(' ') {
                assert!(find(parent).is_some_and(|row| row.subs), "{name} has no parent row");
            }
        }
        for name in LOOKS.iter().flat_map(|row| row.names.split('|')) {
            assert!(find(super::program(name)).is_some(), "{name} has no parent row");
        }
    }

    #[test]
    fn a_family_has_a_program_of_its_own() {
        for name in all().flat_map(|row| row.names.split('|')) {
            assert!(!super::program(name).contains('*'), "{name}");
        }
    }

    #[test]
    fn git_has_about_a_hundred_and_fifty_rows() {
        let rows =
            all().flat_map(|row| row.names.split('|')).filter(|n| n.starts_with("git ")).count();
        assert!(rows >= 150, "{rows}");
    }
}
