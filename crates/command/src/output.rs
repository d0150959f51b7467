//! What is known about the output of a command in a substitution.
//!
//! `sort $(git rev-parse HEAD)` only reads, because a hash is no option; `sort $(ls)` may do anything a
//! file's name says. Only single pipelines of plain words are read, and of those only the last program
//! counts, with options that leave the shape of its output alone.

use crate::scope::Value;

/// What a script prints, as a value.
pub(crate) fn value(script: &str) -> Value {
    let script = script.trim().trim_end_matches("2>/dev/null").trim_end();
    let is_list = script.contains([';', '&', '\n']) || script.contains("||");
    let last = script.rsplit('|').next().unwrap_or("").trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || " -_./@^~{}:=+%,<".contains(c);
    if is_list || !last.chars().all(plain) {
        return Value::Any;
    }
    let words: Vec<&str> = last.split_whitespace().collect();
    let Some((program, args)) = words.split_first() else { return Value::Any };
    of_program(program, args)
}

/// The program that prints what a script prints.
pub(crate) fn last_program(script: &str) -> &str {
    let last = script.rsplit(['|', ';', '&', '\n']).next().unwrap_or("");
    last.split_whitespace().next().unwrap_or("")
}

/// Whether all options are among these, or numbers as in `-3`.
fn only(args: &[&str], options: &str) -> bool {
    args.iter().filter_map(|word| word.strip_prefix('-')).all(|rest| {
        let name = rest.split('=').next().unwrap_or(rest);
        is_number(rest) || options.split(' ').any(|one| one.strip_prefix('-') == Some(name))
    })
}

fn of_program(program: &str, args: &[&str]) -> Value {
    let only = |options: &str| only(args, options);
    let no_options = || args.iter().all(|word| !word.starts_with('-'));
    match program {
        "nproc" if args.is_empty() => Value::Number,
        "wc" if is_one_count(args) => Value::Number,
        "grep" if args.first() == Some(&"-c") && args.len() <= 3 => Value::Number,
        "stat" if args.len() == 2 && matches!(args[0], "-c%s" | "-f%z") => Value::Number,
        "stat" if args.len() == 3 && matches!(args[..2], ["-c", "%s"] | ["-f", "%z"]) => {
            Value::Number
        }
        "expr" if args.iter().all(|word| is_term(word)) => Value::Number,
        "seq" if args.iter().all(|word| is_number(word)) => Value::Number,
        "date" if args.last().is_none_or(|format| is_date(format)) => match args.last() {
            Some(&("+%s" | "+%Y" | "+%s%N")) => Value::Number,
            _ => Value::Name,
        },
        "git" => git(args),
        "hostname" | "whoami" | "arch" if args.is_empty() => Value::Name,
        "uname" if only("-s -m -r -n -o -p") => Value::Name,
        "id" if only("-u -g -n -un -gn") => Value::Name,
        // Paths do not begin with a dash, and may have blanks in them.
        "pwd" | "which" | "realpath" if no_options() => Value::Tame,
        "mktemp" if only("-d") && args.len() <= 1 => Value::Tame,
        "readlink" if args.first().is_some_and(|first| matches!(*first, "-f" | "-e" | "-m")) => {
            Value::Tame
        }
        "command" if args.first() == Some(&"-v") => Value::Tame,
        "find" if prints_paths(args) => Value::Tame,
        "ls" if args.first() == Some(&"-d")
            && args[1..].iter().all(|word| !word.starts_with('-')) =>
        {
            Value::Tame
        }
        _ => Value::Any,
    }
}

fn git(args: &[&str]) -> Value {
    const REV_PARSE: &str = "--short --verify --abbrev-ref --show-toplevel --git-dir --git-common-dir --absolute-git-dir -q --quiet --symbolic-full-name --show-prefix --is-inside-work-tree";
    const REV_LIST: &str =
        "-n --max-count --all --reverse --first-parent --no-merges --merges --max-parents";
    const DESCRIBE: &str = "--tags --always --abbrev --dirty --long --exact-match --contains --all";
    let Some((sub, rest)) = args.split_first() else { return Value::Any };
    let known = |options: &str| only(rest, options);
    let hashes = rest
        .iter()
        .any(|word| matches!(*word, "--format=%h" | "--format=%H" | "--pretty=%h" | "--pretty=%H"));
    match *sub {
        "rev-list" if rest.first() == Some(&"--count") && known(&format!("{REV_LIST} --count")) => {
            Value::Number
        }
        "rev-parse" if known(REV_PARSE) => Value::Name,
        "rev-list" if known(REV_LIST) => Value::Name,
        "describe" if known(DESCRIBE) => Value::Name,
        "merge-base" if known("--all --octopus --fork-point") => Value::Name,
        "symbolic-ref" if known("--short -q --quiet") => Value::Name,
        "branch" if rest == ["--show-current"] => Value::Name,
        "log"
            if hashes
                && known(&format!("{REV_LIST} --format --pretty --since --until --author")) =>
        {
            Value::Name
        }
        _ => Value::Any,
    }
}

/// Counts of one stream are one number; counts of several files come with names.
fn is_one_count(args: &[&str]) -> bool {
    let options =
        args.iter().take_while(|word| matches!(**word, "-l" | "-c" | "-w" | "-m")).count();
    options == 1 && matches!(&args[1..], [] | ["<", _] | [_]) && {
        args.get(1).is_none_or(|word| word.starts_with('<'))
    }
}

/// A number or an operator on numbers.
fn is_term(word: &str) -> bool {
    is_number(word) || matches!(word, "+" | "-" | "/" | "%")
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit())
}

/// A format that begins with a field, not with text.
fn is_date(word: &str) -> bool {
    word.starts_with("+%") || word == "-u" || word.starts_with("-I")
}

/// Whether find prints what it finds, and nothing else.
fn prints_paths(args: &[&str]) -> bool {
    let begins = args.first().is_some_and(|first| {
        first.starts_with(['.', '/']) || first.starts_with(|c: char| c.is_ascii_alphanumeric())
    });
    let actions = ["-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir", "-fprintf"];
    begins && !args.iter().any(|word| actions.contains(word))
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::scope::Value;

    #[test]
    fn outputs_whose_shape_is_known() {
        assert_eq!(value("wc -l < file"), Value::Number);
        assert_eq!(value("cat x | wc -l"), Value::Number);
        assert_eq!(value("date +%s"), Value::Number);
        assert_eq!(value("git rev-parse --short HEAD"), Value::Name);
        assert_eq!(value("git rev-parse HEAD 2>/dev/null"), Value::Name);
        assert_eq!(value("date +%Y-%m-%d"), Value::Name);
        assert_eq!(value("pwd"), Value::Tame);
        assert_eq!(value("find . -name x.rs"), Value::Tame);
    }

    #[test]
    fn outputs_that_may_be_anything() {
        for script in [
            "echo -oout",
            "echo -oout; pwd",
            "echo -oout && git rev-parse HEAD",
            "git rev-parse HEAD || echo -oout",
            "git rev-parse --output=x",
            "git rev-parse --sq-quote -oout",
            "git log --format=%h%x20-oout",
            "git log --format=%h' -oout'",
            "git rev-list --format=-o%h HEAD",
            "date '+-oout'",
            "date +-oout",
            "seq -f -oout 1",
            "realpath --relative-to=. -- -oout",
            "readlink x",
            "find . -printf -oout",
            "find -name x",
            "ls dir/",
            "ls",
            "expr a : b",
            "expr substr x 1 2",
            "wc -l a < b",
            "wc -l a b",
            "grep -c x a b",
            "stat -c%s,%n x",
            "stat -c%n x",
            "mktemp -u -- -oXXXX",
            "cat x",
        ] {
            assert_eq!(value(script), Value::Any, "{script}");
        }
    }
}
