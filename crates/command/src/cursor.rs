//! A position in a text, and the scanners that find where quotes and substitutions end.
//!
//! [`crate::lexer`] uses them to find the ends of words, [`crate::word`] to take words apart, so both
//! always agree.

use crate::lexer::{self, MAX_DEPTH, Stop};
use crate::shell::Shell;

/// A position in a text, and the scanners over it.
pub(crate) struct Cursor<'a> {
    pub(crate) text: &'a str,
    /// Byte offset of the next character.
    pub(crate) at: usize,
    pub(crate) shell: Shell,
    pub(crate) depth: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str, shell: Shell, depth: usize) -> Self {
        Self { text, at: 0, shell, depth }
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    pub(crate) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// After an opening `'`: the text up to the closing one.
    pub(crate) fn single_quoted(&mut self) -> Result<&'a str, Stop> {
        let end = self.rest().find('\'').ok_or("a single quote is not closed")?;
        let inner = &self.rest()[..end];
        self.at += end + 1;
        Ok(inner)
    }

    /// After `$'`: the raw text up to the closing quote, escapes left in place.
    pub(crate) fn ansi_quoted(&mut self) -> Result<&'a str, Stop> {
        if self.shell == Shell::Posix {
            return Err("$'…' means different things in different shells");
        }
        let start = self.at;
        while let Some(c) = self.bump() {
            match c {
                '\'' => return Ok(&self.text[start..self.at - 1]),
                '\\' => {
                    self.bump();
                }
                _ => {}
            }
        }
        Err("a $'…' quote is not closed")
    }

    /// After an opening `"`: moves past the closing one.
    pub(crate) fn skip_double_quoted(&mut self) -> Result<(), Stop> {
        loop {
            match self.bump().ok_or("a double quote is not closed")? {
                '"' => return Ok(()),
                '\\' => {
                    self.bump();
                }
                '$' => self.skip_dollar(true)?,
                '`' => {
                    self.backquoted()?;
                }
                _ => {}
            }
        }
    }

    /// After an opening backquote: the raw text up to the closing one.
    pub(crate) fn backquoted(&mut self) -> Result<&'a str, Stop> {
        let start = self.at;
        loop {
            match self.bump().ok_or("a backquote is not closed")? {
                '`' => return Ok(&self.text[start..self.at - 1]),
                '\\' => return Err("an escape inside backquotes is not read"),
                _ => {}
            }
        }
    }

    /// After a `$`: moves past whatever it introduces.
    pub(crate) fn skip_dollar(&mut self, in_double_quotes: bool) -> Result<(), Stop> {
        match self.peek() {
            Some('(') if self.rest().starts_with("((") => {
                self.at += 2;
                self.arithmetic()?;
            }
            Some('(') => {
                self.at += 1;
                self.substitution()?;
            }
            Some('{') => {
                self.at += 1;
                self.braced_parameter()?;
            }
            Some('[') => return Err("$[…] is not read"),
            Some('\'') if !in_double_quotes => {
                self.at += 1;
                self.ansi_quoted()?;
            }
            Some('"') if !in_double_quotes => {
                self.at += 1;
                self.skip_double_quoted()?;
            }
            Some('$' | '!' | '?' | '#' | '-' | '@' | '*') => self.at += 1,
            _ => {}
        }
        Ok(())
    }

    /// After `$((`: the expression, past the closing `))`.
    pub(crate) fn arithmetic(&mut self) -> Result<&'a str, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        self.depth += 1;
        let expression = self.arithmetic_inside();
        self.depth -= 1;
        expression
    }

    fn arithmetic_inside(&mut self) -> Result<&'a str, Stop> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            match self.bump().ok_or("an arithmetic expression is not closed")? {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.peek() == Some(')') => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 2]);
                }
                ')' => return Err("(( without )) is read differently by different shells"),
                '$' => self.skip_dollar(true)?,
                '\'' | '"' | '`' | '\\' | ';' | '#' | '{' | '}' | '\n' => {
                    return Err("arithmetic with quotes or escapes is not read");
                }
                _ => {}
            }
            if open > MAX_DEPTH {
                return Err("nested too deeply");
            }
        }
    }

    /// After `$(`: the command inside, past the closing `)`.
    pub(crate) fn substitution(&mut self) -> Result<&'a str, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        let start = self.at;
        self.at += lexer::length_of_substitution(self.rest(), self.shell, self.depth + 1)?;
        let text = &self.text[start..self.at];
        if !self.eat(")") {
            return Err("a command substitution is not closed");
        }
        Ok(text)
    }

    /// After `${`: the text up to the closing `}`. Only contents in which every shell finds the same
    /// end are accepted.
    pub(crate) fn braced_parameter(&mut self) -> Result<&'a str, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err("nested too deeply");
        }
        let start = self.at;
        loop {
            match self.bump().ok_or("a ${…} is not closed")? {
                '}' => return Ok(&self.text[start..self.at - 1]),
                '$' => {
                    self.depth += 1;
                    self.skip_dollar(true)?;
                    self.depth -= 1;
                }
                '"' => {
                    let rest = self.rest();
                    let end = rest.find('"').ok_or("a double quote is not closed")?;
                    if rest[..end].contains(['\'', '\\', '`', '{', '}', '(', ')']) {
                        return Err("a quote inside ${…} is not read");
                    }
                    self.at += end + 1;
                }
                '\'' | '\\' | '`' | '{' | '\n' => return Err("a quote inside ${…} is not read"),
                // `<(…)` is expanded here too.
                '(' => return Err("a bracket inside ${…} is not read"),
                _ => {}
            }
        }
    }
}
