//! The lines of a makefile: joined where they continue, taken apart into rules, assignments and
//! directives.

use super::expansion;

/// What a line that is no recipe is.
pub(super) enum Directive<'a> {
    Rule(Rule<'a>),
    /// An assignment to this variable that every target, or one, gets.
    Assign(&'a str),
    Include(&'a str),
    Define(&'a str),
    /// The end of a definition.
    End,
    Conditional,
    /// The character in front of recipes.
    Prefix(&'a str),
    /// A word of make's that changes no recipe.
    Harmless,
    /// Something that may change what every recipe does.
    Beside,
}

/// A rule line taken apart.
pub(super) struct Rule<'a> {
    pub(super) targets: Vec<&'a str>,
    pub(super) prerequisites: &'a str,
    pub(super) recipe: Option<&'a str>,
    pub(super) doc: Option<&'a str>,
}

/// The lines with those that continue them, each with the number of its first line.
pub(super) fn logical(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        match lines.last_mut() {
            Some((_, last)) if is_open => {
                last.push('\n');
                last.push_str(line);
            }
            _ => lines.push((index + 1, line.to_owned())),
        }
        is_open = line.chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
    }
    lines
}

/// A line as make reads it: what continues it is on the same line.
pub(super) fn joined(line: &str) -> String {
    let mut parts = line.split('\n');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.truncate(text.len() - 1);
        text.push(' ');
        text.push_str(part.trim_start());
    }
    text
}

/// A line of a recipe as the shell reads it: what continues it is a line of its own, without the
/// prefix. Make's own marks are no shell.
pub(super) fn recipe(line: &str, prefix: char) -> String {
    let lines: Vec<&str> =
        line.split('\n').map(|part| part.strip_prefix(prefix).unwrap_or(part)).collect();
    lines.join("\n").trim_start_matches(['@', '-', '+', ' ', '\t']).replace("$$", "$")
}

/// Tells a line that is no recipe, no comment and not empty.
pub(super) fn directive(line: &str) -> Directive<'_> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim_start();
    // `include:` or `define =` is a rule or a variable of that name.
    let is_word = !rest.starts_with([':', '=', '?', '+', '!']);
    match word {
        "include" | "-include" | "sinclude" if is_word => Directive::Include(uncommented(rest).0),
        "define" if is_word => Directive::Define(name_of(rest)),
        "override" if rest.starts_with("define") => Directive::Define(name_of(&rest[6..])),
        "endef" if is_word => Directive::End,
        "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif" if is_word => {
            Directive::Conditional
        }
        // What is exported decides how programs behave.
        "export" | "load" | "-load" if is_word => Directive::Beside,
        "unexport" | "vpath" | "undefine" if is_word => Directive::Harmless,
        _ => statement(line),
    }
}

fn statement(line: &str) -> Directive<'_> {
    let (code, doc) = uncommented(line);
    if let Some(name) = assigned(code) {
        return match name {
            ".RECIPEPREFIX" if !code.contains('$') => {
                Directive::Prefix(code.split_once('=').map_or("", |(_, value)| value.trim()))
            }
            name => Directive::Assign(name),
        };
    }
    let Some(colon) = top_level(code, ':') else {
        return if expansion::is_silent(code) { Directive::Harmless } else { Directive::Beside };
    };
    let rest = code[colon..].trim_start_matches(':');
    let (rest, recipe) = match top_level(rest, ';') {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    // `target: VAR = value` gives a variable to a target that is written elsewhere.
    if let Some(name) = assigned(rest) {
        let is_exported = rest.split_whitespace().next() == Some("export");
        return if is_exported { Directive::Beside } else { Directive::Assign(name) };
    }
    // A static pattern rule names its pattern behind a second colon.
    let prerequisites = top_level(rest, ':').map_or(rest, |at| &rest[at + 1..]);
    let head = code[..colon].trim_end().trim_end_matches('&');
    Directive::Rule(Rule { targets: words(head), prerequisites, recipe, doc })
}

/// The variable that a line assigns.
fn assigned(line: &str) -> Option<&str> {
    let equals = top_level(line, '=')?;
    let before = line[..equals].trim_end_matches([':', '?', '+', '!']);
    // `a: b = c` and `a: b := c` are of a target.
    top_level(before, ':').is_none().then(|| name_of(before))
}

/// The name behind `override` and its like.
fn name_of(text: &str) -> &str {
    let mut words = text.split_whitespace();
    let is_modifier = |word: &&str| matches!(*word, "override" | "private" | "export" | "unexport");
    words.find(|word| !is_modifier(word)).unwrap_or_default()
}

/// Words, of which a function with all its own words is one.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = top_level_any(rest, char::is_whitespace).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    words
}

/// Where a character stands outside `$( )` and `${ }`.
fn top_level(text: &str, wanted: char) -> Option<usize> {
    top_level_any(text, |c| c == wanted)
}

fn top_level_any(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '{' if before == '$' || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            c if depth == 0 && before != '\\' && wanted(c) => return Some(at),
            _ => {}
        }
        before = c;
    }
    None
}

/// The line without its comment, and the comment if it is a doc (`## …`).
pub(super) fn uncommented(line: &str) -> (&str, Option<&str>) {
    match top_level(line, '#') {
        Some(at) => {
            let doc = line[at..].strip_prefix("##").map(|doc| doc.trim_start_matches('#').trim());
            (&line[..at], doc)
        }
        None => (line, None),
    }
}

/// Whether a word is a target someone could ask for by name.
pub(super) fn is_plain(name: &str) -> bool {
    let is_special = name.starts_with('.') && !name.contains('/');
    !is_special && !name.contains(['%', '$', '(', ')', '\\', '"', '\'', '=', '*', '?', '[', '`'])
}
