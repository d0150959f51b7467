//! The tables, for the tests that prove them by running the programs.

use crate::effect::Kind;
use crate::risk::Risk;
use crate::row::Reader;
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
    /// Its options, and whether each takes a value.
    pub options: Vec<(String, bool)>,
}

/// All rows that only read, but those that a reader of a language of their own judges.
pub fn read_only_rows() -> Vec<ReadOnlyRow> {
    let mut rows = Vec::new();
    for row in
        table::all().filter(|row| row.does.risk == Risk::ReadOnly && row.reader == Reader::Row)
    {
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
        let flags =
            row.flags.split_whitespace().chain(row.only.unwrap_or_default().split_whitespace());
        options.extend(
            flags
                .filter(|name| !crate::argv::takes_value(row, name))
                .map(|name| (name.to_owned(), false)),
        );
        options.retain(|(name, _)| name != "--*");
        for name in row.names.split('|').filter(|name| !name.contains('*')) {
            let program = name.split(' ').next().unwrap_or_default().to_owned();
            let asks_others = row.does.kind == Kind::Network;
            let options = options.clone();
            rows.push(ReadOnlyRow { name: name.to_owned(), program, asks_others, options });
        }
    }
    rows
}
