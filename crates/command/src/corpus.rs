//! The labelled commands this crate is measured with, and the table of the result.
//!
//! A corpus file holds one command per line; `␤` stands for a line break inside a command, `#` begins a
//! comment line. The file's name is the label.

use std::fmt::Write;

use crate::{Risk, Shell, read};

/// One set of commands with the same label.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// What the commands have in common.
    pub name: &'static str,
    /// The verdicts that are right; the first is the label.
    pub right: &'static [Risk],
    text: &'static str,
}

impl Set {
    /// The commands of the set.
    pub fn commands(&self) -> impl Iterator<Item = String> {
        self.text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with("# "))
            .map(|line| line.replace('␤', "\n"))
    }
}

/// The corpus. Everything but the first set must never be called `read_only`.
pub const SETS: [Set; 5] = [
    Set {
        name: "everyday read-only",
        right: &[Risk::ReadOnly],
        text: include_str!("../corpus/read_only.txt"),
    },
    Set {
        name: "everyday mutating",
        right: &[Risk::Mutate],
        text: include_str!("../corpus/mutate.txt"),
    },
    Set {
        name: "not knowable",
        right: &[Risk::Unknown, Risk::Dangerous],
        text: include_str!("../corpus/unknown.txt"),
    },
    Set {
        name: "dangerous",
        right: &[Risk::Dangerous],
        text: include_str!("../corpus/dangerous.txt"),
    },
    Set {
        name: "obfuscated and adversarial",
        right: &[Risk::Dangerous, Risk::Unknown, Risk::Mutate],
        text: include_str!("../corpus/adversarial.txt"),
    },
];

/// How often each verdict was given for a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// `read_only`.
    pub read_only: usize,
    /// `mutate`.
    pub mutate: usize,
    /// `unknown`.
    pub unknown: usize,
    /// `dangerous`.
    pub dangerous: usize,
    /// Verdicts that are right for the set.
    pub right: usize,
}

impl Count {
    /// All commands of the set.
    pub fn total(&self) -> usize {
        self.read_only + self.mutate + self.unknown + self.dangerous
    }
}

/// Reads every command of a set and counts the verdicts.
pub fn count(set: &Set) -> Count {
    let mut count = Count::default();
    for command in set.commands() {
        let risk = read(&command, Shell::Bash).risk;
        match risk {
            Risk::ReadOnly => count.read_only += 1,
            Risk::Mutate => count.mutate += 1,
            Risk::Unknown => count.unknown += 1,
            Risk::Dangerous => count.dangerous += 1,
        }
        count.right += usize::from(set.right.contains(&risk));
    }
    count
}

/// The result as a Markdown table, for the documents.
pub fn corpus_table() -> String {
    let mut table = String::from(
        "| commands | count | read_only | mutate | unknown | dangerous | right |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut called = 0;
    let mut truly = 0;
    let mut all = 0;
    for (index, set) in SETS.iter().enumerate() {
        let count = count(set);
        called += count.read_only;
        if index == 0 {
            truly = count.read_only;
            all = count.total();
        }
        _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} | {} |",
            set.name,
            count.total(),
            count.read_only,
            count.mutate,
            count.unknown,
            count.dangerous,
            percent(count.right, count.total())
        );
    }
    _ = write!(
        table,
        "\nOf the commands called read_only, {} are (precision); of the everyday read-only commands, {} are recognised (recall).\n",
        percent(truly, called),
        percent(truly, all)
    );
    table
}

/// A share in per cent with one decimal, without rounding up to a hundred.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1_000).checked_div(whole).unwrap_or(0);
    format!("{}.{} %", tenths / 10, tenths % 10)
}
