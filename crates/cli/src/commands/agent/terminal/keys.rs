//! What a person types, as keys: bytes of a terminal in raw mode, with pasted text kept together.

/// A key, or something that was pasted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Paste(String),
    /// Deliver now.
    Enter,
    /// Deliver later: ctrl-enter where terminals tell it, alt-enter everywhere.
    Queue,
    /// A new line in the text: ctrl-j, or shift-enter.
    NewLine,
    Escape,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    /// A letter with ctrl.
    Ctrl(char),
}

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// No sequence of a key is longer.
const LONGEST_SEQUENCE: usize = 32;

/// Makes keys of bytes, however these were cut.
#[derive(Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
}

impl Keys {
    /// The keys in what was typed. An escape at its end is the key: nothing else came with it.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.bytes.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, length)) = next(&self.bytes) {
            keys.extend(key);
            self.bytes.drain(..length);
        }
        keys
    }
}

/// The first key and its bytes; nothing if more bytes are needed.
fn next(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let first = *bytes.first()?;
    if bytes.starts_with(PASTE_BEGIN) {
        let rest = &bytes[PASTE_BEGIN.len()..];
        let end = rest.windows(PASTE_END.len()).position(|piece| piece == PASTE_END)?;
        let text = String::from_utf8_lossy(&rest[..end]).replace("\r\n", "\n").replace('\r', "\n");
        return Some((Some(Key::Paste(text)), PASTE_BEGIN.len() + end + PASTE_END.len()));
    }
    let one = |key: Key| Some((Some(key), 1));
    match first {
        b'\r' => one(Key::Enter),
        b'\n' => one(Key::NewLine),
        b'\t' => one(Key::Tab),
        0x7f | 0x08 => one(Key::Backspace),
        0x1b => escape(bytes),
        0 => Some((None, 1)),
        control @ 1..=31 => one(Key::Ctrl(char::from(control + b'a' - 1))),
        _ => character(bytes),
    }
}

fn character(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = match bytes[0] {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        // No character begins so.
        _ => return Some((None, 1)),
    };
    if bytes.len() < length {
        return None;
    }
    match std::str::from_utf8(&bytes[..length]).ok().and_then(|text| text.chars().next()) {
        Some(c) => Some((Some(Key::Char(c)), length)),
        None => Some((None, 1)),
    }
}

fn escape(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let two = |key: Key| Some((Some(key), 2));
    match bytes.get(1) {
        None | Some(0x1b) => Some((Some(Key::Escape), 1)),
        Some(b'\r' | b'\n') => two(Key::Queue),
        Some(b'b') => two(Key::WordLeft),
        Some(b'f') => two(Key::WordRight),
        Some(0x7f) => two(Key::Ctrl('w')),
        Some(b'[' | b'O') => sequence(bytes),
        Some(_) => Some((None, 2)),
    }
}

/// `CSI parameters final`.
fn sequence(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let end = bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte));
    let Some(end) = end.map(|end| end + 2) else {
        return (bytes.len() > LONGEST_SEQUENCE).then_some((None, bytes.len()));
    };
    let text = String::from_utf8_lossy(&bytes[2..end]).into_owned();
    let numbers: Vec<u32> = text
        .split(';')
        .map(|part| part.split(':').next().unwrap_or_default().parse().unwrap_or(0))
        .collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
    // Shift is 1, alt 2, ctrl 4, and all of them are one too much.
    let modifiers = number(1).saturating_sub(1);
    let has_word = modifiers & 6 != 0;
    let key = match bytes[end] {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' => Some(if has_word { Key::WordRight } else { Key::Right }),
        b'D' => Some(if has_word { Key::WordLeft } else { Key::Left }),
        b'H' => Some(Key::Home),
        b'F' => Some(Key::End),
        b'u' => coded(number(0), modifiers),
        b'~' => match number(0) {
            1 | 7 => Some(Key::Home),
            4 | 8 => Some(Key::End),
            3 => Some(Key::Delete),
            27 => coded(number(2), modifiers),
            _ => None,
        },
        _ => None,
    };
    Some((key, end + 1))
}

/// A key that a terminal tells by its code and what was held.
fn coded(code: u32, modifiers: u32) -> Option<Key> {
    let (shift, control) = (modifiers & 1 != 0, modifiers & 4 != 0);
    match code {
        13 if control || modifiers & 2 != 0 => Some(Key::Queue),
        13 if shift => Some(Key::NewLine),
        13 => Some(Key::Enter),
        27 => Some(Key::Escape),
        9 => Some(Key::Tab),
        127 | 8 => Some(if control { Key::Ctrl('w') } else { Key::Backspace }),
        code => {
            let c = char::from_u32(code)?;
            if control && c.is_ascii_alphabetic() {
                return Some(Key::Ctrl(c.to_ascii_lowercase()));
            }
            (!c.is_control() && !control).then_some(Key::Char(c))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_same_however_their_bytes_are_cut() {
        let typed = "aß€😀\x1b[200~one\r\ntwo\x1b[201~\x1b[1;5D\x1b[13;5u\x1b[27;5;13~\x1b[3~\n\r";
        let whole = Keys::default().feed(typed.as_bytes());
        assert_eq!(
            whole,
            [
                Key::Char('a'),
                Key::Char('ß'),
                Key::Char('€'),
                Key::Char('😀'),
                Key::Paste("one\ntwo".into()),
                Key::WordLeft,
                Key::Queue,
                Key::Queue,
                Key::Delete,
                Key::NewLine,
                Key::Enter,
            ]
        );
        for cut in 1..typed.len() {
            // An escape alone is a key: only there a cut means something.
            if typed.as_bytes()[cut - 1] == 0x1b {
                continue;
            }
            let mut keys = Keys::default();
            let mut got = keys.feed(&typed.as_bytes()[..cut]);
            got.extend(keys.feed(&typed.as_bytes()[cut..]));
            assert_eq!(got, whole, "cut at {cut}");
        }
    }

    #[test]
    fn garbage_is_no_key_and_does_not_stop_others() {
        let keys = Keys::default().feed(b"\xff\xc0\x1b[999999zx\x1b\r");
        assert_eq!(keys, [Key::Char('x'), Key::Queue]);
        assert_eq!(Keys::default().feed(b"\x1b"), [Key::Escape]);
        assert_eq!(Keys::default().feed(b"\x03"), [Key::Ctrl('c')]);
    }
}
