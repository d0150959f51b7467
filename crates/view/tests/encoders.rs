//! Secrets as real programs print them: whatever encodes, quotes, dumps or breaks a value, no run of it is
//! left. The programs decide how the text looks; nothing here repeats what they do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "only functions marked as tests are known to be tests"
)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use umbo_view::mask::{MaskStream, Masker};
use umbo_view::sanitize::sanitize;

/// Prints what each program makes of its standard input, or of its first argument.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("base64", &["base64"]),
    ("base64 narrow", &["base64", "-w", "20"]),
    ("base64 one line", &["base64", "-w", "0"]),
    ("xxd", &["xxd"]),
    ("xxd plain", &["xxd", "-p"]),
    ("xxd upper, bytes", &["xxd", "-u", "-g", "1"]),
    ("xxd narrow", &["xxd", "-c", "5", "-g", "1"]),
    ("hexdump -C", &["hexdump", "-C"]),
    ("hexdump", &["hexdump"]),
    ("hexdump -c", &["hexdump", "-c"]),
    ("od -c", &["od", "-c"]),
    ("od", &["od"]),
    ("od -x", &["od", "-x"]),
    ("od -An -tx1", &["od", "-An", "-v", "-tx1"]),
    ("od -tx1z", &["od", "-tx1z"]),
    ("od -b", &["od", "-b"]),
    ("fold -w 7", &["fold", "-w", "7"]),
    ("fold -w 10", &["fold", "-w", "10"]),
    ("fold -b -w 33", &["fold", "-b", "-w", "33"]),
];

/// What Python's own functions make of a value; one line each, escaped as JSON so that none is lost.
const PYTHON: &str = r"
import base64, html, json, shlex, sys, urllib.parse
text = sys.stdin.buffer.read().decode()
for made in [
    urllib.parse.quote(text), urllib.parse.quote(text, safe=''), urllib.parse.quote_plus(text),
    html.escape(text), html.escape(text, quote=False), repr(text), ascii(text), repr(text.encode()),
    json.dumps(text), json.dumps(json.dumps(text)), shlex.quote(text), '\u200b'.join(text),
    text.encode().hex(), text.encode().hex(' '), text.encode().hex(':'),
    base64.urlsafe_b64encode(text.encode()).decode(), base64.encodebytes(text.encode()).decode(),
]:
    print(json.dumps(made))
";

/// What bash's own quoting makes of a value, each followed by a byte 0.
const BASH: &str = r#"
IFS= read -rd '' value
printf '%q\0' "$value"
printf '%s\0' "${value@Q}" "$(declare -p value)"
"#;

fn run(words: &[&str], input: &str) -> Vec<u8> {
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", words[0]));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{words:?}");
    output.stdout
}

/// Everything that programs make of a value, by name.
fn encodings(value: &str) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut found: Vec<(String, String)> = PROGRAMS
        .iter()
        .map(|(name, words)| ((*name).to_owned(), text(&run(words, value))))
        .collect();
    for (number, line) in text(&run(&["python3", "-c", PYTHON], value)).lines().enumerate() {
        found.push((format!("python {number}"), unescaped(line)));
    }
    let quoted = run(&["bash", "-c", BASH], &format!("{value}\0"));
    let quoted = quoted.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    found.extend(quoted.enumerate().map(|(number, part)| (format!("bash {number}"), text(part))));
    found
}

/// The text of a JSON string without escapes that do not fit into one.
fn unescaped(json: &str) -> String {
    let mut out = String::new();
    let mut units = Vec::new();
    let mut letters = json[1..json.len() - 1].chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next().unwrap() {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'u' => {
                let digits: String = letters.by_ref().take(4).collect();
                units.push(u16::from_str_radix(&digits, 16).unwrap());
                if let Ok(text) = String::from_utf16(&units) {
                    out.push_str(&text);
                    units.clear();
                }
            }
            other => out.push(other),
        }
    }
    out
}

/// Values of many kinds, the same in every run.
fn secrets() -> Vec<String> {
    let alphabets = [
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "abcdefXYZ0123456789+/=_-.",
        "abcXYZ019 !\"#$%&'()*,;<>?@[\\]^`{|}~:=/",
        "abcXYZ09 äöß€✓'\"&<>/%",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).unwrap()
    };
    let mut found = Vec::new();
    for round in 0..16 {
        let letters: Vec<char> = alphabets[round % alphabets.len()].chars().collect();
        let length = 12 + next(40);
        let middle: String = (0..length).map(|_| letters[next(letters.len())]).collect();
        found.push(format!("k{middle}9"));
    }
    found
}

/// Pieces of a text, each so many characters long.
fn windows(text: &str, length: usize) -> impl Iterator<Item = String> {
    let letters: Vec<char> = text.chars().collect();
    let count = letters.len().saturating_sub(length - 1);
    (0..count).map(move |start| letters[start..start + length].iter().collect())
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{200b}').collect()
}

fn streamed(masker: &Masker, text: &str, size: usize) -> String {
    let mut stream = MaskStream::new(masker);
    let letters: Vec<char> = text.chars().collect();
    let pushed: String =
        letters.chunks(size).map(|chunk| stream.push(&chunk.iter().collect::<String>())).collect();
    pushed + &stream.finish()
}

#[test]
fn no_run_of_a_secret_is_left_whatever_program_printed_it() {
    for secret in secrets() {
        let masker = Masker::builder().environment([("X_TOKEN", &secret)]).build().unwrap();
        let around = format!("first {secret} last");
        let alone = encodings(&secret);
        for ((name, whole), (_, alone)) in encodings(&around).into_iter().zip(alone) {
            // It breaks characters apart, which are then none.
            if name.starts_with("fold") && !secret.is_ascii() {
                continue;
            }
            let text = sanitize(format!("before\n{whole}\nafter\n").as_bytes());
            let hidden = masker.mask_text(&text);
            let left = bare(&hidden);
            // The value itself, and in dumps also the column of text.
            for piece in windows(&bare(&secret), 6) {
                assert!(!left.contains(&piece), "{name}: {piece:?} of {secret:?} in\n{hidden}");
            }
            // Its bytes as numbers.
            let hex = secret.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
            for piece in windows(&hex, 10) {
                let is_left = left.to_lowercase().replace(':', "").contains(&piece);
                assert!(!is_left, "{name}: {piece} of {secret:?} in\n{hidden}");
            }
            // What the program alone makes of it, where that does not depend on what is around.
            if !name.contains("base64") && !whole.contains("00000") && !alone.contains('\n') {
                let own = alone.strip_prefix("declare -- value=").unwrap_or(&alone);
                let own = bare(own.trim_matches(['\'', '"', '$']));
                for piece in windows(&own, 12).filter(|piece| bare(&text).contains(piece.as_str()))
                {
                    assert!(!left.contains(&piece), "{name}: {piece:?} in\n{hidden}\nof\n{text}");
                }
            }
            assert!(
                hidden.starts_with("before\n") && hidden.ends_with("after\n"),
                "{name}: {hidden}"
            );
            for size in [1, 7, 61] {
                assert_eq!(streamed(&masker, &text, size), hidden, "{name} in chunks of {size}");
            }
        }
    }
}

#[test]
fn text_without_secrets_is_left_alone_by_all_of_this() {
    let masker = Masker::builder().environment([("X_TOKEN", "k-correct-horse-battery-9")]).build();
    let masker = masker.unwrap();
    for (name, text) in encodings("nothing to see in here, only words of a kind; 1 < 2 && 3 > 2\n")
    {
        let text = sanitize(text.as_bytes());
        assert_eq!(masker.mask_text(&text), text, "{name}");
        assert_eq!(streamed(&masker, &text, 5), text, "{name}");
    }
}
