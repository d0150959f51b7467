//! From a word's source to what is known about its value.
//!
//! Expansion can run commands (substitutions, and arithmetic or indirection over hostile values), so
//! everything found in a word is walked too. What the walk cannot follow makes the text inexact.

use std::rc::Rc;

use brush_parser::ast;

use crate::lexer::MAX_DEPTH;
use crate::output;
use crate::scope::{self, Value};
use crate::walk::{Input, Walk};
use crate::word::{self, Expansion, Part, Word};

/// Longer arithmetic is not read.
const MAX_ARITHMETIC: usize = 256;

/// What has been put together of a word so far.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
struct Shape {
    text: String,
    guess: Option<String>,
    expansions: Vec<Expansion>,
    /// Nothing that is certain to be there has been seen yet.
    leading: bool,
    may_be_option: bool,
    may_split: bool,
    shows_secret: bool,
    free: bool,
}

impl Walk {
    /// Reads a word and everything inside it.
    pub(crate) fn word(&mut self, raw: &str) -> Word {
        if is_plain(raw) {
            return Word::literal(raw);
        }
        let parts = match word::parts(raw, self.shell, self.depth) {
            Ok(parts) => parts,
            Err(why) => {
                self.inexact(why);
                let mut word = Word::from_input(raw);
                word.expansions = vec![Expansion::Variable];
                return word;
            }
        };
        let mut shape = Shape {
            text: String::new(),
            guess: Some(String::new()),
            expansions: Vec::new(),
            leading: true,
            may_be_option: false,
            may_split: false,
            shows_secret: false,
            free: true,
        };
        let braces = has_brace_expansion(&parts);
        for part in parts {
            self.part(part, braces, &mut shape);
        }
        if braces {
            shape.expansions.push(Expansion::Brace);
            shape.may_split = true;
            // Any alternative may come first, so any dash may lead.
            shape.may_be_option |=
                raw.contains('-') || shape.expansions.contains(&Expansion::Variable);
            shape.guess = alternatives(raw);
        }
        let literal = shape.expansions.is_empty();
        // `-$x` may be any option; `--file=$x` is the option --file whatever x is.
        if !literal && shape.text.starts_with('-') && !shape.text.contains('=') {
            shape.may_be_option = true;
        }
        let guess = shape.guess.filter(|_| !literal);
        // Quotes never change what a path is.
        let plain =
            (!literal && guess.is_none() && raw.contains(['"', '\'', '\\'])).then(|| unquoted(raw));
        let text = if literal { shape.text } else { raw.to_owned() };
        let text = if raw.starts_with('~') && shape.expansions == [Expansion::Tilde] {
            guess.clone().unwrap_or(text)
        } else {
            text
        };
        Word {
            text,
            literal,
            expansions: shape.expansions,
            guess,
            may_be_option: shape.may_be_option,
            may_split: shape.may_split,
            shows_secret: shape.shows_secret,
            free: shape.free && !literal && !braces,
            plain,
        }
    }

    fn part(&mut self, part: Part, braces: bool, shape: &mut Shape) {
        match part {
            Part::Text(text) => {
                if shape.leading && !text.is_empty() {
                    shape.may_be_option |= !shape.text.is_empty() && text.starts_with('-')
                        || (!shape.expansions.is_empty() && text.starts_with('-'));
                    shape.leading = false;
                }
                shape.text.push_str(&text);
                push(&mut shape.guess, Some(&text));
            }
            Part::Brace(c) => {
                let text = if c == '.' { "..".to_owned() } else { c.to_string() };
                shape.leading &= braces && shape.text.is_empty();
                shape.text.push_str(&text);
                push(&mut shape.guess, Some(&text));
            }
            Part::Tilde => {
                shape.expansions.push(Expansion::Tilde);
                shape.leading = false;
            }
            Part::Glob(c) => {
                shape.text.push(c);
                push(&mut shape.guess, Some(c.encode_utf8(&mut [0; 4])));
                shape.expansions.push(Expansion::Glob);
                shape.free = false;
                shape.may_be_option |= shape.leading;
                shape.may_split = true;
            }
            Part::Parameter { inner, quoted } => {
                let value = self.parameter(&inner);
                shape.free &=
                    scope::is_name(&inner) && self.known.get(&inner).is_none() && !self.tainted;
                note(shape, &value, quoted, Expansion::Variable);
                if scope::is_secret(name_in(&inner)) && !inner.contains('#') && !inner.contains('+')
                {
                    shape.shows_secret = true;
                }
            }
            Part::Substitution { script, quoted } => {
                shape.free = false;
                self.substitution(&script);
                let value = self.output_value(&script);
                let guess = shape.guess.take();
                note(shape, &value, quoted, Expansion::Substitution);
                shape.guess = guess.zip(printed(&script)).map(|(before, text)| before + &text);
            }
            Part::Arithmetic(expression) => {
                self.arithmetic(&expression);
                shape.expansions.push(Expansion::Arithmetic);
                shape.leading = false;
                shape.guess = None;
            }
        }
    }

    /// Walks the command of a substitution.
    pub(crate) fn substitution(&mut self, script: &str) {
        if self.shallow {
            return;
        }
        let outer = std::mem::replace(&mut self.input, Input::Inherited);
        let mark = self.functions.mark();
        let directory = self.directory.clone();
        self.depth += 1;
        self.script(script);
        self.depth -= 1;
        self.functions.back_to(mark);
        self.directory = directory;
        self.input = outer;
    }

    /// What is known about the output of a script, unless a function prints it.
    fn output_value(&self, script: &str) -> Value {
        let program = output::last_program(script);
        let overridden = self.functions.has(program);
        if overridden { Value::Any } else { output::value(script) }
    }

    /// The expanded body of a here-document; whether it is plain text.
    pub(crate) fn heredoc(&mut self, body: &str) -> bool {
        match word::heredoc_parts(body, self.shell, self.depth) {
            Ok(parts) => {
                let mut plain = true;
                for part in parts {
                    plain &= matches!(part, Part::Text(_));
                    match part {
                        Part::Parameter { inner, .. } => {
                            self.parameter(&inner);
                        }
                        Part::Substitution { script, .. } => self.substitution(&script),
                        Part::Arithmetic(expression) => self.arithmetic(&expression),
                        _ => {}
                    }
                }
                plain && !body.contains('\\')
            }
            Err(why) => {
                self.inexact(why);
                false
            }
        }
    }

    /// Reads what is between `${` and `}` and says what is known about the result.
    fn parameter(&mut self, inner: &str) -> Value {
        let (length_of, rest) = match inner.strip_prefix('#') {
            Some(rest) if !rest.is_empty() => (true, rest),
            _ => (false, inner),
        };
        let name_len = name_length(rest);
        if name_len == 0 {
            self.inexact("an indirect or unusual expansion");
            return Value::Any;
        }
        let (name, mut rest) = rest.split_at(name_len);
        if rest.starts_with('[') {
            let Some(end) = rest.find(']') else {
                self.inexact("an array subscript is not closed");
                return Value::Any;
            };
            self.subscript(&rest[1..end]);
            rest = &rest[end + 1..];
        }
        if length_of || matches!(name, "#" | "?" | "$" | "!") {
            if !rest.is_empty() {
                self.inexact("an unusual expansion");
            }
            return Value::Number;
        }
        let value = self.known.get(name).cloned().unwrap_or(Value::Any);
        self.operator(name, rest, value)
    }

    /// What follows the name in `${name…}`.
    fn operator(&mut self, name: &str, rest: &str, value: Value) -> Value {
        let Some(first) = rest.chars().next() else { return value };
        match first {
            ':' if !rest[1..].starts_with(['-', '=', '+', '?']) => {
                for part in rest[1..].split(':') {
                    self.arithmetic(part);
                }
                Value::Any
            }
            ':' | '-' | '=' | '+' | '?' => {
                let skip = if first == ':' { 2 } else { 1 };
                let operand = self.word(rest.get(skip..).unwrap_or(""));
                if rest.get(..skip).is_some_and(|op| op.ends_with('=')) {
                    self.assign(name, Value::Any, operand.exact());
                }
                let default = match operand.exact() {
                    Some(text) => Value::literal(text),
                    None if operand.may_be_option => Value::Any,
                    None => Value::Tame,
                };
                if self.known.get(name).is_some() { value.or(default) } else { Value::Any }
            }
            '#' | '%' | '/' | '^' | ',' => {
                self.word(rest.trim_start_matches(['#', '%', '/', '^', ',']));
                Value::Any
            }
            '@' if matches!(rest, "@Q" | "@U" | "@u" | "@L") => Value::Any,
            _ => {
                self.inexact("an unusual expansion");
                Value::Any
            }
        }
    }

    /// An array subscript: everything, a number, or arithmetic.
    pub(crate) fn subscript(&mut self, text: &str) {
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if matches!(text, "@" | "*")
            || (plain && text.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
        {
            return;
        }
        self.arithmetic(text);
    }

    /// An arithmetic expression: names are values, and a value that is not a number can hide code.
    pub(crate) fn arithmetic(&mut self, text: &str) {
        if self.depth > MAX_DEPTH || text.len() > MAX_ARITHMETIC {
            self.inexact("nested too deeply");
            return;
        }
        let parts = match word::parts(&format!("\"{text}\""), self.shell, self.depth) {
            Ok(parts) => parts,
            Err(why) => {
                self.inexact(why);
                return;
            }
        };
        // The expression with numbers for everything expanded must be one; else it may be a command.
        let mut shape = String::new();
        for part in parts {
            if let Part::Text(text) = &part {
                shape.push_str(text);
            } else {
                shape.push('1');
            }
            self.arithmetic_part(part);
        }
        // The grammar's time doubles with each subscript in a subscript: it sees none, for a `[` has
        // made the reading inexact by now.
        let is_open = self.stop.is_none() && !shape.trim().is_empty();
        if is_open && brush_parser::arithmetic::parse(&shape).is_err() {
            self.inexact("arithmetic that is none");
        }
    }

    fn arithmetic_part(&mut self, part: Part) {
        match part {
            Part::Text(text) => self.arithmetic_text(&text),
            Part::Parameter { inner, .. } => {
                let value = self.parameter(&inner);
                let free = self.known.get(&inner).is_none() && scope::is_name(&inner);
                if !(free || value.is_number()) {
                    self.inexact("arithmetic on a value that may not be a number");
                }
            }
            Part::Substitution { script, .. } => {
                self.substitution(&script);
                if self.output_value(&script) != Value::Number {
                    self.inexact("arithmetic on a value that may not be a number");
                }
            }
            Part::Arithmetic(expression) => self.arithmetic(&expression),
            _ => self.inexact("arithmetic with an unusual character"),
        }
    }

    fn arithmetic_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if c.is_ascii_alphabetic() || c == '_' {
                let (name, after) = rest.split_at(name_length(rest));
                self.arithmetic_name(name);
                rest = after;
            } else if c.is_ascii_digit() || " \t+-*/%<>=!&|^~?:,()".contains(c) {
                rest = &rest[1..];
            } else {
                self.inexact("arithmetic with an unusual character");
                return;
            }
        }
    }

    fn arithmetic_name(&mut self, name: &str) {
        if scope::changes_what_runs(name, None) {
            self.inexact("arithmetic on a variable of the shell");
        }
        if self.known.get(name).is_some_and(|value| !value.is_number()) {
            self.inexact("arithmetic on a value that may not be a number");
        }
        // Whatever arithmetic stores is a number.
        if self.learned.get(name).is_none() {
            self.learned.set(name, Value::Number);
        }
    }

    /// What is known about the value of a word that is assigned or compared.
    pub(crate) fn value_of(&self, raw: &str, word: &Word) -> Value {
        // With a home in front it is as good: such a value is only ever a guess.
        if let Some(text) = word.path() {
            return Value::literal(text);
        }
        let bare = raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')).unwrap_or(raw);
        if let Some(inner) = bare.strip_prefix("$(").and_then(|r| r.strip_suffix(')')) {
            return match inner.strip_prefix('(') {
                Some(_) => Value::Number,
                None => self.output_value(inner),
            };
        }
        if let Some(name) = bare.strip_prefix('$') {
            let name = name.strip_prefix('{').and_then(|n| n.strip_suffix('}')).unwrap_or(name);
            if name.starts_with('#') || matches!(name, "?" | "$" | "!") {
                return Value::Number;
            }
            if let Some(value) = self.known.get(name) {
                return value.clone();
            }
        }
        if word.may_be_option || word.may_split { Value::Any } else { Value::Tame }
    }

    /// Whether it is just a variable that the text never sets.
    pub(crate) fn is_free_variable(&self, raw: &str) -> bool {
        let bare = raw.trim_matches('"');
        bare.strip_prefix('$')
            .is_some_and(|name| scope::is_name(name) && self.known.get(name).is_none())
    }

    /// What a command of a pipeline hands to the next.
    pub(crate) fn output_of(&mut self, command: &ast::Command) -> Input {
        let ast::Command::Simple(simple) = command else { return Input::Other };
        self.output_of_simple(simple)
    }

    /// What a simple command prints, as far as its text says.
    pub(crate) fn output_of_simple(&mut self, simple: &ast::SimpleCommand) -> Input {
        let Some(name) = &simple.word_or_name else { return Input::Other };
        let raws: Vec<&str> = simple
            .suffix
            .iter()
            .flat_map(|suffix| &suffix.0)
            .filter_map(|item| match item {
                ast::CommandPrefixOrSuffixItem::Word(word)
                | ast::CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                    Some(word.value.as_str())
                }
                _ => None,
            })
            .collect();
        let printer = std::iter::once(name.value.as_str())
            .chain(raws.iter().copied())
            .position(|word| matches!(word, "echo" | "printf"));
        match name.value.as_str() {
            // Also behind wrappers: `timeout 5 echo …`.
            _ if printer.is_some() => {
                let mut probe = Walk::new(self.shell, Rc::clone(&self.known));
                probe.shallow = true;
                let words: Vec<String> = raws[printer.unwrap_or(0)..]
                    .iter()
                    .map(|raw| probe.word(raw).likely().to_owned())
                    .filter(|word| {
                        !matches!(word.as_str(), "-n" | "-e" | "-en" | "%s" | "%s\\n" | "%b")
                    })
                    .collect();
                Input::Text(words.join(" ").replace("\\n", "\n"))
            }
            // Handed on as it is.
            "cat" if raws.is_empty() => {
                document_of(simple).or_else(|| self.input_text()).map_or(Input::Other, Input::Text)
            }
            "tee" => self.input_text().map_or(Input::Other, Input::Text),
            // What somebody typed before is as good as hidden.
            "history" | "fc" | "base64" | "base32" | "xxd" | "openssl" | "gunzip" | "zcat"
            | "gzip" | "rev" | "tr" | "uudecode" | "sed" => Input::Decoded,
            _ => Input::Other,
        }
    }
}

/// The here-document that a command is given.
fn document_of(simple: &ast::SimpleCommand) -> Option<String> {
    simple.suffix.iter().flat_map(|suffix| &suffix.0).find_map(|item| match item {
        ast::CommandPrefixOrSuffixItem::IoRedirect(ast::IoRedirect::HereDocument(_, document)) => {
            Some(document.doc.value.clone())
        }
        _ => None,
    })
}

/// What a plain `echo`, `printf` or `which` prints.
fn printed(script: &str) -> Option<String> {
    let prefixes = ["echo ", "printf ", "which ", "command -v "];
    let rest = prefixes.iter().find_map(|prefix| script.trim().strip_prefix(prefix))?;
    let plain = rest.chars().all(|c| c.is_ascii_alphanumeric() || " -_./'\"".contains(c));
    plain.then(|| rest.replace(['\'', '"'], "").trim().to_owned())
}

/// Words without any character the shell treats specially.
fn is_plain(raw: &str) -> bool {
    !raw.is_empty()
        && raw.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./:=@%+".contains(&b))
        && !raw.starts_with('=')
}

fn push(guess: &mut Option<String>, text: Option<&str>) {
    match (guess.as_mut(), text) {
        (Some(guess), Some(text)) => guess.push_str(text),
        _ => *guess = None,
    }
}

/// Adds an expansion with a value to a word.
fn note(shape: &mut Shape, value: &Value, quoted: bool, expansion: Expansion) {
    shape.expansions.push(expansion);
    push(&mut shape.guess, value.guess());
    if !quoted {
        shape.may_be_option |= value.may_split_into_option();
    } else if shape.leading {
        shape.may_be_option |= value.may_be_option();
    }
    shape.may_split |= !quoted;
}

/// A word's source without what only quotes.
fn unquoted(raw: &str) -> String {
    raw.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect()
}

/// Whether unquoted braces with a comma or `..` between them are there.
fn has_brace_expansion(parts: &[Part]) -> bool {
    let mut open = 0_usize;
    let mut separated = false;
    for part in parts {
        if let Part::Brace(c) = part {
            match c {
                '{' => open += 1,
                ',' | '.' if open > 0 => separated = true,
                '}' if open > 0 && separated => return true,
                _ => {}
            }
        }
    }
    false
}

/// `{rm,-rf,x}` as `rm -rf x`, `r{m,}` as `rm r`: enough to see a danger.
fn alternatives(raw: &str) -> Option<String> {
    let (before, rest) = raw.split_once('{')?;
    let (inner, after) = rest.split_once('}')?;
    let words = inner.split(',').map(|one| format!("{before}{one}{after}"));
    Some(words.collect::<Vec<_>>().join(" "))
}

/// The variable named at the start of the text inside `${…}`.
fn name_in(inner: &str) -> &str {
    &inner[..name_length(inner)]
}

fn name_length(text: &str) -> usize {
    let first = text.bytes().next().unwrap_or(b' ');
    if first.is_ascii_alphabetic() || first == b'_' {
        return text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    }
    if first.is_ascii_digit() {
        return text.bytes().take_while(u8::is_ascii_digit).count();
    }
    usize::from(b"@*#?$!-".contains(&first) && text.len() == 1)
}
