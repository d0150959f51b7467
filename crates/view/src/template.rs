//! The template of a line: what stays the same when a program says the same thing again.
//!
//! A line is split into words and signs. Numbers never make a line new: a number, an id in
//! hexadecimal and the digits inside a name count as one symbol. What is left is the line's
//! [`Shape`]. Which of its words are names that change from line to line and which belong to the
//! message is known once the whole log was seen: a word that occurs in enough lines stays, any
//! other is a parameter. Shapes that are equal without their parameters are one template.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Only the beginning of a line is looked at.
pub(crate) const LONGEST_START: usize = 384;
/// The most words and signs of a line that are looked at.
const MOST_MARKS: usize = 64;

/// A word must occur in so many lines to belong to a message.
const LEAST_LINES: u64 = 3;
/// And in one of so many lines of the log.
const LEAST_SHARE: u64 = 200;

/// A word or a sign of a line, by its hash. The lowest bit says whether it is a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Mark(u64);

/// Any number, id or digits.
const NUMBER: Mark = Mark(0);
/// A word that changes from line to line.
const PARAMETER: Mark = Mark(2);
/// White space before the first word.
const INDENT: Mark = Mark(4);

impl Mark {
    fn word(bytes: &[u8]) -> Self {
        Self(hash_name(bytes) | 1)
    }

    fn sign(character: char) -> Self {
        Self((u64::from(u32::from(character)) + 16) << 1)
    }

    pub(crate) fn is_word(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The words and signs of a line, numbers made equal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shape(pub(crate) Vec<Mark>);

impl Shape {
    /// The shape of a clean line.
    pub(crate) fn of(line: &str) -> Self {
        let line = &line[..line.floor_char_boundary(LONGEST_START)];
        let mut marks = Vec::with_capacity(MOST_MARKS);
        let mut rest = line.trim_start_matches([' ', '\t']);
        if rest.len() < line.len() {
            marks.push(INDENT);
        }
        while marks.len() < MOST_MARKS
            && let Some(first) = rest.chars().next()
        {
            let length = if is_word(first) {
                let length = run(rest, is_word);
                push(&mut marks, word(&rest.as_bytes()[..length]));
                length
            } else {
                if !first.is_whitespace() {
                    push(&mut marks, Mark::sign(first));
                }
                run(rest, |character| character == first)
            };
            rest = &rest[length..];
        }
        Self(marks)
    }

    /// Whether it has no mark at all.
    pub(crate) fn is_blank(&self) -> bool {
        self.0.iter().all(|mark| *mark == INDENT)
    }

    /// Whether there is a word in it.
    pub(crate) fn has_words(&self) -> bool {
        self.0.iter().any(|mark| mark.is_word())
    }

    /// How many of its words do not belong to messages.
    pub(crate) fn rare_words(&self, words: &Words) -> u64 {
        let rare = self.0.iter().filter(|mark| mark.is_word() && !words.stays(**mark));
        rare.count() as u64
    }

    /// A key for this shape.
    pub(crate) fn key(&self) -> u64 {
        key(self.0.iter().copied())
    }

    /// A key for its template, the words that `stays` does not know being parameters.
    pub(crate) fn template(&self, words: &Words) -> u64 {
        let is_parameter = |mark: Mark| mark.is_word() && !words.stays(mark);
        key(self.0.iter().map(|&mark| if is_parameter(mark) { PARAMETER } else { mark }))
    }
}

/// Adds a mark; several numbers beside each other are one.
fn push(marks: &mut Vec<Mark>, mark: Mark) {
    if mark != NUMBER || marks.last() != Some(&NUMBER) {
        marks.push(mark);
    }
}

fn key(marks: impl Iterator<Item = Mark>) -> u64 {
    marks.fold(SEED, |hash, mark| mix(hash ^ mark.0))
}

fn is_word(character: char) -> bool {
    match character {
        '\0'..='\x7f' => character.is_ascii_alphanumeric() || character == '_',
        _ => character.is_alphanumeric(),
    }
}

fn run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// The mark of a word: a number, if that is what it is. The codes of messages are names.
fn word(bytes: &[u8]) -> Mark {
    if is_code(bytes) {
        return Mark(bytes.iter().fold(SEED, |hash, &byte| mix(hash ^ u64::from(byte))) | 1);
    }
    let has_digits = bytes.iter().any(u8::is_ascii_digit);
    let is_number = bytes.first().is_some_and(u8::is_ascii_digit)
        || (has_digits && bytes.len() >= 6 && bytes.iter().all(u8::is_ascii_hexdigit));
    if is_number { NUMBER } else { Mark::word(bytes) }
}

/// Whether it is the code of a message: `E0277`, `F821`, `TS2322`.
fn is_code(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let digits = &bytes[letters..];
    (1..=6).contains(&letters)
        && (2..=5).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
}

const SEED: u64 = 0x51_7c_c1_b7_27_22_0a_95;

fn mix(hash: u64) -> u64 {
    let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// The hash of a name, runs of digits being equal.
fn hash_name(bytes: &[u8]) -> u64 {
    let mut hash = SEED;
    let mut in_digits = false;
    for &byte in bytes {
        let is_digit = byte.is_ascii_digit();
        if !(is_digit && in_digits) {
            hash = mix(hash ^ u64::from(if is_digit { b'0' } else { byte }));
        }
        in_digits = is_digit;
    }
    hash
}

/// A quick key for the beginning of a raw line: equal keys mean equal shapes. Digits are equal, so
/// that a line with other numbers in it is known at first sight.
pub(crate) fn first_sight(line: &[u8]) -> u64 {
    let line = &line[..line.len().min(LONGEST_START)];
    let mut hash = SEED ^ line.len() as u64;
    let mut follows = 0;
    let mut chunks = line.chunks_exact(8);
    for chunk in &mut chunks {
        let bytes = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        hash = mix(hash ^ equal_digits(bytes, &mut follows));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(hash ^ equal_digits(u64::from_le_bytes(last), &mut follows))
}

const EVERY: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EVERY;

/// For each of eight bytes, one if it lies in `first..=last`.
const fn between(bytes: u64, first: u8, last: u8) -> u64 {
    let low = bytes & !HIGH;
    // The high bit of each byte says: at least the first, more than the last.
    let from = low + (0x80 - first as u64) * EVERY;
    let beyond = low + (0x7f - last as u64) * EVERY;
    (from & !beyond & !bytes & HIGH) >> 7
}

/// Eight bytes with digits made zeros, all at once. Digits that follow a capital may be the code of
/// a message and stay; `follows` says of the byte before whether it was one of these.
fn equal_digits(bytes: u64, follows: &mut u64) -> u64 {
    let digits = between(bytes, b'0', b'9');
    let mut stays = between(bytes, b'A', b'Z');
    for _ in 0..7 {
        stays |= ((stays << 8) | *follows) & digits;
    }
    *follows = stays >> 56;
    // A digit differs from '0' in its low four bits only.
    bytes & !((digits & !stays) * 0x0f)
}

/// In how many lines words occur.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    lines: HashMap<u64, u64, BuildHasherDefault<Hashed>>,
    least: u64,
}

impl Words {
    /// Counts the words of shapes that occur so many times each, in a log of `lines` lines.
    pub(crate) fn count<'s>(shapes: impl Iterator<Item = (&'s Shape, u64)>, lines: u64) -> Self {
        let mut words =
            Self { lines: HashMap::default(), least: LEAST_LINES.max(lines / LEAST_SHARE) };
        for (shape, count) in shapes {
            for (index, mark) in shape.0.iter().enumerate() {
                if mark.is_word() && !shape.0[..index].contains(mark) {
                    *words.lines.entry(mark.0).or_default() += count;
                }
            }
        }
        let least = words.least;
        words.lines.retain(|_, lines| *lines >= least);
        words
    }

    /// Whether a word belongs to messages.
    fn stays(&self, word: Mark) -> bool {
        self.lines.contains_key(&word.0)
    }
}

/// A hasher for keys that are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// A map by keys that are hashes already.
pub(crate) type ByKey<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ids_and_digits_never_make_a_line_new() {
        let shape = |line: &str| Shape::of(line);
        for (one, other) in [
            ("10:00:01 job 7 took 12ms", "23:59:59 job 4711 took 3ms"),
            ("commit 3f9ac1d0 by me", "commit 00ffee11 by me"),
            ("test_12 ok", "test_9 ok"),
            ("at 0x7ffe12", "at 0x1"),
            ("[  1%] built", "[100%] built"),
        ] {
            assert_eq!(shape(one), shape(other), "{one} / {other}");
        }
        assert_ne!(shape("job failed"), shape("job passed"));
        assert_ne!(shape("  indented"), shape("indented"));
        assert!(shape("   ").is_blank() && shape("").is_blank());
    }

    #[test]
    fn names_that_change_are_parameters_and_words_that_stay_are_not() {
        let lines: Vec<Shape> = ["alpha", "beta", "gamma", "delta"]
            .iter()
            .flat_map(|name| [format!("test {name} ... ok"), format!("test {name}.x ... ok")])
            .map(|line| Shape::of(&line))
            .collect();
        let words = Words::count(lines.iter().map(|shape| (shape, 1)), 8);
        let template = |line: &str| Shape::of(line).template(&words);
        assert_eq!(template("test alpha ... ok"), template("test delta ... ok"));
        assert_ne!(template("test alpha ... ok"), template("test alpha.x ... ok"));
        assert_ne!(template("test alpha ... ok"), template("test alpha ... broken"));
    }

    #[test]
    fn signs_of_other_scripts_part_words_too() {
        let words = Words::count([(&Shape::of("警告：甲"), 9)].into_iter(), 9);
        let template = |line: &str| Shape::of(line).template(&words);
        assert_ne!(template("警告：甲"), template("错误：甲"));
    }

    #[test]
    fn what_looks_the_same_at_first_sight_is_the_same() {
        assert_eq!(first_sight(b"took 12 ms, 9 left"), first_sight(b"took 98 ms, 0 left"));
        for byte in 0..=u8::MAX {
            let equal = equal_digits(u64::from_le_bytes([byte; 8]), &mut 0).to_le_bytes();
            let expected = if byte.is_ascii_digit() { b'0' } else { byte };
            assert_eq!(equal, [expected; 8], "{byte}");
        }
        assert_ne!(first_sight(b"a1"), first_sight(b"aa"));
        assert_ne!(first_sight(b"a.py:1:1: F401 x"), first_sight(b"a.py:1:1: F821 x"));
        assert_ne!(first_sight(b"error[E0277]"), first_sight(b"error[E0502]"));
        assert_ne!(Shape::of("a.py: F401 x"), Shape::of("a.py: F821 x"));
    }
}
