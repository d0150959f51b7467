//! Cutting a text into the pieces that o200k encodes one by one.
//!
//! A piece is a word (capitals, then small letters) with at most one other sign before it; up to
//! three digits; a run of punctuation with at most one space before it; or white space, of which
//! the last blank goes with what follows.

/// The pieces of a text, in order.
pub(super) struct Pieces<'t> {
    rest: &'t str,
}

impl<'t> Pieces<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let length = piece(self.rest)?;
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(piece)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Upper,
    Lower,
    /// A letter of a script without capitals.
    Letter,
    Digit,
    Newline,
    Blank,
    Sign,
}

impl Kind {
    fn of(character: char) -> Self {
        match character {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            '\n' | '\r' => Self::Newline,
            ' ' | '\t' => Self::Blank,
            '\0'..='\x7f' => Self::Sign,
            _ if character.is_lowercase() => Self::Lower,
            _ if character.is_uppercase() => Self::Upper,
            _ if character.is_alphabetic() => Self::Letter,
            _ if character.is_numeric() => Self::Digit,
            _ if character.is_whitespace() => Self::Blank,
            _ => Self::Sign,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Letter)
    }
}

/// The length of the first piece, if there is one.
fn piece(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let width = first.len_utf8();
    let kind = Kind::of(first);
    let next = text[width..].chars().next().map(Kind::of);
    Some(match kind {
        Kind::Upper | Kind::Lower | Kind::Letter => word(text),
        Kind::Digit => run(text, 3, |kind| kind == Kind::Digit),
        Kind::Newline => white(text),
        Kind::Blank if matches!(next, Some(Kind::Blank | Kind::Newline)) => white(text),
        Kind::Blank | Kind::Sign if next.is_some_and(Kind::is_letter) => {
            width + word(&text[width..])
        }
        Kind::Blank if first == ' ' && next == Some(Kind::Sign) => 1 + signs(&text[1..]),
        Kind::Blank => width,
        Kind::Sign => signs(text),
    })
}

/// The length of the run of at most `most` characters of a kind.
fn run(text: &str, most: usize, belongs: impl Fn(Kind) -> bool) -> usize {
    text.chars()
        .take(most)
        .take_while(|&character| belongs(Kind::of(character)))
        .map(char::len_utf8)
        .sum()
}

/// Capitals, then small letters; a capital after a small letter starts another word.
fn word(text: &str) -> usize {
    let capitals = run(text, usize::MAX, |kind| matches!(kind, Kind::Upper | Kind::Letter));
    capitals + run(&text[capitals..], usize::MAX, |kind| matches!(kind, Kind::Lower | Kind::Letter))
}

/// A run of signs, and the line ends and slashes that follow it.
fn signs(text: &str) -> usize {
    let signs = run(text, usize::MAX, |kind| kind == Kind::Sign);
    let rest = text.as_bytes()[signs..].iter();
    signs + rest.take_while(|byte| matches!(byte, b'\n' | b'\r' | b'/')).count()
}

/// White space up to its last line end; without one, all but the blank that goes with what
/// follows.
fn white(text: &str) -> usize {
    let all = run(text, usize::MAX, |kind| matches!(kind, Kind::Blank | Kind::Newline));
    if let Some(newline) = text[..all].rfind(['\n', '\r']) {
        return newline + 1;
    }
    let last = text[..all].chars().next_back().map_or(0, char::len_utf8);
    if all == text.len() { all } else { all - last }
}
