//! The tables, for the tests that prove them by running the programs.

use crate::effect::Kind;
use crate::risk::Risk;
use crate::row::{Reader, Row};
use crate::table;

/// A program that only reads, with the options that its row knows.
#[derive(Clone, Debug)]
pub struct ReadOnlyRow {
    /// The program with its sub-commands.
    pub name: String,
    /// The program alone.
    pub program: String,
    /// Whether it asks other machines.
    pub asks_others: bool,
    /// The option without which it does more, and whether that takes a value.
    pub needs: Option<(String, bool)>,
    /// Its options, and whether each takes a value.
    pub options: Vec<(String, bool)>,
}

/// Programs that change nothing of what they are asked about, but keep something of their own: settings
/// that they make at their first use, a cache, a log, counters of the run. Where that cannot be written
/// they answer all the same, or say that they cannot.
pub const KEEPS_STATE: &str = "man tmux dpkg-deb gpg rpm dnf inxi borg aptitude blkid podman uv black yapf hatch cabal wajig rtk sdcv hunspell diffoscope apt-file lpass go top npm apt-cache apt apt-get apt-mark tlmgr gsutil pacman espeak espeak-ng speak speak-ng pamixer gst-inspect-1.0 check-support-status apt-key phar jdeps jhsdb terraform";

/// Whether a program keeps something of its own while it reads.
pub fn keeps_state(program: &str) -> bool {
    KEEPS_STATE.split(' ').any(|one| one == program)
}

/// All rows that only read, or do so with some options, but those that a reader of a language of their own
/// judges.
pub fn read_only_rows() -> Vec<ReadOnlyRow> {
    let mut rows = Vec::new();
    for row in table::all().filter(|row| row.reader == Reader::Row) {
        if row.does.risk == Risk::ReadOnly {
            push_names(&mut rows, row, None, &known_options(row));
            continue;
        }
        for (list, does) in row.rules.iter().filter(|(_, does)| does.risk == Risk::ReadOnly) {
            let option = |name: &str| (name.to_owned(), crate::argv::takes_value(row, name));
            let mut options: Vec<(String, bool)> = list.split_whitespace().map(option).collect();
            if options.is_empty() {
                continue;
            }
            let first = options.remove(0);
            let row = Row { does: *does, ..*row };
            push_names(&mut rows, &row, Some(&first), &options);
        }
    }
    rows
}

/// The options that a row knows, and whether each takes a value.
fn known_options(row: &Row) -> Vec<(String, bool)> {
    let mut options = Vec::new();
    for word in row.options.split_whitespace() {
        if word.starts_with('-') {
            let name = word.trim_end_matches(['=', '?', '@']);
            options.push((name.to_owned(), word.ends_with('=')));
            continue;
        }
        let letters: Vec<char> = word.chars().collect();
        for (at, letter) in letters.iter().enumerate().filter(|(_, c)| !":;@".contains(**c)) {
            options.push((format!("-{letter}"), letters.get(at + 1) == Some(&':')));
        }
    }
    options.extend(row.valued.split_whitespace().map(|name| (name.to_owned(), true)));
    let flags = row.flags.split_whitespace().chain(row.only.unwrap_or_default().split_whitespace());
    options.extend(
        flags
            .filter(|name| !crate::argv::takes_value(row, name))
            .map(|name| (name.to_owned(), false)),
    );
    options.retain(|(name, _)| name != "--*");
    options
}

/// Adds a row for each name.
fn push_names(
    rows: &mut Vec<ReadOnlyRow>,
    row: &Row,
    needs: Option<&(String, bool)>,
    options: &[(String, bool)],
) {
    for name in row.names.split('|').filter(|name| !name.contains('*')) {
        let program = name.split(' ').next().unwrap_or_default().to_owned();
        rows.push(ReadOnlyRow {
            name: name.to_owned(),
            program,
            asks_others: row.does.kind == Kind::Network,
            needs: needs.cloned(),
            options: options.to_vec(),
        });
    }
}
