//! Options and operands of an argument list, by a row of the tables.

use crate::effect::Does;
use crate::risk::Risk;
use crate::row::Row;
use crate::scope;
use crate::word::Word;
use crate::wrapper::{Inner, Wrapper};

/// An argument list taken apart.
pub(crate) struct Options<'a> {
    /// Options as written: `-o` for each letter of a bundle, long ones without their value.
    given: Vec<String>,
    pub(crate) operands: Vec<&'a Word>,
    /// What stood where the value of an option is expected.
    pub(crate) values: Vec<&'a Word>,
    /// An argument that could turn out to be an option stood where an option is possible.
    hidden: bool,
    splits: bool,
}

fn listed(list: &str, option: &str) -> bool {
    list.split_whitespace().any(|one| one == option)
}

impl<'a> Options<'a> {
    pub(crate) fn of(row: &Row, args: &'a [Word]) -> Self {
        let mut this = Self {
            given: Vec::new(),
            operands: Vec::new(),
            values: Vec::new(),
            hidden: false,
            splits: false,
        };
        let mut takes_value = false;
        let mut only_operands = false;
        for word in args {
            let text = word.text.as_str();
            let known_option = word.literal || (text.starts_with("--") && text.contains('='));
            if known_option && text.starts_with('-') && text.len() > 1 && text != "--" {
                // Even where a value is expected, what looks like an option counts as one.
                let wants = this.option(row, text);
                let value = takes_value;
                takes_value = wants && !value;
                if only_operands && !value {
                    this.operands.push(word);
                }
            } else if text == "--" && word.literal {
                takes_value = false;
                only_operands = true;
                this.given.push("--".to_owned());
            } else if takes_value {
                takes_value = false;
                this.values.push(word);
                this.splits |= word.may_split && word.may_be_option;
                this.hidden |= word.may_split && word.may_be_option;
            } else {
                this.hidden |= word.may_be_option && !only_operands;
                this.splits |= word.may_split;
                this.operands.push(word);
                if word.literal && text.starts_with('+') {
                    this.given.push(text.chars().take(2).collect());
                }
            }
        }
        this
    }

    /// Records one option word; says whether the next word is its value.
    fn option(&mut self, row: &Row, text: &str) -> bool {
        let mut name = text.split('=').next().unwrap_or(text);
        // Programs with one dash take two just as well.
        if row.single_dash && name.starts_with("--") {
            name = &name[1..];
        }
        let whole = text.starts_with("--") || row.single_dash || is_listed_whole(row, name);
        if whole {
            self.given.push(name.to_owned());
            return listed(row.valued, name) && !text.contains('=');
        }
        for (at, letter) in text[1..].char_indices() {
            let option = format!("-{letter}");
            let valued = listed(row.valued, &option);
            self.given.push(option);
            if valued {
                return text[1..].len() == at + letter.len_utf8();
            }
        }
        false
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.given.iter().any(|one| one == option)
    }

    /// How many operands there may be.
    pub(crate) fn count(&self) -> usize {
        if self.splits { usize::MAX } else { self.operands.len() }
    }

    pub(crate) fn may_hide_option(&self) -> bool {
        self.hidden
    }

    /// The rules that apply. Long options may be abbreviated, so any prefix counts.
    pub(crate) fn rules(&self, row: &Row) -> Vec<(String, Does)> {
        let mut applied = Vec::new();
        for (list, does) in row.rules {
            for option in &self.given {
                let hit = list.split_whitespace().any(|bad| {
                    bad == option || (does.risk > Risk::ReadOnly && abbreviates(option, bad))
                });
                if hit {
                    applied.push((option.clone(), *does));
                }
            }
        }
        applied
    }

    /// The harmless meaning the program has with its options: the first of a rule's options must be
    /// there, and nothing but that rule's options.
    pub(crate) fn softening(&self, row: &Row) -> Option<Does> {
        row.rules
            .iter()
            .filter(|(_, does)| does.risk == Risk::ReadOnly)
            .find(|(list, _)| {
                list.split_whitespace().next().is_some_and(|first| self.has(first))
                    && self
                        .given
                        .iter()
                        .all(|option| option == "--" || is_digit(option) || listed(list, option))
                    && !self.hidden
            })
            .map(|(_, does)| *does)
    }

    /// The first option that no list of the row names.
    pub(crate) fn outside(&self, row: &Row, only: &str) -> Option<&str> {
        self.given
            .iter()
            .find(|option| {
                !is_digit(option)
                    && *option != "--"
                    && !listed(only, option)
                    && !listed(row.valued, option)
                    && !row.rules.iter().any(|(list, _)| listed(list, option))
            })
            .map(String::as_str)
    }
}

/// Whether an option word is in the row as a whole (`-delete`, `-it`), not as a bundle of letters.
fn is_listed_whole(row: &Row, name: &str) -> bool {
    name.len() > 2
        && (listed(row.valued, name)
            || row.only.is_some_and(|only| listed(only, name))
            || row.rules.iter().any(|(list, _)| listed(list, name)))
}

/// `-5`: a number, not a letter.
fn is_digit(option: &str) -> bool {
    option.len() == 2 && option.as_bytes()[1].is_ascii_digit()
}

/// Whether a long option could be short for another.
fn abbreviates(option: &str, full: &str) -> bool {
    option.len() > 2 && option.starts_with("--") && full.starts_with(option)
}

/// Where the first operand is: the sub-command.
pub(crate) fn first_operand(row: &Row, args: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if !word.literal || !text.starts_with('-') || text == "-" {
            return Some(at);
        }
        let name = text.split('=').next().unwrap_or(text);
        let valued = listed(row.valued, name) && !text.contains('=');
        at += if valued { 2 } else { 1 };
    }
    None
}

/// What a wrapper runs.
pub(crate) struct Inside<'a> {
    pub(crate) rest: &'a [Word],
    pub(crate) assignments: Vec<(String, Option<String>)>,
    pub(crate) skipped: Vec<&'a Word>,
    /// An option says that nothing is run.
    pub(crate) nothing: bool,
    /// And it only prints.
    pub(crate) harmless: bool,
    values: Vec<(String, String)>,
}

impl Inside<'_> {
    /// The value of the first of the options that was given.
    pub(crate) fn value_of(&self, options: &[&str]) -> Option<&str> {
        self.values
            .iter()
            .find(|(option, _)| options.contains(&option.as_str()))
            .map(|(_, value)| value.as_str())
    }
}

/// Takes a wrapper's own arguments off. Fails with the option it does not know.
pub(crate) fn unwrap<'a>(wrapper: &Wrapper, args: &'a [Word]) -> Result<Inside<'a>, String> {
    let mut inside = Inside {
        rest: &[],
        assignments: Vec::new(),
        skipped: Vec::new(),
        nothing: false,
        harmless: false,
        values: Vec::new(),
    };
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_str();
        if !word.literal && word.may_be_option && wrapper.names != "eval" {
            return Err(text.to_owned());
        }
        if wrapper.inner == Inner::DashC && matches!(text, "-c" | "--command") {
            break;
        }
        if wrapper.assigns && is_assignment(text) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            inside.assignments.push((name.to_owned(), word.literal.then(|| value.to_owned())));
            at += 1;
        } else if text == "--" {
            at += 1;
            if inside.skipped.len() >= wrapper.skip {
                break;
            }
        } else if text.starts_with('-') && (text.len() > 1 || listed(wrapper.flags, "-")) {
            at += wrapper_option(wrapper, args, at, &mut inside)?;
        } else if inside.skipped.len() < wrapper.skip {
            inside.skipped.push(word);
            at += 1;
        } else {
            break;
        }
    }
    inside.rest = args.get(at..).unwrap_or(&[]);
    Ok(inside)
}

/// One option of a wrapper; how many words it takes.
fn wrapper_option(
    wrapper: &Wrapper,
    args: &[Word],
    at: usize,
    inside: &mut Inside<'_>,
) -> Result<usize, String> {
    let text = args[at].text.as_str();
    let name = text.split('=').next().unwrap_or(text);
    if listed(wrapper.instead, name) {
        inside.nothing = true;
        inside.harmless = matches!(name, "--version" | "--help" | "-V" | "-v" | "--list");
        return Ok(args.len() - at);
    }
    if listed(wrapper.flags, name) {
        return Ok(1);
    }
    if listed(wrapper.valued, name) {
        let value = text.split_once('=').map(|(_, value)| value.to_owned());
        let separate = value.is_none();
        let value = value.or_else(|| args.get(at + 1).map(|word| word.text.clone()));
        inside.values.push((name.to_owned(), value.unwrap_or_default()));
        return Ok(if separate { 2 } else { 1 });
    }
    bundle(wrapper, args, at, inside)
}

/// A bundle such as `-u1`, `-0n1`, `-10`.
fn bundle(
    wrapper: &Wrapper,
    args: &[Word],
    at: usize,
    inside: &mut Inside<'_>,
) -> Result<usize, String> {
    let text = args[at].text.as_str();
    if text.starts_with("--") {
        return Err(text.to_owned());
    }
    for (index, letter) in text[1..].char_indices() {
        let option = format!("-{letter}");
        if listed(wrapper.valued, &option) {
            let rest = &text[1 + index + letter.len_utf8()..];
            let separate = rest.is_empty();
            let value = if separate {
                args.get(at + 1).map(|word| word.text.clone())
            } else {
                Some(rest.to_owned())
            };
            inside.values.push((option, value.unwrap_or_default()));
            return Ok(if separate { 2 } else { 1 });
        }
        let digit = letter.is_ascii_digit() && wrapper.names == "nice";
        if !digit && !listed(wrapper.flags, &option) {
            return Err(text.to_owned());
        }
    }
    Ok(1)
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| scope::is_name(name))
}

/// The machine an address names.
pub(crate) fn host(address: &str) -> Option<String> {
    let after_scheme = address.split_once("://").map(|(_, rest)| rest);
    let rest = match after_scheme {
        Some(rest) => rest,
        None if address.contains('@') => address.split_once('@').map_or(address, |(_, rest)| rest),
        None => address,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let authority = authority.rsplit('@').next().unwrap_or(authority);
    let name = authority.split(':').next().unwrap_or("");
    let plausible = name.contains('.') || is_local(name) || after_scheme.is_some();
    let clean = name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    (plausible && clean && !name.is_empty()).then(|| name.to_owned())
}

/// Whether the host is this machine.
pub(crate) fn is_local(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0" | "::1")
}
