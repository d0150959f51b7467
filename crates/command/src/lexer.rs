//! Text to tokens.
//!
//! The grammar is brush-parser's; the tokens are ours, because its tokenizer differs from bash in
//! places that hide commands (`\$'…'`, `$$'…'`, comments and `case` inside `$(…)`). This lexer knows
//! the same constructs, but where two shells could disagree about where a word ends it stops with
//! [`Stop`] instead of guessing: a command that stops the lexer is never read exactly.
//!
//! Words keep their source text; [`crate::word`] takes them apart.

use std::sync::Arc;

use brush_parser::{SourcePosition, SourceSpan, Token};

use crate::cursor::Cursor;
use crate::shell::Shell;

/// Why a text is not read exactly.
pub(crate) type Stop = &'static str;

/// More nesting than this is refused: the grammar recurses, and nobody writes it by hand.
pub(crate) const MAX_DEPTH: usize = 64;
/// More text than this is refused.
pub(crate) const MAX_BYTES: usize = 128 * 1024;
/// More tokens than this are refused.
const MAX_TOKENS: usize = 20_000;
/// A subscript with more quotes, expansions and brackets than this is refused, unless none is in another:
/// with each of them that stands in another, the grammar's time doubles at least.
const MAX_OPENERS_BY_SUBSCRIPT: usize = 8;

/// A here-document whose body comes after the current line.
struct Pending {
    /// Index of its delimiter's token.
    tag: usize,
    delimiter: String,
    strip_tabs: bool,
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    tokens: Vec<Token>,
    pending: Vec<Pending>,
    /// Delimiter, body, and closing tag, to be put behind the delimiter's token.
    bodies: Vec<(usize, String, String)>,
    inside_substitution: bool,
    parens: usize,
    cases: usize,
    /// As many cases as could be open, and where the newest begins.
    open_cases: usize,
    last_case: Option<usize>,
    /// As many groups of regular expressions as could be open, once there is one.
    open_groups: Option<usize>,
    parse_bytes: usize,
    /// Compound commands open now: what the grammar's recursion follows.
    nesting: usize,
    heredoc_next: Option<bool>,
    lists: usize,
}

/// How much of a text that follows `$(` belongs to the substitution, without the closing `)`.
pub(crate) fn length_of_substitution(
    text: &str,
    shell: Shell,
    depth: usize,
) -> Result<usize, Stop> {
    let mut lexer = Lexer::new(text, shell, depth);
    lexer.inside_substitution = true;
    lexer.run()?;
    Ok(lexer.cursor.at)
}

/// A text as the grammar takes it.
pub(crate) struct Tokens {
    pub(crate) tokens: Vec<Token>,
    /// How many bytes the grammar reads at most, with those that it reads again.
    pub(crate) parse_bytes: usize,
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str, shell: Shell, depth: usize) -> Result<Tokens, Stop> {
    if text.len() > MAX_BYTES {
        return Err("the text is too long");
    }
    if text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || hides_in_text(c)) {
        return Err("the text contains control characters or unusual white space");
    }
    let mut lexer = Lexer::new(text, shell, depth);
    lexer.run()?;
    let parse_bytes = lexer.parse_bytes;
    Ok(Tokens { tokens: lexer.finish(), parse_bytes })
}

/// Characters that look like a blank or like nothing, and that shells treat as letters.
fn hides_in_text(c: char) -> bool {
    (c.is_whitespace() && !c.is_ascii())
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}')
}

const OPERATORS: [&str; 21] = [
    "&>>", "<<-", "<<<", ";;&", "&&", "||", ";;", ";&", "<<", ">>", "<&", ">&", "<>", ">|", "&>",
    "|&", "|", "&", ";", "<", ">",
];

impl<'a> Lexer<'a> {
    fn new(text: &'a str, shell: Shell, depth: usize) -> Self {
        Self {
            cursor: Cursor::new(text, shell, depth),
            tokens: Vec::new(),
            pending: Vec::new(),
            bodies: Vec::new(),
            inside_substitution: false,
            parens: 0,
            cases: 0,
            open_cases: 0,
            last_case: None,
            open_groups: None,
            parse_bytes: 0,
            nesting: 0,
            heredoc_next: None,
            lists: 0,
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        if self.cursor.depth > MAX_DEPTH {
            return Err("nested too deeply");
        }
        while let Some(c) = self.cursor.peek() {
            if self.tokens.len() > MAX_TOKENS {
                return Err("the text is too long");
            }
            match c {
                ' ' | '\t' => {
                    self.cursor.bump();
                }
                '\\' if self.cursor.rest().starts_with("\\\n") => {
                    self.cursor.at += 2;
                    if !self.cursor.text[..self.cursor.at - 2].ends_with([' ', '\t', '\n']) {
                        return Err("a line is continued in the middle of a word");
                    }
                }
                '#' => {
                    let end = self.cursor.rest().find('\n').unwrap_or(self.cursor.rest().len());
                    self.cursor.at += end;
                }
                '\n' => self.newline()?,
                ')' if self.inside_substitution && self.parens == 0 && self.cases == 0 => {
                    return self.end();
                }
                '(' | ')' => self.paren(c)?,
                '|' | '&' | ';' | '<' | '>' => self.operator()?,
                _ => self.word()?,
            }
        }
        self.end()
    }

    fn end(&mut self) -> Result<(), Stop> {
        if !self.pending.is_empty() || self.heredoc_next.is_some() {
            return Err("a here-document has no body");
        }
        Ok(())
    }

    fn push(&mut self, start: usize, text: &str, operator: bool) {
        let span = SourceSpan { start: position(start), end: position(self.cursor.at) };
        // The last part of a `case` is read again if no `;;` ends it, or if anything in it is wrong; a group that
        // nothing closes is no group, and what is in it is read again.
        let levels = self.open_cases + self.open_groups.unwrap_or(0);
        let readings = 1_usize.checked_shl(u32::try_from(levels).unwrap_or(u32::MAX));
        let bytes = text.len().saturating_mul(readings.unwrap_or(usize::MAX));
        self.parse_bytes = self.parse_bytes.saturating_add(bytes);
        let text = text.to_owned();
        self.tokens.push(if operator {
            Token::Operator(text, span)
        } else {
            Token::Word(text, span)
        });
    }

    fn nest(&mut self) -> Result<(), Stop> {
        self.nesting += 1;
        if self.nesting + self.cursor.depth > MAX_DEPTH {
            return Err("nested too deeply");
        }
        Ok(())
    }

    /// Whether the next word would be the first of a command.
    fn at_command(&self) -> bool {
        match self.tokens.last() {
            None => true,
            Some(Token::Operator(op, _)) => !op.contains(['<', '>']),
            Some(Token::Word(word, _)) => matches!(
                word.as_str(),
                "{" | "}"
                    | "!"
                    | "if"
                    | "then"
                    | "else"
                    | "elif"
                    | "fi"
                    | "while"
                    | "until"
                    | "do"
                    | "done"
                    | "esac"
                    | "time"
                    | "in"
            ),
        }
    }

    fn paren(&mut self, c: char) -> Result<(), Stop> {
        if self.heredoc_next.is_some() {
            return Err("a here-document has no delimiter");
        }
        let start = self.cursor.at;
        if self.cursor.rest().starts_with("((") {
            return self.double_paren();
        }
        self.cursor.bump();
        if let Some(open) = &mut self.open_groups {
            *open = if c == '(' { *open + 1 } else { open.saturating_sub(1) };
        }
        if c == '(' {
            self.nest()?;
            self.parens += 1;
            self.push(start, "(", true);
            return Ok(());
        }
        // Inside `case`, a `)` may end a pattern that no `(` opened.
        if self.parens > 0 {
            self.parens -= 1;
            self.nesting = self.nesting.saturating_sub(1);
        } else if self.cases == 0 {
            return Err("a ) closes nothing");
        }
        self.push(start, ")", true);
        Ok(())
    }

    /// `((…))`, as a command or in the head of a `for`.
    fn double_paren(&mut self) -> Result<(), Stop> {
        if self.cursor.shell == Shell::Posix {
            return Err("((…)) is two subshells in some shells and arithmetic in others");
        }
        let in_for = matches!(self.tokens.last(), Some(Token::Word(word, _)) if word == "for");
        for _ in 0..2 {
            let start = self.cursor.at;
            self.cursor.bump();
            self.push(start, "(", true);
        }
        let start = self.cursor.at;
        if in_for {
            let end = self.cursor.rest().find("))").ok_or("(( is not closed")?;
            let inner = &self.cursor.rest()[..end];
            if inner.contains(['$', '\'', '"', '`', '\\', '\n', '#', '{', '[']) {
                return Err("the head of an arithmetic for is not read");
            }
            for (index, part) in inner.split(';').enumerate() {
                if index > 0 {
                    self.push(start, ";", true);
                }
                if !part.trim().is_empty() {
                    self.push(start, part.trim(), false);
                }
            }
            self.cursor.at += end + 2;
        } else {
            let inner = self.cursor.arithmetic()?;
            self.push(start, inner, false);
        }
        for _ in 0..2 {
            self.push(self.cursor.at, ")", true);
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Stop> {
        if self.heredoc_next.is_some() {
            return Err("a here-document has no delimiter");
        }
        let start = self.cursor.at;
        let rest = self.cursor.rest();
        let operator =
            OPERATORS.into_iter().find(|op| rest.starts_with(op)).ok_or("an operator")?;
        self.cursor.at += operator.len();
        if self.cursor.rest().starts_with("\\\n") {
            return Err("a line is continued in the middle of an operator");
        }
        if matches!(operator, "&&" | "||" | "|") {
            self.lists += 1;
            if self.lists > 2_000 {
                return Err("the text is too long");
            }
        }
        if matches!(operator, "<" | ">" | "<<" | ">>" | "<&" | ">&" | "<>" | ">|" | "<<<" | "<<-")
            && matches!(self.tokens.last(), Some(Token::Word(word, span))
                if span.end.index == start && word.len() > 3 && word.bytes().all(|b| b.is_ascii_digit()))
        {
            return Err("a file descriptor is too large");
        }
        if matches!(operator, "<<" | "<<-") {
            self.heredoc_next = Some(operator == "<<-");
        }
        self.push(start, operator, true);
        Ok(())
    }

    fn newline(&mut self) -> Result<(), Stop> {
        if self.heredoc_next.is_some() {
            return Err("a here-document has no delimiter");
        }
        let start = self.cursor.at;
        self.cursor.bump();
        self.push(start, "\n", true);
        for pending in std::mem::take(&mut self.pending) {
            let mut body = String::new();
            loop {
                let rest = self.cursor.rest();
                if rest.is_empty() {
                    return Err("a here-document is not closed");
                }
                let line = rest.split('\n').next().unwrap_or("");
                let shown = if pending.strip_tabs { line.trim_start_matches('\t') } else { line };
                if shown == pending.delimiter {
                    self.cursor.at += line.len();
                    if self.cursor.peek() == Some('\n') {
                        self.cursor.at += 1;
                    }
                    break;
                }
                // Inside `$(…)` some shells end the document at `EOF)`; others do not.
                if self.cursor.depth > 0 && shown.starts_with(&pending.delimiter) {
                    return Err("a here-document ends differently in different shells");
                }
                if !rest.contains('\n') {
                    return Err("a here-document is not closed");
                }
                body.push_str(shown);
                body.push('\n');
                self.cursor.at += line.len() + 1;
            }
            self.bodies.push((pending.tag, body, pending.delimiter));
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), Stop> {
        let start = self.cursor.at;
        let at_command = self.at_command();
        let raw = self.scan_word()?;
        if nests_in_subscript(&raw) {
            return Err("there is too much in a subscript");
        }
        if let Some(strip_tabs) = self.heredoc_next.take() {
            let delimiter = heredoc_delimiter(&raw)?;
            self.pending.push(Pending { tag: self.tokens.len(), delimiter, strip_tabs });
            self.push(start, &raw, false);
            return Ok(());
        }
        self.follow_keyword(&raw, at_command)?;
        self.push(start, &raw, false);
        Ok(())
    }

    fn follow_keyword(&mut self, raw: &str, at_command: bool) -> Result<(), Stop> {
        match raw {
            "case" if at_command => {
                self.cases += 1;
                self.open_cases += 1;
                self.last_case = Some(self.tokens.len());
                self.nest()?;
            }
            "esac" if self.cases > 0 => {
                self.cases -= 1;
                self.open_cases = self.open_cases.saturating_sub(usize::from(self.ends_case()));
                self.nesting = self.nesting.saturating_sub(1);
            }
            "case" | "esac" if self.inside_substitution => {
                return Err("case inside a substitution is not read here");
            }
            "=~" => {
                self.open_groups.get_or_insert(0);
            }
            "coproc" | "select" if at_command => return Err("coproc and select are not read"),
            "{" | "if" | "while" | "until" | "for" | "!" if at_command => self.nest()?,
            "}" | "fi" | "done" if at_command => {
                self.nesting = self.nesting.saturating_sub(1);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the grammar must take the `esac` in front of the cursor for the end of a case. It takes it for a
    /// pattern where it can.
    fn ends_case(&self) -> bool {
        let is_pattern = self.cursor.rest().trim_start().starts_with([')', '|']);
        let ends = match self.tokens.last() {
            Some(Token::Operator(op, _)) => {
                matches!(op.as_str(), ";" | "\n" | ";;" | ";&" | ";;&" | "&")
            }
            Some(Token::Word(word, _)) => {
                word == "in" && self.last_case.is_some_and(|case| case + 3 == self.tokens.len())
            }
            None => false,
        };
        ends && !is_pattern
    }

    /// Moves past one word and returns its text, without line continuations.
    fn scan_word(&mut self) -> Result<String, Stop> {
        let start = self.cursor.at;
        while let Some(c) = self.cursor.peek() {
            match c {
                ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>' => break,
                _ => {}
            }
            self.cursor.bump();
            match c {
                '\\' => match self.cursor.bump() {
                    None => return Err("the text ends in a backslash"),
                    Some('\n') => return Err("a line is continued in the middle of a word"),
                    Some(_) => {}
                },
                '\'' => {
                    self.cursor.single_quoted()?;
                }
                '"' => self.cursor.skip_double_quoted()?,
                '`' => {
                    self.cursor.backquoted()?;
                }
                '$' => self.cursor.skip_dollar(false)?,
                _ => {}
            }
        }
        Ok(self.cursor.since(start).to_owned())
    }

    /// The tokens, each delimiter of a here-document followed by its text.
    fn finish(mut self) -> Vec<Token> {
        if self.bodies.is_empty() {
            return self.tokens;
        }
        self.bodies.sort_by_key(|(tag, _, _)| *tag);
        let mut bodies = self.bodies.into_iter().peekable();
        let mut tokens = Vec::with_capacity(self.tokens.len() + 2 * bodies.len());
        for (at, token) in self.tokens.into_iter().enumerate() {
            tokens.push(token);
            if let Some((_, body, delimiter)) = bodies.next_if(|(tag, _, _)| *tag == at) {
                let span = SourceSpan { start: position(0), end: position(0) };
                tokens.push(Token::Word(body, span.clone()));
                tokens.push(Token::Word(delimiter, span));
            }
        }
        tokens
    }
}

/// Whether a word could be an assignment to an element of an array whose subscript is more than one level deep
/// and long.
fn nests_in_subscript(word: &str) -> bool {
    const OPENERS: [char; 7] = ['[', '(', '{', '"', '\'', '`', '$'];
    let Some((name, subscript)) = word.split_once('[') else { return false };
    crate::scope::is_name(name)
        && subscript.matches(OPENERS).count() > MAX_OPENERS_BY_SUBSCRIPT
        && !is_flat(subscript)
}

/// Whether a subscript ends before anything is in anything.
fn is_flat(subscript: &str) -> bool {
    let mut rest = subscript;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ']' => return true,
            '\'' | '"' => {
                let Some((inside, after)) = rest.split_once(c) else { return false };
                if c == '"' && inside.contains(['\\', '`', '(', '{', '[']) {
                    return false;
                }
                rest = after;
            }
            '$' if rest.starts_with(['(', '{', '[', '\'', '"']) => return false,
            '[' | '(' | '{' | '`' | '\\' => return false,
            _ => {}
        }
    }
    false
}

fn position(index: usize) -> Arc<SourcePosition> {
    Arc::new(SourcePosition { index, line: 1, column: 1 })
}

/// The line that ends a here-document. Only delimiters without tricks are accepted.
fn heredoc_delimiter(raw: &str) -> Result<String, Stop> {
    let inner = raw
        .strip_prefix('\'')
        .and_then(|r| r.strip_suffix('\''))
        .or_else(|| raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')))
        .or_else(|| raw.strip_prefix('\\'))
        .unwrap_or(raw);
    if inner.is_empty() || !inner.chars().all(|c| c.is_ascii_alphanumeric() || "_-.!%+".contains(c))
    {
        return Err("the delimiter of a here-document is unusual");
    }
    Ok(inner.to_owned())
}
