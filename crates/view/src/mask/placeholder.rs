//! Placeholders and replacements: what stands in the place of a secret.
//!
//! Both are functions of the value and the caller's salt alone, so the same secret looks the same
//! in every view of every process. Two secrets never share a placeholder: the later one moves on
//! to the next free one.

use std::collections::HashMap;
use std::sync::Arc;

const LETTERS: &[u8; 36] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Values learnt from patterns beyond this many are masked without being remembered.
const REMEMBERED: usize = 100_000;

/// The placeholders in use, both ways.
#[derive(Default)]
pub(super) struct Placeholders {
    salt: Vec<u8>,
    by_value: HashMap<Arc<str>, Arc<str>>,
    by_placeholder: HashMap<Arc<str>, Arc<str>>,
    /// What was found by its shape since somebody last asked: placeholders and values.
    found: Vec<(Arc<str>, Arc<str>)>,
}

impl Placeholders {
    pub(super) fn new(salt: &[u8]) -> Self {
        Self { salt: salt.to_vec(), ..Self::default() }
    }

    /// The placeholder of `value`, which it keeps from now on.
    pub(super) fn of(&mut self, value: &str) -> Arc<str> {
        if let Some(known) = self.by_value.get(value) {
            return Arc::clone(known);
        }
        let mut attempt = 0;
        let placeholder = loop {
            let candidate = placeholder(hash(&self.salt, value, attempt));
            if !self.by_placeholder.contains_key(candidate.as_str()) {
                break candidate;
            }
            attempt += 1;
        };
        let placeholder: Arc<str> = placeholder.into();
        if self.by_value.len() < REMEMBERED {
            let value: Arc<str> = value.into();
            self.by_value.insert(Arc::clone(&value), Arc::clone(&placeholder));
            self.by_placeholder.insert(Arc::clone(&placeholder), value);
        }
        placeholder
    }

    /// The same for a value that nobody listed: it was found by its shape.
    pub(super) fn of_found(&mut self, value: &str) -> Arc<str> {
        let is_new = !self.by_value.contains_key(value);
        let placeholder = self.of(value);
        if let Some((value, _)) = self.by_value.get_key_value(value).filter(|_| is_new) {
            self.found.push((Arc::clone(&placeholder), Arc::clone(value)));
        }
        placeholder
    }

    /// What was found by its shape since this was last asked.
    pub(super) fn take_found(&mut self) -> Vec<(Arc<str>, Arc<str>)> {
        std::mem::take(&mut self.found)
    }

    /// Gives a value the placeholder it once had, if both are free.
    pub(super) fn recall(&mut self, placeholder: &str, value: &str) {
        let is_free = !self.by_value.contains_key(value)
            && !self.by_placeholder.contains_key(placeholder)
            && self.by_value.len() < REMEMBERED;
        if is_free {
            let (placeholder, value): (Arc<str>, Arc<str>) = (placeholder.into(), value.into());
            self.by_value.insert(Arc::clone(&value), Arc::clone(&placeholder));
            self.by_placeholder.insert(placeholder, value);
        }
    }

    /// The value behind a placeholder.
    pub(super) fn value(&self, placeholder: &str) -> Option<Arc<str>> {
        self.by_placeholder.get(placeholder).cloned()
    }

    /// Text of as many characters as `value`, the same every time.
    pub(super) fn same_length(&self, value: &str) -> String {
        let mut state = hash(&self.salt, value, 1);
        let mut out = String::with_capacity(value.len());
        for _ in value.chars() {
            state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
            out.push(letter(state));
        }
        if out == value { "*".repeat(value.chars().count()) } else { out }
    }
}

/// `text` with every placeholder turned back into its value.
pub(super) fn restore(text: &str, placeholders: &Placeholders) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'#', &text.as_bytes()[at..]) {
        let start = at + found;
        let value = text.get(start..start + 6).and_then(|six| placeholders.value(six));
        if let Some(value) = value {
            out.push_str(&text[copied..start]);
            out.push_str(&value);
            copied = start + 6;
            at = copied;
        } else {
            at = start + 1;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether `text` has something in it that looks like a placeholder and stands for nothing.
pub(super) fn has_unknown(text: &str, placeholders: &Placeholders) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    text.as_bytes().windows(6).enumerate().any(|(at, six)| {
        let is_one = six[0] == b'#' && six[5] == b'#' && six[1..5].iter().all(is_letter);
        is_one && text.get(at..at + 6).is_some_and(|six| placeholders.value(six).is_none())
    })
}

fn placeholder(mut seed: u64) -> String {
    let mut out = String::with_capacity(6);
    out.push('#');
    for _ in 0..4 {
        out.push(letter(seed));
        seed /= 36;
    }
    out.push('#');
    out
}

fn letter(seed: u64) -> char {
    char::from(LETTERS[usize::try_from(seed % 36).unwrap_or_default()])
}

/// FNV-1a over salt, attempt and value, then mixed. Four letters keep 20 bits of it, so it is no
/// way back to the value.
fn hash(salt: &[u8], value: &str, attempt: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    let attempt = attempt.to_le_bytes();
    let bytes = salt.iter().chain(&attempt).copied().chain(value.bytes());
    mix(bytes.fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
}

fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
