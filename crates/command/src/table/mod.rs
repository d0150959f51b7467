//! What programs do: the tables, and finding a row in them.
//!
//! Every table is a flat list of rows, grouped by who uses the programs. A program without a row is
//! unknown; so is a sub-command without one.

mod cloud;
mod core;
mod develop;
mod git;
mod github;
mod lines;
mod looks;
mod package;
mod show;
mod system;
mod tools;

use crate::hash::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use crate::argv::has_shape;
use crate::row::Row;

use self::lines::program;

type Index = HashMap<&'static str, &'static Row>;

/// The rows that are written in Rust, by their names.
static WRITTEN: LazyLock<Index> = LazyLock::new(|| index(written()));
/// The programs of those rows.
static WRITTEN_PROGRAMS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| WRITTEN.keys().map(|name| program(name)).collect());

/// The rows of one program's lines in [`looks`].
pub(crate) struct LookRows {
    /// Those with the program's own names. A line may be another program's, too.
    index: Index,
    /// Names below which there are others.
    parents: HashSet<&'static str>,
    families: Families,
}

impl LookRows {
    fn of(program: &str, lines: impl Iterator<Item = &'static str>) -> Self {
        let rows: &'static [Row] = looks::rows(lines).leak();
        let mut index = index(rows.iter());
        index.retain(|name, _| self::program(name) == program);
        let parents = index.keys().filter_map(|name| Some(name.rsplit_once(' ')?.0)).collect();
        let mut families = families(rows.iter());
        families.retain(|own, _| *own == program);
        Self { index, parents, families }
    }

    /// The row that says with which options a program only looks.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Row> {
        self.index.get(name).copied().or_else(|| family_among(&self.families, name))
    }
}

/// The rows of the program of a name in [`looks`], also if it has another row. They are made when it is first met: to
/// make those of all takes longer than most commands.
pub(crate) fn looks_of(name: &str) -> Option<&'static LookRows> {
    static MADE: [OnceLock<Box<LookRows>>; looks::COUNT] =
        [const { OnceLock::new() }; looks::COUNT];
    let program = program(name);
    let place = looks::place(program)?;
    let rows = MADE[place].get_or_init(|| Box::new(LookRows::of(program, looks::lines_at(place))));
    Some(rows)
}

/// Whether there is any line for the program of a name.
pub(crate) fn has_looks(name: &str) -> bool {
    looks::place(program(name)).is_some()
}

/// So many look-ups go through the tables row by row: to make the indexes takes as long as a hundred of
/// them, and most processes read one command.
const LOOKUPS_WITHOUT_INDEX: usize = 100;

/// Counts a look-up; whether it is worth an index.
fn wants_index() -> bool {
    static LOOKUPS: AtomicUsize = AtomicUsize::new(0);
    LOOKUPS.fetch_add(1, Ordering::Relaxed) >= LOOKUPS_WITHOUT_INDEX
}

/// The row with a name that is written in Rust.
fn written_row(name: &str) -> Option<&'static Row> {
    if wants_index() {
        return WRITTEN.get(name).copied();
    }
    written().find(|row| row.names.split('|').any(|own| own == name))
}

/// Whether a program has a row that is written in Rust.
fn is_written(program: &str) -> bool {
    if wants_index() {
        return WRITTEN_PROGRAMS.contains(program);
    }
    written().any(|row| row.names.split('|').any(|own| self::program(own) == program))
}

fn index(rows: impl Iterator<Item = &'static Row>) -> Index {
    rows.flat_map(|row| row.names.split('|').map(move |name| (name, row))).collect()
}

/// All rows of all tables.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| looks::rows(looks::LINES.into_iter()));
    written().chain(ROWS.iter())
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

static FAMILIES: LazyLock<Families> = LazyLock::new(|| families(written()));

fn families(rows: impl Iterator<Item = &'static Row>) -> Families {
    let named = rows.flat_map(|row| row.names.split('|').map(move |name| (name, row)));
    let mut families = Families::default();
    for (name, row) in named.filter(|(name, _)| name.contains('*')) {
        families.entry(program(name)).or_default().push((name.split(' ').collect(), row));
    }
    families
}

/// The row of a program or of a program with its sub-commands (`git remote add`).
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    if let Some(row) = written_row(name) {
        return Some(row);
    }
    // What is written in Rust says more.
    let looks = looks_of(name);
    let line = looks.filter(|_| !is_written(program(name)));
    let named = line.and_then(|looks| looks.index.get(name).copied());
    let family = || family_among(&FAMILIES, name);
    named.or_else(family).or_else(|| family_among(&looks?.families, name))
}

/// Whether the operands of a name may be sub-commands.
pub(crate) fn is_look_parent(name: &str) -> bool {
    looks_of(name).is_some_and(|looks| looks.parents.contains(name))
}

/// A row that says with which options a program only looks, which may have another row beside it.
pub(crate) fn find_look(name: &str) -> Option<&'static Row> {
    looks_of(name)?.find(name)
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

    use super::{all, find, looks, written};
    use crate::risk::Risk;

    #[test]
    fn no_name_has_two_rows() {
        let lines = looks::rows(looks::LINES.into_iter());
        for rows in [written().collect::<Vec<_>>(), lines.iter().collect()] {
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
        for name in
            looks::rows(looks::LINES.into_iter()).iter().flat_map(|row| row.names.split('|'))
        {
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
    fn a_row_is_found_with_an_index_and_without() {
        let names = |row: &'static super::Row| row.names.split('|');
        for name in written().flat_map(names).chain(["no-such-program", "git no-such-thing", ""]) {
            let indexed = super::WRITTEN.get(name).copied();
            let found = written().find(|row| row.names.split('|').any(|own| own == name));
            assert!(indexed.map(std::ptr::from_ref) == found.map(std::ptr::from_ref), "{name}");
        }
        for name in ["", "a", "e", ",", "--json", "no-such-program", "gh-", "#", "\n"] {
            assert!(!super::has_looks(name), "{name:?}");
        }
    }

    #[test]
    fn every_line_is_found_by_each_of_its_names() {
        for row in looks::rows(looks::LINES.into_iter()) {
            for name in row.names.split('|').filter(|name| !name.contains('*')) {
                let found = super::find_look(name).unwrap();
                assert!(found.names.split('|').any(|own| own == name), "{name}");
                assert_eq!((found.options, found.subs), (row.options, row.subs), "{name}");
                assert!(super::has_looks(name), "{name}");
            }
        }
    }

    #[test]
    fn git_has_about_a_hundred_and_fifty_rows() {
        let rows =
            all().flat_map(|row| row.names.split('|')).filter(|n| n.starts_with("git ")).count();
        assert!(rows >= 150, "{rows}");
    }
}
