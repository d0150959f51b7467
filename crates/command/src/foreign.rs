//! Shells that are not read with the POSIX grammar: Nushell, fish and PowerShell.
//!
//! Only plain pipelines of well-known commands are read. Everything else is unknown, after a look for
//! dangers.

use crate::effect::{DELETE, DESTROY, FETCH, READ, UNKNOWN, WRITE};
use crate::scan;
use crate::shell::Shell;
use crate::walk::Walk;
use crate::word::Word;

/// Nushell commands that only compute and print.
const NU: &str = "ls open get select where sort-by first last length describe columns reject skip take uniq uniq-by group-by reverse flatten transpose to from lines split str math echo print pwd ps sys which date version help is-empty is-not-empty wrap rename merge append prepend zip enumerate compact default table grid headers du nu-check scope ansi char seq range view url parse path join cd whoami uname bits bytes hash random glob detect inspect values move drop roll";

/// Cmdlets that only read. Aliases such as `ls` are programs where PowerShell is not at home.
const POWERSHELL: &str = "get-childitem get-content get-item get-location get-process get-service get-command get-help get-date get-member get-variable get-history get-alias get-module get-psdrive get-filehash get-acl test-path select-string select-object sort-object measure-object group-object format-table format-list out-string resolve-path split-path join-path compare-object convertto-json convertfrom-json convertfrom-csv convertto-csv write-output write-host";

/// Reads a text of one of these shells into a walk.
pub(crate) fn read_into(walk: &mut Walk, text: &str, shell: Shell) {
    let Some(pipelines) = plain_commands(text, shell) else {
        walk.inexact("only plain commands of this shell are read");
        walk.opaque.push(text.to_owned());
        scan::dangers(walk, text);
        return;
    };
    for pair in pipelines.windows(2) {
        walk.picks_secret_among(&pair[0], &pair[1]);
    }
    for words in pipelines {
        let argv: Vec<Word> = words.iter().map(Word::literal).collect();
        match shell {
            Shell::Nu => nu(walk, &words, &argv),
            Shell::PowerShell => powershell(walk, &words, &argv),
            _ if is_fish_keyword(&words[0]) => {
                walk.find(UNKNOWN, &words[0], words[0].clone());
                scan::dangers_in_arguments(walk, &argv);
            }
            _ => walk.judge(&argv, &[]),
        }
    }
}

fn is_fish_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for"
            | "while"
            | "switch"
            | "function"
            | "begin"
            | "end"
            | "not"
            | "and"
            | "or"
            | "set"
            | "source"
            | "eval"
            | "exec"
            | "builtin"
            | "command"
            | "alias"
            | "abbr"
            | "bind"
            | "complete"
            | "funced"
            | "funcsave"
            | "string"
            | "read"
            | "status"
            | "emit"
            | "trap"
            | "fish_config"
    )
}

fn nu(walk: &mut Walk, words: &[String], argv: &[Word]) {
    walk.commands.push(crate::reading::SimpleCommand { argv: argv.to_vec(), via: Vec::new() });
    let name = words[0].as_str();
    let does = match name {
        "rm" if words.iter().any(|w| {
            w.starts_with("-r") || w.starts_with("-f") || w.starts_with("-p") || w.starts_with("--")
        }) =>
        {
            DESTROY
        }
        "rm" => DELETE,
        "save" | "mkdir" | "touch" | "cp" | "mv" | "mktemp" => WRITE,
        "http" if words.get(1).is_some_and(|verb| verb == "get" || verb.contains("://")) => FETCH,
        _ if name.starts_with('^') => {
            let mut external = argv.to_vec();
            external[0] = Word::literal(name.trim_start_matches('^'));
            walk.judge(&external, &[]);
            return;
        }
        _ if NU.split_whitespace().any(|known| known == name) => {
            // A builtin of the same name as a program: with options it had better be harmless as both.
            let has_options = words.iter().any(|word| word.starts_with('-'));
            if name != "open"
                && crate::table::find(name).is_some()
                && (has_options || !is_called_like_builtin(words))
            {
                walk.judge(argv, &[]);
            }
            READ
        }
        // What is not built in is looked for on the path.
        _ => {
            walk.judge(argv, &[]);
            return;
        }
    };
    walk.find(does, name, name);
    for word in argv.iter().skip(1) {
        if crate::path::is_secret(&word.text) && matches!(name, "open" | "cp" | "mv") {
            walk.find(crate::effect::SECRET, name, format!("{name} {}", word.text));
        }
    }
}

/// Whether the arguments are those of the builtin, where a program of its name writes.
fn is_called_like_builtin(words: &[String]) -> bool {
    let second = words.get(1).map(String::as_str);
    match words[0].as_str() {
        "uniq" => second.is_none(),
        "zip" => words.len() == 2,
        "date" => second.is_none_or(|sub| sub.starts_with(|c: char| c.is_ascii_alphabetic())),
        "split" => second.is_some_and(|sub| {
            matches!(sub, "row" | "column" | "chars" | "words" | "list" | "cell-path")
        }),
        _ => true,
    }
}

fn powershell(walk: &mut Walk, words: &[String], argv: &[Word]) {
    walk.commands.push(crate::reading::SimpleCommand { argv: argv.to_vec(), via: Vec::new() });
    let name = words[0].to_ascii_lowercase();
    let does = match name.as_str() {
        "remove-item"
        | "ri"
        | "rm"
        | "del"
        | "erase"
        | "rd"
        | "rmdir"
        | "format-volume"
        | "clear-content"
        | "clear-disk"
        | "stop-computer"
        | "restart-computer"
        | "invoke-expression"
        | "iex"
        | "set-executionpolicy" => DESTROY,
        known if POWERSHELL.split_whitespace().any(|one| one == known) => READ,
        _ => UNKNOWN,
    };
    walk.find(does, &name, name.clone());
    if does == READ && words.iter().any(|word| crate::path::is_secret(word)) {
        walk.find(crate::effect::SECRET, &name, name.clone());
    }
}

/// The commands of a text that is nothing but plain words joined by pipes and `;`.
fn plain_commands(text: &str, shell: Shell) -> Option<Vec<Vec<String>>> {
    if text.len() > 4096 || text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return None;
    }
    let mut commands: Vec<Vec<String>> = vec![Vec::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => {}
            '|' | ';' | '\n' => {
                let doubled = matches!(chars.peek(), Some('|' | '&'));
                if doubled || (c == '|' && commands.last().is_none_or(Vec::is_empty)) {
                    return None;
                }
                commands.push(Vec::new());
            }
            // Comparison in a filter; elsewhere it could be a redirection.
            '<' | '>'
                if shell == Shell::Nu
                    && commands
                        .last()
                        .is_some_and(|words| words.first().is_some_and(|word| word == "where")) =>
            {
                let equal = chars.next_if_eq(&'=').is_some();
                if chars.peek() != Some(&' ') {
                    return None;
                }
                commands.last_mut()?.push(if equal { format!("{c}=") } else { c.to_string() });
            }
            '\'' | '"' => {
                let mut word = String::new();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' | '$' | '`' | '\n' if c == '"' || shell == Shell::Fish => return None,
                        other => word.push(other),
                    }
                }
                if chars.peek().is_some_and(|next| !next.is_whitespace() && !"|;".contains(*next)) {
                    return None;
                }
                commands.last_mut()?.push(word);
            }
            _ if is_plain(c, shell) => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|next| is_plain(*next, shell)) {
                    word.push(next);
                }
                if chars.peek().is_some_and(|next| !next.is_whitespace() && !"|;".contains(*next)) {
                    return None;
                }
                commands.last_mut()?.push(word);
            }
            _ => return None,
        }
    }
    commands.retain(|words| !words.is_empty());
    (!commands.is_empty()).then_some(commands)
}

fn is_plain(c: char, shell: Shell) -> bool {
    let comparison = shell == Shell::Nu && matches!(c, '=' | '^');
    comparison
        || c.is_alphanumeric()
        || "-_./:%+,=".contains(c)
        || (c == '@' && shell != Shell::PowerShell)
        || (c == '~' && shell != Shell::PowerShell)
}
