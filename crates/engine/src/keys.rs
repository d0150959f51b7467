//! Keys by name, as a terminal sends them.

use crate::error::{Error, Result};

/// Names and the bytes they stand for, beside `ctrl-x`, `alt-x` and single characters.
const NAMED: &[(&str, &str)] = &[
    ("enter", "\r"),
    ("return", "\r"),
    ("tab", "\t"),
    ("shift-tab", "\x1b[Z"),
    ("space", " "),
    ("escape", "\x1b"),
    ("esc", "\x1b"),
    ("backspace", "\x7f"),
    ("up", "\x1b[A"),
    ("down", "\x1b[B"),
    ("right", "\x1b[C"),
    ("left", "\x1b[D"),
    ("home", "\x1b[H"),
    ("end", "\x1b[F"),
    ("insert", "\x1b[2~"),
    ("ins", "\x1b[2~"),
    ("delete", "\x1b[3~"),
    ("del", "\x1b[3~"),
    ("page-up", "\x1b[5~"),
    ("pgup", "\x1b[5~"),
    ("page-down", "\x1b[6~"),
    ("pgdn", "\x1b[6~"),
    ("f1", "\x1bOP"),
    ("f2", "\x1bOQ"),
    ("f3", "\x1bOR"),
    ("f4", "\x1bOS"),
    ("f5", "\x1b[15~"),
    ("f6", "\x1b[17~"),
    ("f7", "\x1b[18~"),
    ("f8", "\x1b[19~"),
    ("f9", "\x1b[20~"),
    ("f10", "\x1b[21~"),
    ("f11", "\x1b[23~"),
    ("f12", "\x1b[24~"),
];

/// The bytes of a key: a name (`enter`, `up`, `f5`), `ctrl-x` (or `C-x`, `^x`), `alt-x` (or
/// `M-x`), or one character.
pub fn key(name: &str) -> Result<Vec<u8>> {
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let bare = plain(name);
    if let Some((_, bytes)) = NAMED.iter().find(|(known, _)| plain(known) == bare) {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Some(rest) = strip_any(name, &["ctrl-", "Ctrl-", "C-", "c-", "^"])
        && let Some(byte) = control(rest)
    {
        return Ok(vec![byte]);
    }
    if let Some(rest) = strip_any(name, &["alt-", "Alt-", "M-", "m-"]) {
        let mut bytes = vec![0x1b];
        bytes.extend(key(rest)?);
        return Ok(bytes);
    }
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(_), None) => Ok(name.as_bytes().to_vec()),
        _ => Err(Error::invalid(
            "key",
            format!(
                "{name:?} is no key; use a character, ctrl-x, alt-x, or one of {}",
                NAMED.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(" ")
            ),
        )),
    }
}

fn strip_any<'a>(name: &'a str, prefixes: &[&str]) -> Option<&'a str> {
    prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).filter(|rest| !rest.is_empty())
}

/// What a terminal sends for control and a character.
fn control(character: &str) -> Option<u8> {
    match character.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(letter.to_ascii_uppercase() - b'@'),
        [symbol @ (b'@' | b'[' | b'\\' | b']' | b'^' | b'_')] => Some(symbol - b'@'),
        [b'?'] => Some(0x7f),
        _ if character == "space" => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_the_bytes_a_terminal_sends() {
        for (name, bytes) in [
            ("ctrl-c", &b"\x03"[..]),
            ("C-d", b"\x04"),
            ("^Z", b"\x1a"),
            ("enter", b"\r"),
            ("Up", b"\x1b[A"),
            ("page_down", b"\x1b[6~"),
            ("PageDown", b"\x1b[6~"),
            ("pgup", b"\x1b[5~"),
            ("alt-x", b"\x1bx"),
            ("M-enter", b"\x1b\r"),
            ("q", b"q"),
            ("é", "é".as_bytes()),
            ("ctrl-space", b"\0"),
        ] {
            assert_eq!(key(name).unwrap(), bytes, "{name}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_known_ones() {
        let error = key("hyper-x").unwrap_err().to_string();
        assert!(error.contains("hyper-x") && error.contains("page-up"), "{error}");
        assert!(key("").is_err());
    }
}
