//! The other shapes in which a plain value turns up: base64, hexadecimal, URL-encoded, escaped as in
//! JSON, HTML, Python and shells.

use std::fmt::Write as _;

/// Values and lines shorter than this are not searched for in other shapes than their own: the
/// encoded text would be short enough to meet by chance.
const SHORTEST_ENCODED: usize = 8;
const SHORTEST_LINE: usize = 20;
/// Longer values are not searched for in pairs of digits: they are files, and printed otherwise.
const LONGEST_IN_PAIRS: usize = 128;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Every text that gives `value` away, itself first, without duplicates.
pub(super) fn forms(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    // What a reader sees went through the sanitiser, so the value may look different there.
    let seen = crate::sanitize::sanitize(value.as_bytes());
    let mut add = |form: String| {
        if !form.is_empty() && !forms.contains(&form) {
            forms.push(form);
        }
    };
    add(value.to_owned());
    add(seen.trim_end_matches('\n').to_owned());
    add(value.trim_end().to_owned());
    if value.len() < SHORTEST_ENCODED {
        return forms;
    }
    if value.trim_end().contains('\n') {
        let lines = seen.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
        lines.filter(|line| !line.starts_with("-----")).for_each(|line| add(line.to_owned()));
    }
    for escaped in json_escaped(value) {
        // A document inside of another one is escaped twice.
        json_escaped(&escaped).into_iter().take(1).for_each(&mut add);
        add(escaped);
    }
    hexadecimal(value.trim_end().as_bytes()).into_iter().for_each(&mut add);
    for bytes in [value.as_bytes(), value.trim_end().as_bytes()] {
        for alphabet in [STANDARD, URL_SAFE] {
            for shift in 0..3 {
                add(base64_core(bytes, shift, alphabet));
            }
        }
    }
    html_escaped(value).into_iter().for_each(&mut add);
    python_escaped(value).into_iter().for_each(&mut add);
    shell_quoted(value).into_iter().for_each(&mut add);
    // What encoders leave alone: RFC 3986, Python's for paths and for forms, JavaScript's two functions,
    // HTML forms.
    for (kept, plus) in [
        ("-._~", false),
        ("-._~/", false),
        ("-._~", true),
        ("-._~!'()*", false),
        ("-._~!'()*;/?:@&=+$,#", false),
        ("-._*", true),
    ] {
        for upper in [true, false] {
            add(url_encoded(value, kept, plus, upper));
        }
    }
    forms
}

/// A value as the encoders of JSON write it: they differ in what they escape beyond the rules.
fn json_escaped(value: &str) -> Vec<String> {
    let plain = |_: char| false;
    let web = |character: char| matches!(character, '<' | '>' | '&' | '\'');
    let other = |character: char| !character.is_ascii();
    let slash = value.replace('/', "\u{0}");
    vec![
        escaped(value, plain, false),
        escaped(value, web, false),
        escaped(value, other, false),
        escaped(value, other, true),
        escaped(value, |character| web(character) || other(character), false),
        escaped(&slash, plain, false).replace("\\u0000", "\\/"),
    ]
}

/// A value with what JSON cannot hold as it is escaped, and whatever else `beyond` says.
fn escaped(value: &str, beyond: impl Fn(char) -> bool, upper: bool) -> String {
    let mut out = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other if other < ' ' || beyond(other) => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    let _ = if upper {
                        write!(out, "\\u{unit:04X}")
                    } else {
                        write!(out, "\\u{unit:04x}")
                    };
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// A value as encoders of HTML write it: they differ in the quotes.
fn html_escaped(value: &str) -> Vec<String> {
    let quotes = [
        ("\"", "'"),
        ("&quot;", "'"),
        ("&quot;", "&#x27;"),
        ("&quot;", "&#39;"),
        ("&quot;", "&#039;"),
        ("&quot;", "&apos;"),
        ("&#34;", "&#39;"),
    ];
    let basic = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    quotes.map(|(double, single)| basic.replace('"', double).replace('\'', single)).to_vec()
}

/// A value inside of the quotes of a literal of Python: as text, as ASCII, as bytes.
fn python_escaped(value: &str) -> Vec<String> {
    let has_both = value.contains('\'') && value.contains('"');
    let common = |character: char, out: &mut String| match character {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\'' if has_both => out.push_str("\\'"),
        other if other < ' ' || other == '\u{7f}' => {
            let _ = write!(out, "\\x{:02x}", u32::from(other));
        }
        other => out.push(other),
    };
    let (mut text, mut ascii, mut bytes) = (String::new(), String::new(), String::new());
    for character in value.chars() {
        common(character, &mut text);
        match u32::from(character) {
            0..0x80 => common(character, &mut ascii),
            code @ 0x80..0x100 => drop(write!(ascii, "\\x{code:02x}")),
            code @ 0x100..0x1_0000 => drop(write!(ascii, "\\u{code:04x}")),
            code => drop(write!(ascii, "\\U{code:08x}")),
        }
    }
    for &byte in value.as_bytes() {
        match byte {
            0x80.. => drop(write!(bytes, "\\x{byte:02x}")),
            _ => common(char::from(byte), &mut bytes),
        }
    }
    vec![text, ascii, bytes]
}

/// A value as shells quote it: with backslashes, in single, double and dollar quotes.
fn shell_quoted(value: &str) -> Vec<String> {
    const SPECIAL: &str = " \t!\"$&'()*,;<>?[\\]^`{|}";
    let mut backslashes = String::new();
    for (at, character) in value.char_indices() {
        let before = value[..at].chars().next_back();
        let is_home = character == '~' && before.is_none_or(|before| matches!(before, ':' | '='));
        if SPECIAL.contains(character) || is_home || (character == '#' && at == 0) {
            backslashes.push('\\');
        }
        backslashes.push(character);
    }
    let mut double = String::new();
    for character in value.chars() {
        if matches!(character, '"' | '$' | '`' | '\\') {
            double.push('\\');
        }
        double.push(character);
    }
    let mut forms = vec![backslashes, double];
    forms.extend(["'\\''", "'\"'\"'"].map(|quote| value.replace('\'', quote)));
    // For bytes that are not to be printed; what those are depends on the locale.
    forms.extend([false, true].map(|ascii| dollar_quoted(value, ascii)));
    forms
}

/// A value inside of `$'…'`.
fn dollar_quoted(value: &str, ascii: bool) -> String {
    let mut out = String::new();
    for character in value.chars() {
        match character {
            '\\' | '\'' => out.extend(['\\', character]),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\E"),
            other if other.is_control() || (ascii && !other.is_ascii()) => {
                for byte in other.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// Bytes as tools print them: in one word; and a short value also in pairs with something between.
fn hexadecimal(value: &[u8]) -> Vec<String> {
    let pairs = |upper: bool| -> Vec<String> {
        let pair = |byte: &u8| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
        value.iter().map(pair).collect()
    };
    let (lower, upper) = (pairs(false), pairs(true));
    let mut forms = vec![lower.concat(), upper.concat()];
    if value.len() <= LONGEST_IN_PAIRS {
        for between in [" ", ":", "\\x"] {
            forms.extend([lower.join(between), upper.join(between)]);
        }
    }
    forms
}

/// The characters of the base64 of any text in which `value` starts `shift` bytes after a group
/// of three, that depend on the value alone.
fn base64_core(value: &[u8], shift: usize, alphabet: &[u8; 64]) -> String {
    let mut out = String::new();
    let mut bits: u32 = 0;
    let mut held = 0;
    for &byte in std::iter::repeat_n(&0, shift).chain(value) {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        while held >= 6 {
            held -= 6;
            out.push(char::from(alphabet[(bits >> held & 0x3f) as usize]));
        }
    }
    // The first characters mix with what comes before; a last partial one was never written.
    let mixed = [0, 2, 3][shift];
    let core = out.get(mixed..).unwrap_or_default();
    if core.len() < SHORTEST_ENCODED { String::new() } else { core.to_owned() }
}

fn url_encoded(value: &str, kept: &str, plus: bool, upper: bool) -> String {
    let mut out = String::with_capacity(value.len());
    for &byte in value.as_bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else if plus && byte == b' ' {
            out.push('+');
        } else if upper {
            let _ = write!(out, "%{byte:02X}");
        } else {
            let _ = write!(out, "%{byte:02x}");
        }
    }
    out
}
