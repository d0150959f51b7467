//! Commands that only ask a program what it is.

use crate::argv;
use crate::row::{Reader, Row};
use crate::table;
use crate::word::{Expansion, Word};

/// Programs to which a letter that means help elsewhere means something else.
const OTHERWISE: &str = "shutdown halt poweroff reboot init telinit systemctl-halt service rc-service kill yes source .";

/// Programs that load code or settings of the project before they look at their arguments, so that also
/// their help is not only theirs: `pytest --help` imports `conftest.py`, `rails` starts `bin/rails`.
const LOADS_PROJECT: &str = "pytest py.test rails mix grunt tox scrapy hardhat wp drush doit nox";

/// Builtins that print their help, or refuse the option, in every shell.
const BUILTINS_WITH_HELP: &str = "alias bg bind compgen complete compopt declare dirs disown enable export fc fg getopts hash history jobs local mapfile popd pushd read readarray readonly set shift shopt suspend times trap type typeset ulimit umask unalias unset wait";

/// Whether a known program is only asked what it is. Builtins would take the words as operands.
pub(crate) fn asks_for_help(row: &Row, name: &str, args: &[Word]) -> bool {
    let builtin = row.reader == Reader::Builtin || row.names.contains("|.|");
    if let [word] = args
        && word.exact() == Some("--help")
        && among(BUILTINS_WITH_HELP, name)
    {
        return true;
    }
    let is_asked = !builtin && asks_row_for_help(row, name, args);
    is_asked && (!among(LOADS_PROJECT, name) || prints_version(name, args))
}

fn asks_row_for_help(row: &Row, name: &str, args: &[Word]) -> bool {
    let Some((last, before)) = args.split_last() else { return false };
    let alone = before.is_empty();
    let sub_names = || row.subs && before.iter().all(is_sub_name);
    match last.exact() {
        Some("--version" | "--help" | "--help-cmd") => alone || sub_names(),
        Some("--help-all" | "--help-long" | "--long-help" | "--fullhelp" | "--full-help") => alone,
        // A letter counts where the program does not take it for something else.
        Some(letter @ ("-h" | "-?" | "-V" | "-help" | "-version" | "-\\?" | "--usage")) => {
            let plain = !among(OTHERWISE, name) && !takes_otherwise(row, letter);
            let meant = letter != "-V" && sub_names() && !sub_takes(name, before, letter);
            plain && (alone && row.reader != Reader::Echo || meant)
        }
        None => alone && is_question(last) && !takes_otherwise(row, "-?"),
        Some("help") => {
            row.subs && (alone || (name.starts_with("aws") && before.iter().all(is_sub_name)))
        }
        Some("version") if alone => {
            row.subs
                && row.other.is_none_or(|it| it.risk == crate::risk::Risk::Unknown)
                && !has_row(name, "version")
        }
        _ => {
            args.first().and_then(Word::exact) == Some("help")
                && row.subs
                && !has_row(name, "help")
                && args.iter().all(is_sub_name)
        }
    }
}

/// What prints its version before it loads anything.
fn prints_version(name: &str, args: &[Word]) -> bool {
    let asks = matches!(args, [word] if matches!(word.exact(), Some("--version" | "-V")));
    asks && matches!(name, "pytest" | "py.test" | "nox" | "mix")
}

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

fn has_row(name: &str, sub: &str) -> bool {
    table::find(&format!("{name} {sub}")).is_some()
}

/// Whether the row knows an option, and so says itself what it does.
fn takes_otherwise(row: &Row, option: &str) -> bool {
    let ruled = |(list, _): &(&str, _)| list.split_ascii_whitespace().any(|one| one == option);
    argv::takes(row, option).is_some() || row.rules.iter().any(ruled)
}

/// Whether the row of the sub-commands takes the option for something else.
fn sub_takes(name: &str, before: &[Word], option: &str) -> bool {
    let mut full = name.to_owned();
    before.iter().any(|word| {
        full = format!("{full} {}", word.text);
        table::find(&full).is_some_and(|row| takes_otherwise(row, option))
    })
}

/// `-?` as everybody writes it: to the shell a pattern, that stays what it is where nothing has such a
/// name.
fn is_question(word: &Word) -> bool {
    word.text == "-?" && word.expansions.iter().all(|it| *it == Expansion::Glob)
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
            && !among(RUNS_OTHERS, text)
    })
}

/// Whether a program that no table knows is only asked what it is: `frob --help`, `frob list --help`.
pub(crate) fn asks_unknown_for_help(name: &str, args: &[Word]) -> bool {
    if among(LOADS_PROJECT, name) {
        return false;
    }
    let Some((last, before)) = args.split_last() else { return false };
    match last.exact() {
        Some("--help" | "--version") => before.len() <= 2 && before.iter().all(is_sub_name),
        Some(
            "-h" | "-V" | "-help" | "-version" | "-?" | "--help-all" | "--help-long"
            | "--long-help" | "--fullhelp" | "--usage",
        ) => before.is_empty(),
        None => before.is_empty() && is_question(last),
        // `frob help`, `frob help list`: the name of a sub-command whose help is asked for.
        Some(_) => {
            args.len() <= 3
                && args.first().and_then(Word::exact) == Some("help")
                && args.iter().all(is_sub_name)
        }
    }
}
