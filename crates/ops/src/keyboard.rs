//! Bytes as the keys that send them.

use std::iter::Peekable;
use std::str::Chars;

/// What a key means to a program that lets one edit a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character, which is put where the cursor is.
    Char(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    /// Takes away the word before the cursor.
    KillWord,
    /// Takes away the word after it.
    KillNextWord,
    /// Takes away all before it.
    KillBefore,
    /// Takes away all after it.
    KillAfter,
    /// Puts back what was taken away.
    Yank,
    Transpose,
    /// Gives the line up.
    Interrupt,
    /// Brings a line, or a part of one, that nobody sees here.
    Fetch,
    /// Runs the line and fetches the next.
    EnterAndFetch,
    /// Nothing for the line.
    Nothing,
}

/// The next key, and the bytes that sent it.
pub(crate) fn next_key(chars: &mut Peekable<Chars<'_>>) -> Option<(Key, String)> {
    let first = chars.next()?;
    let mut sent = String::from(first);
    if first != '\u{1b}' {
        return Some((control(first), sent));
    }
    let Some(second) = chars.next() else { return Some((Key::Nothing, sent)) };
    sent.push(second);
    let key = match second {
        '[' => {
            // Parameters, then what is between, then the letter that says what it is.
            let is_part = |c: &char| matches!(c, ' '..='?');
            while let Some(part) = chars.next_if(is_part) {
                sent.push(part);
            }
            match chars.next_if(|c| matches!(c, '@'..='~')) {
                Some(last) => {
                    sent.push(last);
                    sequence(&sent[2..sent.len() - 1], last)
                }
                None => Key::Nothing,
            }
        }
        'O' => match chars.next() {
            Some(last) => {
                sent.push(last);
                sequence("", last)
            }
            None => Key::Nothing,
        },
        with_alt => alt(with_alt),
    };
    Some((key, sent))
}

/// Whether bytes are what a key sends, and not text that only begins like it.
pub(crate) fn is_key(sent: &str) -> bool {
    let is_number = |c: char| c.is_ascii_digit() || c == ';';
    let rest = sent.strip_prefix("\u{1b}[").or_else(|| sent.strip_prefix("\u{1b}O"));
    rest.and_then(|rest| rest.strip_suffix(|last: char| "ABCDFHIOPQSZ~".contains(last)))
        .is_some_and(|parameters| parameters.chars().all(is_number))
}

fn control(c: char) -> Key {
    match c {
        '\r' | '\n' => Key::Enter,
        '\u{7f}' | '\u{8}' => Key::Backspace,
        '\u{1}' => Key::Home,
        '\u{2}' => Key::Left,
        '\u{3}' => Key::Interrupt,
        '\u{4}' => Key::Delete,
        '\u{5}' => Key::End,
        '\u{6}' => Key::Right,
        '\u{b}' => Key::KillAfter,
        '\u{f}' => Key::EnterAndFetch,
        '\u{10}' | '\u{e}' | '\u{12}' => Key::Fetch,
        '\u{14}' => Key::Transpose,
        '\u{15}' => Key::KillBefore,
        '\u{17}' => Key::KillWord,
        '\u{19}' => Key::Yank,
        '\t' => Key::Char(c),
        c if c.is_control() => Key::Nothing,
        c => Key::Char(c),
    }
}

fn alt(c: char) -> Key {
    match c {
        'b' => Key::WordLeft,
        'f' => Key::WordRight,
        'd' => Key::KillNextWord,
        '\u{7f}' | '\u{8}' => Key::KillWord,
        // Most of them edit, in ways of their own.
        _ => Key::Fetch,
    }
}

/// The key of an escape sequence with these parameters.
fn sequence(parameters: &str, last: char) -> Key {
    let mut numbers = parameters.split(';').map(|number| {
        let number = number.split(':').next().unwrap_or("");
        number.parse::<u32>().unwrap_or(1)
    });
    let (first, second) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(1));
    let by_word = second > 2;
    match (last, first) {
        ('C', _) if by_word => Key::WordRight,
        ('D', _) if by_word => Key::WordLeft,
        ('C', _) => Key::Right,
        ('D', _) => Key::Left,
        ('H', _) | ('~', 1 | 7) => Key::Home,
        ('F', _) | ('~', 4 | 8) => Key::End,
        ('~', 3) => Key::Delete,
        // Where a paste begins and ends; whether the terminal has the focus.
        ('~', 200 | 201) | ('I' | 'O', _) => Key::Nothing,
        // A character by its number, as newer terminals send it.
        ('u', code) => numbered(code, second),
        ('~', 27) => numbered(numbers.next().unwrap_or(0), second),
        _ => Key::Fetch,
    }
}

fn numbered(code: u32, modifiers: u32) -> Key {
    let Some(c) = char::from_u32(code) else { return Key::Fetch };
    match modifiers.saturating_sub(1) & 0b110 {
        0 => control(c),
        0b010 => alt(c),
        0b100 if c.is_ascii_lowercase() => control(char::from((c as u8) & 0x1f)),
        _ => Key::Fetch,
    }
}
