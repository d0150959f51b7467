//! Options and operands of an argument list, by a row of the tables.

use crate::effect::Does;
use crate::risk::Risk;
use crate::row::Row;
use crate::scope;
use crate::spec;
use crate::table;
use crate::word::Word;
use crate::wrapper::{Inner, Wrapper};

/// An option as given: `-o` for each letter of a bundle, long ones without their value.
struct Given<'a> {
    name: String,
    /// What was written to it: `--out=x`, `-ox`.
    inline: Option<String>,
    /// The word after it, which may be its value.
    next: Option<&'a Word>,
    /// It came after `--`, where it is an operand to most programs. Where it would do harm it counts.
    after_dashes: bool,
}

/// An argument list taken apart.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
pub(crate) struct Options<'a> {
    given: Vec<Given<'a>>,
    /// An option was switched off: `-check=false`, `--noEmit false`.
    negated: bool,
    pub(crate) operands: Vec<&'a Word>,
    /// What stood where the value of an option is expected.
    pub(crate) values: Vec<&'a Word>,
    /// An argument that could turn out to be an option stood where an option is possible.
    hidden: bool,
    splits: bool,
    /// `--` was seen.
    only_operands: bool,
}

/// Different letters in one bundle: a text with more is no bundle of options.
const MOST_LETTERS: usize = 128;
/// What such a text counts as; no program has such an option.
const TOO_MANY_LETTERS: &str = "--…";

fn listed(list: &str, option: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == option)
}

impl<'a> Options<'a> {
    pub(crate) fn of(row: &Row, args: &'a [Word]) -> Self {
        let mut this = Self {
            given: Vec::new(),
            negated: false,
            operands: Vec::new(),
            values: Vec::new(),
            hidden: false,
            splits: false,
            only_operands: false,
        };
        let mut value_for = None;
        for (at, word) in args.iter().enumerate() {
            let text = word.text.as_str();
            this.negated |= is_negation(text);
            if value_for.take().is_some() {
                this.value(row, word, args.get(at + 1));
                continue;
            }
            let is_option = word.literal || (text.starts_with("--") && text.contains('='));
            if this.only_operands {
                if word.literal && text.starts_with('-') && text.len() > 1 {
                    this.option(row, text, args.get(at + 1));
                }
                this.operand(word);
            } else if text == "--" && word.literal {
                this.note("--", None, None);
                this.only_operands = true;
            } else if is_option && text.starts_with('-') && text.len() > 1 {
                value_for = this.option(row, text, args.get(at + 1)).then_some(());
            } else {
                this.operand(word);
            }
        }
        this
    }

    fn operand(&mut self, word: &'a Word) {
        self.hidden |= word.may_be_option && !self.only_operands;
        self.splits |= word.may_split;
        self.operands.push(word);
        if word.literal && word.text.starts_with('+') {
            let name: String = word.text.chars().take(2).collect();
            self.note(&name, None, None);
        }
    }

    /// The word after an option that takes one. Where it would do harm as an option, it counts as one:
    /// not every program of a name agrees about its options.
    fn value(&mut self, row: &Row, word: &'a Word, next: Option<&'a Word>) {
        self.values.push(word);
        self.splits |= word.may_split && word.may_be_option;
        self.hidden |= word.may_split && word.may_be_option;
        let name = word.text.split('=').next().unwrap_or_default();
        if word.literal && row.rules.iter().any(|(list, _)| listed(list, name)) {
            self.option(row, &word.text, next);
        }
    }

    fn note(&mut self, name: &str, inline: Option<&str>, next: Option<&'a Word>) {
        let inline = inline.map(str::to_owned);
        let after_dashes = self.only_operands;
        self.given.push(Given { name: name.to_owned(), inline, next, after_dashes });
    }

    /// Records one option word; says whether the next word is its value.
    fn option(&mut self, row: &Row, text: &str, next: Option<&'a Word>) -> bool {
        let (mut name, inline) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        // Programs with one dash take two just as well.
        if row.single_dash && name.starts_with("--") {
            name = &name[1..];
        }
        let whole = text.starts_with("--") || row.single_dash || is_listed_whole(row, name);
        if whole {
            self.note(name, inline, next.filter(|_| inline.is_none()));
            return takes_value(row, name) && inline.is_none();
        }
        if text[1..].bytes().all(|b| b.is_ascii_digit()) {
            self.note(&text[..2], None, None);
            return false;
        }
        let mut seen = String::new();
        for (at, letter) in text[1..].char_indices() {
            let option = &text[1 + at..1 + at + letter.len_utf8()];
            let rest = &text[1 + at + letter.len_utf8()..];
            let is_last = rest.is_empty();
            // A letter that is there already says nothing new, unless what follows is its value.
            if !is_last && seen.contains(letter) {
                continue;
            }
            if seen.len() > MOST_LETTERS {
                self.note(TOO_MANY_LETTERS, None, None);
                return false;
            }
            seen.push(letter);
            let option = format!("-{option}");
            self.note(&option, (!is_last).then_some(rest), next.filter(|_| is_last));
            match takes(row, &option) {
                Some(spec::Takes::Value | spec::Takes::Format) => return is_last,
                Some(spec::Takes::Attached) => return false,
                _ => {}
            }
        }
        false
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.given.iter().any(|one| one.name == option)
    }

    /// What an option was given, if anything: written to it, or the next word.
    pub(crate) fn value_of(&self, option: &str) -> Option<Word> {
        let given = self.given.iter().find(|one| one.name == option)?;
        let inline = given.inline.as_deref().map(Word::literal);
        inline.or_else(|| given.next.filter(|next| !next.starts_with("-")).cloned())
    }

    /// All that an option was given.
    pub(crate) fn all_values_of(&self, option: &str) -> Vec<Word> {
        let given = self.given.iter().filter(|one| one.name == option);
        given
            .filter_map(|one| {
                one.inline.as_deref().map(Word::literal).or_else(|| one.next.cloned())
            })
            .collect()
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
            for Given { name, .. } in &self.given {
                let hit = list.split_ascii_whitespace().any(|bad| {
                    bad == name || (does.risk > Risk::ReadOnly && abbreviates(name, bad))
                });
                if hit {
                    applied.push((name.clone(), *does));
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
                let harmless = |name: &str| name == "--" || is_digit(name) || listed(list, name);
                // `--print` shows something, `--print=cfg=file` writes it.
                let names_file = |given: &Given<'_>| {
                    let next = given.next.map(Word::likely).filter(|next| !next.starts_with('-'));
                    let value = given.inline.as_deref().or(next);
                    value.is_some_and(|value| value.contains('=') && !value.contains("://"))
                };
                list.split_ascii_whitespace().next().is_some_and(|first| self.has(first))
                    && !self.given.iter().any(names_file)
                    && self.given.iter().all(|one| harmless(&one.name))
                    && !self.hidden
                    && !self.negated
            })
            .map(|(_, does)| *does)
    }

    /// The first option that neither the row nor `known` knows.
    pub(crate) fn outside_both(&self, row: &Row, known: &dyn Fn(&str) -> bool) -> Option<&str> {
        let mut unknown = self.given.iter().filter(|one| !is_digit(&one.name) && one.name != "--");
        unknown
            .find(|one| !one.after_dashes && !is_known(row, one) && !known(&one.name))
            .map(|one| one.name.as_str())
    }

    /// The first option that the row does not know, or that has a value where it takes none.
    pub(crate) fn outside(&self, row: &Row, only: &str) -> Option<&str> {
        self.given
            .iter()
            .filter(|one| !is_digit(&one.name) && one.name != "--" && !one.name.starts_with('+'))
            .filter(|one| !one.after_dashes)
            .find(|one| !listed(only, &one.name) && !is_known(row, one))
            .map(|one| one.name.as_str())
    }
}

impl Options<'_> {
    /// Whether a row's own list knows every option, whatever the program's other rows know.
    pub(crate) fn all_listed(&self, row: &Row) -> bool {
        let own = |option: &str| {
            let valued = listed(row.valued, option).then_some(spec::Takes::Value);
            valued.or_else(|| spec::find(row.options, option))
        };
        let given = self.given.iter().filter(|one| one.name != "--" && !one.after_dashes);
        given.filter(|one| !one.name.starts_with('+')).all(|one| match own(&one.name) {
            Some(spec::Takes::Nothing) => one.name.len() == 2 || one.inline.is_none(),
            Some(spec::Takes::Value | spec::Takes::Attached) => true,
            Some(spec::Takes::Format) => {
                let next = one.next.and_then(Word::exact);
                one.inline.as_deref().or(next).is_some_and(spec::is_format)
            }
            None => is_digit(&one.name) || matches!(one.name.as_str(), "--help" | "--version"),
        })
    }
}

/// Whether a row knows an option as it is given.
fn is_known(row: &Row, given: &Given<'_>) -> bool {
    let is_long = given.name.len() > 2;
    let named = || is_ruled(row, &given.name);
    match takes(row, &given.name) {
        Some(spec::Takes::Nothing) => !is_long || given.inline.is_none() || named(),
        Some(spec::Takes::Value | spec::Takes::Attached) => true,
        Some(spec::Takes::Format) => {
            let next = given.next.and_then(Word::exact);
            given.inline.as_deref().or(next).is_some_and(spec::is_format)
        }
        None => named() || matches!(given.name.as_str(), "--help" | "--version"),
    }
}

/// Whether a rule of the row, or of the program whose sub-command it is, says what the option does.
fn is_ruled(row: &Row, option: &str) -> bool {
    let says = |(list, does): &(&str, Does)| {
        let mut names = list.split_ascii_whitespace();
        names
            .any(|name| name == option || (does.risk > Risk::ReadOnly && abbreviates(option, name)))
    };
    row.rules.iter().any(says) || parent(row).is_some_and(|parent| is_ruled(parent, option))
}

/// The row of the program whose sub-command this is.
fn parent(row: &Row) -> Option<&'static Row> {
    let (parent, _) = row.names.split('|').next()?.rsplit_once(' ')?;
    table::find(parent)
}

/// What an option of the row takes, if the row knows it.
pub(crate) fn takes(row: &Row, option: &str) -> Option<spec::Takes> {
    if listed(row.valued, option) {
        return Some(spec::Takes::Value);
    }
    let flag = listed(row.flags, option) || row.only.is_some_and(|only| listed(only, option));
    if flag {
        return Some(spec::Takes::Nothing);
    }
    if let Some(takes) = spec::find(row.options, option) {
        return Some(takes);
    }
    // Some programs take their own options after a sub-command too.
    takes(parent(row).filter(|parent| parent.anywhere)?, option)
}

/// Whether an option word is in the row as a whole (`-delete`, `-it`), not as a bundle of letters.
fn is_listed_whole(row: &Row, name: &str) -> bool {
    name.len() > 2
        && (takes(row, name).is_some() || row.rules.iter().any(|(list, _)| listed(list, name)))
}

/// `-5`: a number, not a letter.
fn is_digit(option: &str) -> bool {
    option.len() == 2 && option.as_bytes()[1].is_ascii_digit()
}

/// Whether a long option could be short for another.
fn abbreviates(option: &str, full: &str) -> bool {
    option.len() > 2 && option.starts_with("--") && full.starts_with(option)
}

/// Whether the option takes the next word as its value.
pub(crate) fn takes_value(row: &Row, option: &str) -> bool {
    matches!(takes(row, option), Some(spec::Takes::Value | spec::Takes::Format))
}

/// Whether a word switches something off.
fn is_negation(text: &str) -> bool {
    let value = text.rsplit('=').next().unwrap_or(text);
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "never" | "0" | "f")
        && (text.starts_with('-') || value.len() == text.len())
}

/// Whether a word has a shape; `*` stands for any text. Shapes that begin with a dash are those of
/// options, the others those of everything else.
pub(crate) fn has_shape(shape: &str, text: &str) -> bool {
    if shape.starts_with('-') != text.starts_with('-') {
        return false;
    }
    let mut parts = shape.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or("")) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last == Some("") || last.is_some_and(|last| text.ends_with(last))
}

/// The first option before a sub-command that may take it for its value.
pub(crate) fn unknown_before_sub<'a>(row: &Row, args: &'a [Word]) -> Option<&'a str> {
    const USUAL: &str = "--version --help -h -V -v --verbose -q --quiet --no-color --color";
    let known = |option: &str| {
        takes(row, option).is_some() || row.rules.iter().any(|(list, _)| listed(list, option))
    };
    let mut is_value = false;
    args.iter().map(|word| word.text.as_str()).find(|text| {
        if std::mem::take(&mut is_value) || !text.starts_with('-') {
            return false;
        }
        is_value = takes_value(row, text);
        let name = text.split('=').next().unwrap_or(text);
        let letters = || text[1..].chars().all(|letter| known(&format!("-{letter}")));
        let bundle = !text.starts_with("--") && !row.single_dash && letters();
        let switches_off = text.starts_with("--no-") && !text.contains('=');
        !(known(name) || listed(USUAL, name) || bundle || switches_off)
    })
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
        let last = name.char_indices().next_back().map_or("", |(at, _)| &name[at..]);
        let bundled = !name.starts_with("--") && takes(row, name).is_none();
        let valued =
            if bundled { takes_value(row, &format!("-{last}")) } else { takes_value(row, name) };
        let valued = valued && !text.contains('=');
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
    /// Variables that are set by an option: `docker exec -e NAME=value`.
    pub(crate) fn variables(&self) -> Vec<(String, Option<String>)> {
        let set =
            self.values.iter().filter(|(option, _)| matches!(option.as_str(), "-e" | "--env"));
        set.filter_map(|(_, text)| {
            let (name, value) = text.split_once('=')?;
            scope::is_name(name).then(|| (name.to_owned(), Some(value.to_owned())))
        })
        .collect()
    }

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
        check_value(args, at)?;
        let value = text.split_once('=').map(|(_, value)| value.to_owned());
        let separate = value.is_none();
        let value = value.or_else(|| args.get(at + 1).map(|word| word.text.clone()));
        inside.values.push((name.to_owned(), value.unwrap_or_default()));
        return Ok(if separate { 2 } else { 1 });
    }
    bundle(wrapper, args, at, inside)
}

/// Fails if the word after an option may be more than its value.
fn check_value(args: &[Word], at: usize) -> Result<(), String> {
    let value = args.get(at + 1).filter(|value| value.may_add_options());
    value.map_or(Ok(()), |value| Err(value.text.clone()))
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
            check_value(args, at)?;
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
