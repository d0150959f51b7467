//! A word of a command, taken apart.
//!
//! The shell turns a word into arguments by expansion and quote removal. Here a word becomes either
//! exact text, or parts of which some are only known at run time. [`parts`] does the taking apart;
//! [`Word`] is what the rest of the crate and its callers see.

use serde::{Deserialize, Serialize};

use crate::cursor::Cursor;
use crate::lexer::Stop;
use crate::shell::Shell;

/// What the shell would still have to expand in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expansion {
    /// `$name`, `${name…}`.
    Variable,
    /// `$(…)` or backquotes.
    Substitution,
    /// `<(…)` or `>(…)`.
    Process,
    /// `$((…))`.
    Arithmetic,
    /// `*`, `?`, `[…]`.
    Glob,
    /// `{a,b}` or `{1..9}`.
    Brace,
    /// A leading `~`.
    Tilde,
    /// Arguments that a program such as `xargs` adds while it runs.
    Input,
}

/// One argument of a command.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not states")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// The exact argument when `literal`; otherwise the source text.
    pub text: String,
    /// Whether `text` is what the program will be given.
    pub literal: bool,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expansions: Vec<Expansion>,
    /// The value the word would have if the variables set in the same command are believed.
    /// Good enough to raise a verdict, never to lower it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<String>,
    /// Whether it could turn out to begin with `-`, alone or as one of several.
    #[serde(skip)]
    pub(crate) may_be_option: bool,
    /// Whether it could turn out to be none or several arguments.
    #[serde(skip)]
    pub(crate) may_split: bool,
    /// Whether it contains the value of a variable that is named like a secret.
    #[serde(skip)]
    pub(crate) shows_secret: bool,
    /// Whether all that is not known of it are variables that the text does not set.
    #[serde(skip)]
    pub(crate) free: bool,
    /// Its source without quotes, where there are some and nothing better is known.
    #[serde(skip)]
    pub(crate) plain: Option<String>,
}

impl Word {
    /// A word whose text is exactly known.
    pub fn literal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            literal: true,
            expansions: Vec::new(),
            guess: None,
            may_be_option: false,
            may_split: false,
            shows_secret: false,
            free: false,
            plain: None,
        }
    }

    /// Arguments that come from somewhere else at run time.
    pub(crate) fn from_input(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            literal: false,
            expansions: vec![Expansion::Input],
            guess: None,
            may_be_option: true,
            may_split: true,
            shows_secret: false,
            free: false,
            plain: None,
        }
    }

    /// The exact text, if there is one.
    pub fn exact(&self) -> Option<&str> {
        self.literal.then_some(self.text.as_str())
    }

    /// The best idea of the text: exact, guessed, or the source.
    pub fn likely(&self) -> &str {
        self.guess.as_deref().or(self.plain.as_deref()).unwrap_or(&self.text)
    }

    /// The text to use as a path: exact, or with only a tilde in front.
    pub(crate) fn path(&self) -> Option<&str> {
        let tilde_only = self.expansions.iter().all(|e| *e == Expansion::Tilde);
        (self.literal || tilde_only).then_some(self.text.as_str())
    }

    /// Whether it could turn out to be several words, one of them an option: so not just the value
    /// of the option before it.
    pub(crate) fn may_add_options(&self) -> bool {
        !self.literal && self.may_split && self.may_be_option
    }

    /// Whether a literal text starts with `prefix`.
    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix)
    }
}

/// A part of a word as the shell sees it.
#[derive(Debug)]
pub(crate) enum Part {
    /// Text after quote removal.
    Text(String),
    /// A parameter: the text between `${` and `}`, or the name after `$`.
    Parameter { inner: String, quoted: bool },
    /// A command whose output stands here.
    Substitution { script: String, quoted: bool },
    /// An arithmetic expression.
    Arithmetic(String),
    /// A pattern that file names are matched against.
    Glob(char),
    /// A home directory.
    Tilde,
    /// An unquoted brace, comma or `..`: with its partners it makes a brace expansion.
    Brace(char),
}

/// Takes a word's source text apart.
pub(crate) fn parts(raw: &str, shell: Shell, depth: usize) -> Result<Vec<Part>, Stop> {
    let mut cursor = Cursor::new(raw, shell, depth);
    let mut parts = Parts::default();
    if raw.starts_with('~') {
        cursor.bump();
        let user = cursor.rest().split('/').next().unwrap_or("");
        if !user.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+".contains(c)) {
            return Err("a tilde is followed by something unusual");
        }
        parts.list.push(Part::Tilde);
        parts.text("~");
    }
    if shell == Shell::Zsh && raw.starts_with('=') {
        return Err("a leading = is expanded by zsh");
    }
    while let Some(c) = cursor.bump() {
        match c {
            '\\' => parts.char(cursor.bump().ok_or("the text ends in a backslash")?),
            '\'' => parts.text(cursor.single_quoted()?),
            '"' => double_quoted(&mut cursor, &mut parts)?,
            '`' => {
                let script = cursor.backquoted()?.to_owned();
                parts.list.push(Part::Substitution { script, quoted: false });
            }
            '$' if cursor.peek() == Some('\'') => {
                cursor.bump();
                let text = ansi(cursor.ansi_quoted()?)?;
                parts.text(&text);
            }
            '$' if cursor.peek() == Some('"') => {
                cursor.bump();
                double_quoted(&mut cursor, &mut parts)?;
            }
            '$' => dollar(&mut cursor, &mut parts, false)?,
            // Without a partner, or anything that could become one, a bracket is text.
            '[' if !cursor.rest().contains([']', '$', '`']) => parts.char(c),
            '*' | '?' | '[' => parts.list.push(Part::Glob(c)),
            '{' | '}' | ',' => parts.list.push(Part::Brace(c)),
            '.' if cursor.peek() == Some('.') => {
                cursor.bump();
                parts.list.push(Part::Brace('.'));
            }
            '^' | '#' if shell == Shell::Zsh => return Err("zsh may read ^ and # as patterns"),
            _ => parts.char(c),
        }
    }
    Ok(parts.list)
}

/// Takes the body of an expanded here-document apart: quotes are text, `$` and backquotes are not.
pub(crate) fn heredoc_parts(body: &str, shell: Shell, depth: usize) -> Result<Vec<Part>, Stop> {
    let mut cursor = Cursor::new(body, shell, depth);
    let mut parts = Parts::default();
    while let Some(c) = cursor.bump() {
        match c {
            '\\' => {
                cursor.bump();
            }
            '`' => {
                let script = cursor.backquoted()?.to_owned();
                parts.list.push(Part::Substitution { script, quoted: true });
            }
            '$' => dollar(&mut cursor, &mut parts, true)?,
            _ => parts.char(c),
        }
    }
    Ok(parts.list)
}

/// A here-document without the backslashes that keep the shell from expanding it.
pub(crate) fn heredoc_text(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.next_if(|next| c == '\\' && matches!(next, '$' | '`' | '\\' | '\n')) {
            Some('\n') => {}
            Some(escaped) => plain.push(escaped),
            None => plain.push(c),
        }
    }
    plain
}

#[derive(Default)]
struct Parts {
    list: Vec<Part>,
}

impl Parts {
    fn text(&mut self, text: &str) {
        if let Some(Part::Text(last)) = self.list.last_mut() {
            last.push_str(text);
        } else {
            self.list.push(Part::Text(text.to_owned()));
        }
    }

    fn char(&mut self, c: char) {
        self.text(c.encode_utf8(&mut [0; 4]));
    }
}

fn double_quoted(cursor: &mut Cursor<'_>, parts: &mut Parts) -> Result<(), Stop> {
    parts.text("");
    loop {
        match cursor.bump().ok_or("a double quote is not closed")? {
            '"' => return Ok(()),
            '\\' => match cursor.bump().ok_or("a double quote is not closed")? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => parts.char(c),
                c => {
                    parts.char('\\');
                    parts.char(c);
                }
            },
            '`' => {
                let script = cursor.backquoted()?;
                if script.contains('"') {
                    return Err("quotes inside quoted backquotes are not read");
                }
                parts.list.push(Part::Substitution { script: script.to_owned(), quoted: true });
            }
            '$' => dollar(cursor, parts, true)?,
            c => parts.char(c),
        }
    }
}

/// After a `$` that starts no quote.
fn dollar(cursor: &mut Cursor<'_>, parts: &mut Parts, quoted: bool) -> Result<(), Stop> {
    let rest = cursor.rest();
    if rest.starts_with("((") {
        cursor.at += 2;
        parts.list.push(Part::Arithmetic(cursor.arithmetic()?.to_owned()));
    } else if rest.starts_with('(') {
        cursor.at += 1;
        let script = cursor.substitution()?.to_owned();
        parts.list.push(Part::Substitution { script, quoted });
    } else if rest.starts_with('{') {
        cursor.at += 1;
        let inner = cursor.braced_parameter()?.to_owned();
        parts.list.push(Part::Parameter { inner, quoted });
    } else if rest.starts_with('[') {
        return Err("$[…] is not read");
    } else {
        let length = parameter_length(rest);
        if cursor.shell == Shell::Zsh
            && (rest.starts_with(['=', '~', '^', '+', ':']) || rest[length..].starts_with('['))
        {
            return Err("zsh reads more into a $ than other shells");
        }
        if length == 0 {
            parts.char('$');
        } else {
            cursor.at += length;
            parts.list.push(Part::Parameter { inner: rest[..length].to_owned(), quoted });
        }
    }
    Ok(())
}

/// How much of the text after `$` names a parameter.
fn parameter_length(rest: &str) -> usize {
    let first = rest.bytes().next().unwrap_or(b' ');
    if first.is_ascii_digit() || b"@*#?-$!".contains(&first) {
        return 1;
    }
    if !(first.is_ascii_alphabetic() || first == b'_') {
        return 0;
    }
    rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// The text of a `$'…'` quote.
fn ansi(raw: &str) -> Result<String, Stop> {
    let mut bytes = Vec::new();
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let code = match chars.next().ok_or("the text ends in a backslash")? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'v' => 11,
            c @ ('\\' | '\'' | '"' | '?') => u32::from(c),
            'x' => number(&mut chars, 16, 2)?,
            'u' => number(&mut chars, 16, 4)?,
            'U' => number(&mut chars, 16, 8)?,
            c @ '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    if let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) {
                        value = value * 8 + digit;
                        chars.next();
                    }
                }
                value
            }
            _ => return Err("a $'…' quote has an unusual escape"),
        };
        match code {
            0 => return Err("a $'…' quote contains a zero byte"),
            1..=127 => bytes.push(u8::try_from(code).unwrap_or(b'?')),
            _ => return Err("a $'…' quote has an unusual escape"),
        }
    }
    String::from_utf8(bytes).map_err(|_| "a $'…' quote is not text")
}

fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    most: usize,
) -> Result<u32, Stop> {
    let mut value = 0_u32;
    let mut seen = 0;
    while seen < most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        chars.next();
        seen += 1;
    }
    if seen == 0 { Err("a $'…' quote has an unusual escape") } else { Ok(value) }
}
