//! Secrets that a command shows although none of its operands is one.
//!
//! A text tool can be told a file in an option (`grep -f`), a little language can open one by itself
//! (`awk 'BEGIN { ARGV[1] = … }'`), a disk or the memory holds everything that is on the machine, and
//! some programs print what they keep when an option asks them to.

use crate::hash::HashSet;
use std::sync::LazyLock;

use brush_parser::ast;

use crate::effect::{Does, SECRET};
use crate::path;
use crate::walk::Walk;
use crate::word::Word;

const SHOWS_ALL: Does =
    Does { phrase: "shows what a disk or the memory holds, secrets among it", ..SECRET };

/// Programs that print what is in the files they are told, or parts of it in their messages.
const TEXT_TOOLS: &str = "cat tac head tail less more bat batcat nl base64 base32 basenc xxd od hexdump hd strings grep egrep fgrep rg ag ack ugrep zgrep sed gsed awk gawk mawk nawk cut tr fold fmt cmp diff sdiff diff3 colordiff comm sort uniq wc du file date xargs gxargs jq yq column paste join split look tsort pr expand unexpand rev git";

static PRINTS_FILES: LazyLock<HashSet<&str>> = LazyLock::new(|| TEXT_TOOLS.split(' ').collect());

/// Options of such programs that name a file to read.
const FILE_OPTIONS: &str = "-f --file --from-file --to-file --files0-from --files-from --arg-file --input --input-file --rawfile --slurpfile --contents --head-file";

/// Programs whose arguments are programs that can open files.
static LANGUAGES: LazyLock<HashSet<&str>> = LazyLock::new(|| LANGUAGE_NAMES.split(' ').collect());
const LANGUAGE_NAMES: &str = "awk gawk mawk nawk jq gojq jaq duckdb sqlite3 clickhouse clickhouse-client clickhouse-local trdsql textql q mlr";

/// Clients of databases.
static DATABASES: LazyLock<HashSet<&str>> = LazyLock::new(|| DATABASE_NAMES.split(' ').collect());
const DATABASE_NAMES: &str =
    "psql pgcli usql mysql mariadb mycli cockroach sqlcmd clickhouse-client mysqlsh";

/// Options that ask for what is hidden otherwise.
const REVEALS: &str = "--show-secrets --show-secret --reveal --with-decryption --show-token --show-tokens --show-password --show-passwords --show-credentials --show-sensitive --unmask --unmasked";

/// What it costs to look at a path.
const STEPS_FOR_A_PATH: usize = 64;

fn among(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word)
}

impl Walk {
    /// Judges what a command shows beyond its operands.
    pub(crate) fn discloses(&mut self, name: &str, argv: &[Word]) {
        let rest = argv.get(1..).unwrap_or(&[]);
        self.secret_variables(name, argv);
        if PRINTS_FILES.contains(name) {
            self.secret_files_in_options(name, rest);
        }
        if LANGUAGES.contains(name) {
            self.secret_files_in_programs(name, rest);
        }
        if DATABASES.contains(name)
            && let Some(word) = rest.iter().find(|word| selects_passwords(word.likely()))
        {
            self.find(SECRET, name, format!("{name} {}", word.text));
        }
        if name == "ps" && shows_environments(rest) {
            self.find(SECRET, name, "ps e");
        }
        let reveals = |word: &&Word| {
            let (option, value) = word.text.split_once('=').unwrap_or((&word.text, "true"));
            option.starts_with("--") && among(REVEALS, option) && value != "false"
        };
        if !matches!(name, "echo" | "printf" | "grep" | "rg")
            && let Some(word) = rest.iter().find(reveals)
        {
            self.find(SECRET, name, format!("{name} {}", word.text));
        }
    }

    /// A file that a command opens is a disk or the memory, and the command prints what it reads.
    pub(crate) fn opens_everything(&mut self, name: &str, word: &Word) {
        // These say something about a file without printing it.
        let prints = !matches!(name, "file" | "wc" | "du" | "date" | "git" | "xargs");
        if prints && PRINTS_FILES.contains(name) && path::holds_everything(word.likely()) {
            self.find(SHOWS_ALL, name, format!("{name} {}", word.text));
        }
    }

    /// Arguments that would show a secret variable.
    fn secret_variables(&mut self, name: &str, argv: &[Word]) {
        let only_tested =
            matches!(name, "[" | "test" | ":" | "true" | "export" | "declare" | "local" | "unset");
        let prints = |word: &Word| name == "printenv" && path::is_secret_name(word.likely());
        if !only_tested && argv.iter().any(|word| word.shows_secret || prints(word)) {
            self.find(SECRET, name, format!("{name} $…"));
        }
    }

    /// `env | grep TOKEN`: of all variables those that are secrets.
    pub(crate) fn picks_secret_variable(&mut self, lists: &ast::Command, picks: &ast::Command) {
        if let (Some(lists), Some(picks)) = (plain_words(lists), plain_words(picks)) {
            self.picks_secret_among(&lists, &picks);
        }
    }

    /// The same for words that are known already.
    pub(crate) fn picks_secret_among(&mut self, lists: &[String], picks: &[String]) {
        const LISTS: &str = "env printenv set export declare typeset";
        const PICKS: &str = "grep egrep fgrep rg ag ack awk gawk sed";
        let all = matches!(lists, [name, rest @ ..]
            if among(LISTS, name) && rest.iter().all(|word| word == "-p"));
        let some = matches!(picks, [name, rest @ ..]
            if among(PICKS, name) && rest.iter().any(|word| path::is_secret_name(word)));
        if all && some {
            self.find(SECRET, &lists[0], format!("{} | {}", lists[0], picks.join(" ")));
        }
    }

    /// `grep -f FILE`, `-fFILE`, `--file=FILE`.
    fn secret_files_in_options(&mut self, name: &str, args: &[Word]) {
        // Of git only these two commands print what they are told so.
        let subs = |word: &Word| matches!(word.text.as_str(), "config" | "grep" | "blame");
        if name == "git" && !args.iter().any(subs) {
            return;
        }
        let names_file = |option: &str| {
            among(FILE_OPTIONS, option) || option == "-a" && matches!(name, "xargs" | "gxargs")
        };
        for (at, word) in args.iter().enumerate() {
            let text = word.likely();
            let value = if let Some((option, value)) =
                text.split_once('=').filter(|_| text.starts_with("--"))
            {
                Some(value).filter(|_| names_file(option))
            } else if text.starts_with('-') && !text.starts_with("--") {
                text.find(['/', '~']).filter(|at| *at > 1).map(|at| &text[at..])
            } else {
                let before = at.checked_sub(1).and_then(|at| args.get(at));
                Some(text).filter(|_| before.is_some_and(|word| names_file(&word.text)))
            };
            let Some(value) = value else { continue };
            if !self.charge(STEPS_FOR_A_PATH) {
                return;
            }
            if self.is_secret(value) {
                self.find(SECRET, name, format!("{name} {}", word.text));
            }
        }
    }

    /// A file that is named in quotes by the text of a program.
    fn secret_files_in_programs(&mut self, name: &str, args: &[Word]) {
        for word in args {
            // The database itself is named without quotes.
            if matches!(name, "sqlite3" | "duckdb") && self.is_secret(word.likely()) {
                self.find(SECRET, name, format!("{name} {}", word.text));
            }
            let quoted = word.likely().split(['"', '\'']).skip(1).step_by(2);
            let files = quoted.filter(|text| text.contains('/') && !text.contains('\n'));
            for file in files {
                if !self.charge(2 * STEPS_FOR_A_PATH) {
                    return;
                }
                // jq adds an ending to what it imports.
                if self.is_secret(file) || self.is_secret(&format!("{file}.json")) {
                    self.find(SECRET, name, format!("{name} {}", word.text));
                    break;
                }
            }
        }
    }
}

/// The words of a simple command as they are written.
fn plain_words(command: &ast::Command) -> Option<Vec<String>> {
    let ast::Command::Simple(simple) = command else { return None };
    let name = simple.word_or_name.as_ref()?.value.clone();
    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    let words = suffix.filter_map(|item| match item {
        ast::CommandPrefixOrSuffixItem::Word(word) => Some(word.value.clone()),
        _ => None,
    });
    Some(std::iter::once(name).chain(words).collect())
}

/// Whether a statement asks a database for the passwords of its users.
fn selects_passwords(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["pg_shadow", "pg_authid", "rolpassword", "authentication_string"]
        .iter()
        .any(|name| lower.contains(name))
        || lower.contains("mysql.user") && (lower.contains('*') || lower.contains("password"))
}

/// Whether `ps` is asked in the old way (letters without a dash) to add the environment of each process.
fn shows_environments(args: &[Word]) -> bool {
    let is_letters =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    args.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| args[at].text.as_str());
        // The word after an option may be its value.
        let is_value =
            before.starts_with('-') || is_letters(before) && before.ends_with(['o', 'O', 'U', 'k']);
        is_letters(&word.text) && word.text.contains('e') && !is_value
    })
}

#[cfg(test)]
mod tests {
    use super::selects_passwords;

    #[test]
    fn who_a_user_is_is_no_password() {
        assert!(selects_passwords("SELECT * FROM pg_shadow"));
        assert!(selects_passwords("select * from mysql.user"));
        assert!(!selects_passwords("select user, host from mysql.user"));
    }
}
