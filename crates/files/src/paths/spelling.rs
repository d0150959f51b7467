//! Spellings of paths: how a name that is no plain text is written, and which other spellings a
//! caller may have meant.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// A path as text. Control characters and bytes that are not UTF-8 become escapes (`\n`, `\xff`),
/// which every operation accepts again.
pub fn shown(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => escape_bytes(path.as_os_str().as_bytes()),
    }
}

/// Bytes as text with escapes.
pub fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                '\r' => text.push_str("\\r"),
                '\t' => text.push_str("\\t"),
                control if control.is_control() && control.is_ascii() => {
                    push_hex(&mut text, control as u8);
                }
                control if control.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in control.encode_utf8(&mut buffer).bytes() {
                        push_hex(&mut text, byte);
                    }
                }
                other => text.push(other),
            }
        }
        for byte in chunk.invalid() {
            push_hex(&mut text, *byte);
        }
    }
    text
}

fn push_hex(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    text.push_str("\\x");
    text.push(char::from(DIGITS[usize::from(byte >> 4)]));
    text.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// The bytes that escaped text stands for; `None` if an escape is not one of ours.
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let [escape, after @ ..] = rest else { return None };
        rest = after;
        bytes.push(match escape {
            b'\\' => b'\\',
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let [high, low, after @ ..] = rest else { return None };
                rest = after;
                let digit = |byte: u8| char::from(byte).to_digit(16);
                u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

/// Other spellings that may have been meant, likeliest first; each differs from the input.
pub(super) fn variants(input: &str) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    let mut add = |bytes: Vec<u8>| {
        if bytes != input.as_bytes() && !bytes.is_empty() && !found.contains(&bytes) {
            found.push(bytes);
        }
    };
    let plain = unquoted(input.trim());
    add(plain.as_bytes().to_vec());
    add(without_shell_escapes(plain).into_bytes());
    if let Some(bytes) = unescape(plain) {
        add(bytes);
    }
    let composed: String = plain.nfc().collect();
    let decomposed: String = plain.nfd().collect();
    // macOS writes screenshots with a narrow no-break space before AM and PM, and with ’.
    let screenshot = plain.replace(" AM.", "\u{202f}AM.").replace(" PM.", "\u{202f}PM.");
    for form in [composed, decomposed, screenshot.clone(), plain.replace('\'', "\u{2019}")] {
        add(form.into_bytes());
    }
    add(screenshot.replace('\'', "\u{2019}").nfd().collect::<String>().into_bytes());
    add(plain.replace('\u{2019}', "'").into_bytes());
    found
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).or_else(|| inside('`')).unwrap_or(text)
}

/// `My\ File\(1\).txt` as a shell reads it.
fn without_shell_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            other => plain.push(other),
        }
    }
    plain
}

/// Text of a URL.
#[cfg(any(feature = "databases", feature = "documents"))]
pub(crate) fn percent_decoded_text(text: &str) -> String {
    percent_decoded(text).to_string_lossy().into_owned()
}

/// The path of a `file://` URL.
pub(super) fn percent_decoded(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let code = match (first, rest) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high)
                    .zip(digit(low))
                    .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
            }
            _ => None,
        };
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &rest[2..];
            }
            None => bytes.push(*first),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_is_no_text_is_written_with_escapes() {
        let name = Path::new(OsStr::from_bytes(b"a\nb\xffc\\d"));
        assert_eq!(shown(name), "a\\nb\\xffc\\\\d");
        assert_eq!(shown(Path::new("plain \\n name")), "plain \\n name");
    }

    #[test]
    fn other_spellings_are_tried() {
        let texts = |input: &str| -> Vec<String> {
            variants(input).into_iter().map(|v| String::from_utf8_lossy(&v).into_owned()).collect()
        };
        assert!(texts("My\\ File.txt").contains(&"My File.txt".to_owned()));
        assert!(texts("'a b'").contains(&"a b".to_owned()));
        assert!(texts("Shot at 9.41 AM.png").contains(&"Shot at 9.41\u{202f}AM.png".to_owned()));
        assert!(texts("caf\u{e9}").contains(&"cafe\u{301}".to_owned()));
        assert!(texts("it's").contains(&"it\u{2019}s".to_owned()));
    }

    proptest! {
        #[test]
        fn any_bytes_survive_escaping(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(unescape(&escape_bytes(&bytes)), Some(bytes));
        }
    }
}
