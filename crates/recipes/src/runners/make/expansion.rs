//! What make runs while it reads its file, before any target: `$(shell …)`, `!=`, and whatever
//! writes rules of its own. Make runs it even when it is only asked what it would do.

use crate::task::{Language, Script};

/// Functions that only compute, whatever they are given.
const PURE: [&str; 34] = [
    "abspath",
    "addprefix",
    "addsuffix",
    "and",
    "basename",
    "dir",
    "error",
    "filter",
    "filter-out",
    "findstring",
    "firstword",
    "flavor",
    "foreach",
    "if",
    "info",
    "intcmp",
    "join",
    "lastword",
    "let",
    "notdir",
    "or",
    "origin",
    "patsubst",
    "realpath",
    "sort",
    "strip",
    "subst",
    "suffix",
    "value",
    "warning",
    "wildcard",
    "word",
    "wordlist",
    "words",
];

/// Functions that do something.
const ACTIVE: [&str; 4] = ["shell", "eval", "file", "guile"];

/// Targets that change how all recipes run.
pub(super) const SPECIAL: [&str; 2] = [".ONESHELL", ".EXPORT_ALL_VARIABLES"];

/// Longer lists of commands than this tell no more.
const MOST_COMMANDS: usize = 50;

/// The commands of a line, and what in it cannot be read.
pub(super) fn commands(line: &str) -> Vec<Script> {
    let mut found = Vec::new();
    if let Some((_, command)) = line.split_once("!=").filter(|(name, _)| !name.contains('=')) {
        found.push(Script::new(Language::Make, command.trim()));
    }
    let mut rest = line;
    while let Some(at) = rest.find('$') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            rest = after;
            continue;
        }
        let Some(inner) = rest.strip_prefix(['(', '{']) else { continue };
        let name = &inner[..inner.find(|c: char| !is_letter(c)).unwrap_or(inner.len())];
        let arguments = &inner[name.len()..];
        rest = inner;
        if !arguments.starts_with([' ', '\t']) || PURE.contains(&name) {
            continue;
        }
        if found.len() >= MOST_COMMANDS {
            found.push(Script::new(Language::Other, "and more"));
            return found;
        }
        match name {
            "shell" => found.push(Script::new(Language::Make, whole(arguments).trim())),
            "call" => {
                let called = arguments.trim_start().split([',', ')', '}']).next();
                let called = called.unwrap_or_default().trim();
                if called.contains('$') || ACTIVE.contains(&called) {
                    found.push(Script::new(Language::Other, whole(inner)));
                }
            }
            name if ACTIVE.contains(&name) => {
                found.push(Script::new(Language::Other, whole(inner)));
            }
            _ => {}
        }
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase() || c == '-'
}

/// The text up to the bracket that ends it.
fn whole(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' if depth == 0 => return &text[..at],
            ')' | '}' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// Whether a line that is no rule and no assignment leaves nothing behind: it only says something.
pub(super) fn is_silent(line: &str) -> bool {
    ["info", "warning", "error"].iter().any(|name| {
        let said = line.strip_prefix("$(").and_then(|rest| rest.strip_prefix(name));
        said.is_some_and(|rest| {
            rest.starts_with([' ', '\t']) && whole(rest).len() + 1 == rest.trim_end().len()
        })
    })
}

/// Whether a variable decides which programs recipes find or which shell reads them.
pub(super) fn steers(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "PATH",
        "SHELL",
        ".SHELLFLAGS",
        "MAKESHELL",
        "MAKEFLAGS",
        "GNUMAKEFLAGS",
        "MAKEFILES",
        "BASH_ENV",
        "ENV",
        "IFS",
        ".RECIPEPREFIX",
    ];
    NAMES.contains(&name) || name.starts_with("LD_") || name.contains('$')
}
