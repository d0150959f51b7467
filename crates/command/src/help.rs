//! Commands that only ask a program what it is.

use crate::row::{Reader, Row};
use crate::word::Word;

/// `--version` and `--help` alone never do anything else; builtins would take them as operands.
pub(crate) fn asks_for_help(row: &Row, args: &[Word]) -> bool {
    let builtin = row.reader == Reader::Builtin || row.names.contains("|.|");
    let last = args.last().and_then(Word::exact);
    match last {
        _ if builtin => false,
        Some("--version" | "--help") => {
            args.len() == 1 || (row.subs && args[..args.len() - 1].iter().all(is_sub_name))
        }
        Some("-h" | "-V" | "help") => args.len() == 1 && row.subs,
        _ => {
            args.first().and_then(Word::exact) == Some("help")
                && row.subs
                && args.iter().all(is_sub_name)
        }
    }
}

/// Sub-commands after which comes another program with options of its own.
const RUNS_OTHERS: &str =
    "run exec x dlx shell start eval test ssh task script explore do with each foreach watch";

/// Whether a word can only be the name of a sub-command that takes help for itself.
fn is_sub_name(word: &Word) -> bool {
    word.exact().is_some_and(|text| {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
        text.bytes().all(plain)
            && text.starts_with(|c: char| c.is_ascii_lowercase())
            && !RUNS_OTHERS.split(' ').any(|one| one == text)
    })
}

/// Whether a program that no table knows is only asked what it is: `frob --help`, `frob list --help`.
pub(crate) fn asks_unknown_for_help(args: &[Word]) -> bool {
    let Some((last, before)) = args.split_last() else { return false };
    match last.exact() {
        Some("--help" | "--version") => before.len() <= 2 && before.iter().all(is_sub_name),
        Some("-h" | "-V" | "-help" | "-version") => before.is_empty(),
        _ => false,
    }
}
