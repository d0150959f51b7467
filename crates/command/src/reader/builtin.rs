//! Shell builtins that set variables, options or traps.

use crate::effect::{OVERWRITE, READ, RUN, SERVICE, UNKNOWN, WRITE};
use crate::row::Row;
use crate::scope::{self, Value};
use crate::walk::Walk;
use crate::word::Word;

impl Walk {
    /// Judges a builtin by its name.
    pub(super) fn builtin(&mut self, row: &'static Row, name: &str, args: &[Word]) {
        match name {
            "set" => self.set(name, args),
            "shopt" | "setopt" | "unsetopt" => self.shopt(name, args),
            "export" | "declare" | "typeset" | "local" | "readonly" => self.declare(name, args),
            "unset" => {
                self.declare(name, args);
                for word in args {
                    self.functions.unset(word.likely());
                }
            }
            "jobs" if args.first().is_some_and(|word| word.text == "-x") => {
                let command = args[1..].to_vec();
                self.judge(&command, &["jobs -x".to_owned()]);
            }
            "wait" if args.iter().any(|word| word.text.starts_with("-p")) => {
                for word in args.iter().filter(|word| !word.starts_with("-")) {
                    let name = word.likely().to_owned();
                    self.assign(&name, Value::Any, None);
                }
                self.find(READ, name, name);
            }
            "dirs" | "popd" | "wait" | "jobs" | "ulimit" | "umask" | "exit" | "return"
            | "shift" | "break" | "continue" | "times" | "caller" | "logout"
                if args.iter().all(|word| {
                    word.literal
                        || !word.may_be_option
                        || word.text.starts_with("\"$")
                        || word.text.starts_with('$')
                }) =>
            {
                self.find(READ, name, name);
            }
            "read" | "mapfile" | "readarray" | "getopts" => self.read_variables(name, args),
            "printf" | "print" => self.printf(name, args),
            "let" => {
                for word in args {
                    match word.exact() {
                        Some(text) => self.arithmetic(text),
                        None => self.inexact("arithmetic on a value that may not be a number"),
                    }
                }
                self.find(READ, name, name);
            }
            // A name alone is shown.
            "alias"
                if args.iter().all(|word| {
                    word.exact().is_some_and(|text| !text.contains('=') && !text.starts_with('-'))
                }) =>
            {
                self.find(READ, name, name);
            }
            "alias" | "unalias" if args.iter().any(|word| !word.starts_with("-")) => {
                self.find(RUN, name, name);
            }
            "hash" if args.iter().any(|word| word.text != "-r") => self.find(UNKNOWN, name, name),
            "history" if args.iter().any(|word| !word.text.bytes().all(|b| b.is_ascii_digit())) => {
                let clears = args
                    .iter()
                    .any(|word| word.text.starts_with("-c") || word.text.starts_with("-d"));
                self.find(if clears { SERVICE } else { WRITE }, name, name);
            }
            "trap" => self.trap(name, args),
            "cd" | "pushd" if !self.enter(args) => {
                self.find(UNKNOWN, name, format!("{name} with an argument only known at run time"));
            }
            "cd" | "pushd" if args.iter().any(|word| self.is_secret(word.likely())) => {
                self.find(crate::effect::SECRET, name, format!("{name} to a directory of secrets"));
            }
            _ => self.plain(row, name, args),
        }
    }

    /// `cd`: what comes next is relative to where it goes. False if its arguments are no directory.
    fn enter(&mut self, args: &[Word]) -> bool {
        let mut operands = args
            .iter()
            .filter(|word| !matches!(word.text.as_str(), "-L" | "-P" | "-e" | "-n" | "--"));
        let to = operands.next().map_or("~", |word| word.likely()).to_owned();
        let more = operands.next().is_some();
        self.directory.enter(&to);
        !more
    }

    fn set(&mut self, name: &str, args: &[Word]) {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let known = match word.exact() {
                Some("--" | "-") => break,
                Some(
                    "-o" | "+o" | "-euo" | "-eo" | "-uo" | "-exo" | "-euxo" | "-eux" | "-Eeuo",
                ) => {
                    at += usize::from(word.text.ends_with('o'));
                    args.get(at).and_then(Word::exact).is_none_or(|option| {
                        option.starts_with('-')
                            || matches!(
                                option,
                                "pipefail"
                                    | "errexit"
                                    | "nounset"
                                    | "xtrace"
                                    | "noglob"
                                    | "verbose"
                                    | "noclobber"
                            )
                    })
                }
                Some(text) => {
                    text.starts_with(['-', '+'])
                        && text[1..].chars().all(|c| "euxvfCEbhm".contains(c))
                }
                None => false,
            };
            if !known {
                self.find(UNKNOWN, name, format!("{name} {}", word.text));
                return;
            }
            at += 1;
        }
        self.find(READ, name, name);
    }

    fn shopt(&mut self, name: &str, args: &[Word]) {
        let known = args.iter().all(|word| {
            word.exact().is_some_and(|text| {
                matches!(
                    text,
                    "-s" | "-u"
                        | "-p"
                        | "-q"
                        | "nullglob"
                        | "globstar"
                        | "dotglob"
                        | "nocaseglob"
                        | "failglob"
                        | "nocasematch"
                        | "lastpipe"
                        | "NULL_GLOB"
                        | "pipefail"
                        | "err_exit"
                )
            })
        });
        self.find(if known { READ } else { UNKNOWN }, name, name);
    }

    /// `export NAME`, `declare -a NAME`: the values have been read already.
    fn declare(&mut self, name: &str, args: &[Word]) {
        for word in args {
            let Some(text) = word.exact() else {
                self.find(UNKNOWN, name, format!("{name} of a name only known at run time"));
                return;
            };
            if text.starts_with(['-', '+']) {
                let allowed = if name == "unset" { "v" } else { "aArgxplut" };
                if !text[1..].chars().all(|c| allowed.contains(c)) {
                    // What is assigned may be evaluated.
                    self.hides_program = true;
                    self.find(UNKNOWN, name, format!("{name} {text}"));
                    return;
                }
            } else if !scope::is_name(text)
                || (name == "unset" && scope::changes_what_runs(text, None))
            {
                self.find(UNKNOWN, name, format!("{name} {text}"));
                return;
            }
        }
        self.find(READ, name, name);
    }

    /// Builtins that fill variables from input, also those that nobody names.
    fn read_variables(&mut self, name: &str, args: &[Word]) {
        let mut takes_value = false;
        let implicit: &[&str] = match name {
            "read" => &["REPLY"],
            "getopts" => &["OPTARG"],
            _ => &["MAPFILE"],
        };
        for variable in implicit {
            self.assign(variable, Value::Any, None);
        }
        // zsh has other letters for other options.
        if self.shell == crate::shell::Shell::Zsh && args.iter().any(|word| word.text.contains('['))
        {
            self.find(UNKNOWN, name, format!("{name} into an element"));
            return;
        }
        for (index, word) in args.iter().enumerate() {
            let Some(text) = word.exact() else {
                if takes_value {
                    takes_value = false;
                    continue;
                }
                self.find(UNKNOWN, name, format!("{name} into a name only known at run time"));
                return;
            };
            if takes_value {
                takes_value = false;
            } else if let Some(letters) = text.strip_prefix('-') {
                if name != "read" && letters.contains(['C', 'c']) {
                    self.find(RUN, name, format!("{name} -C"));
                    return;
                }
                if letters.contains('a') && name == "read" {
                    continue;
                }
                let last = letters.chars().last().unwrap_or(' ');
                takes_value = "dnNptusOC".contains(last)
                    && !(name != "read" && last == 't')
                    && !(name == "read" && last == 's');
            } else if name == "getopts" && index == 0 {
                // The first operand lists the options.
            } else if scope::is_name(text) {
                self.assign(text, Value::Any, None);
            } else {
                self.find(UNKNOWN, name, format!("{name} {text}"));
                return;
            }
        }
        self.find(READ, name, name);
    }

    fn printf(&mut self, name: &str, args: &[Word]) {
        let first = args.first();
        // Where numbers are printed, zsh and ksh evaluate the arguments.
        let evaluates = |word: &Word| word.text.contains('[') && word.text.contains(['$', '`']);
        if self.shell != crate::shell::Shell::Bash && args.iter().any(evaluates) {
            self.find(UNKNOWN, name, format!("{name} of an expression"));
            return;
        }
        if name == "print"
            && args.iter().any(|word| {
                word.starts_with("-") && word.text != "-r" && word.text != "-n" && word.text != "-l"
            })
        {
            self.find(UNKNOWN, name, name);
            return;
        }
        match first {
            Some(word) if word.literal && word.text.starts_with("-v") => {
                let target = if word.text == "-v" {
                    args.get(1).and_then(Word::exact)
                } else {
                    word.text.get(2..)
                };
                match target.filter(|target| scope::is_name(target)) {
                    Some(target) => {
                        let target = target.to_owned();
                        self.assign(&target, Value::Any, None);
                        self.find(READ, name, name);
                    }
                    None => self.find(UNKNOWN, name, "printf -v"),
                }
            }
            Some(word) if !word.literal && word.may_be_option && word.may_split => {
                self.find(UNKNOWN, name, "printf with a format only known at run time");
            }
            _ => self.find(READ, name, name),
        }
    }

    /// `trap 'TEXT' SIGNAL`.
    fn trap(&mut self, name: &str, args: &[Word]) {
        match args.first() {
            Some(word) if args.len() > 1 && !matches!(word.text.as_str(), "-" | "-p" | "-l") => {
                match word.exact() {
                    Some(text) => {
                        let text = text.to_owned();
                        self.depth += 1;
                        self.script(&text);
                        self.depth -= 1;
                        self.find(READ, name, name);
                    }
                    None => self.text_of(name, word, self.shell),
                }
            }
            _ => self.find(READ, name, name),
        }
    }

    /// `[` and `test`: `-v` and `-R` evaluate their operand.
    pub(super) fn test(&mut self, name: &str, args: &[Word]) {
        for pair in args.windows(2) {
            let evaluates = if pair[0].literal {
                matches!(pair[0].text.as_str(), "-v" | "-R")
            } else {
                // It could turn out to be one of them.
                pair[0].may_be_option && (!pair[1].literal || pair[1].text.contains('['))
            };
            if evaluates && !pair[1].exact().is_some_and(|text| scope::is_name(text) || text == "]")
            {
                self.find(UNKNOWN, name, format!("{name} -v"));
                return;
            }
        }
        let operands = args.iter().filter(|word| word.text != "]").count();
        if operands == 2 && args.first().is_some_and(|word| !word.literal) {
            self.find(UNKNOWN, name, format!("{name} with an operator only known at run time"));
            return;
        }
        self.find(READ, name, name);
    }

    /// The effect of writing that a builtin or program has by an option.
    pub(crate) fn writes(&mut self, name: &str, what: String, target: Option<&Word>) {
        match target {
            Some(word) if word.literal && crate::path::is_harmless_device(&word.text) => {
                self.find(READ, name, what);
            }
            Some(word) => {
                let does = self.danger_of_writing(word.likely()).unwrap_or(OVERWRITE);
                self.find_path(does, name, what, word);
            }
            None => self.find(OVERWRITE, name, what),
        }
    }
}
