//! Patterns that people list, as they write them for JavaScript.
//!
//! A pattern that can match a line end is searched in the whole text, one that cannot in each line by
//! itself. Of the first kind a match may be half there while a log grows: a second pattern, made from the
//! first, finds the text that could become a match. It is only made for patterns that begin with some
//! fixed text; any word could begin a match of the others.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// How long a match inside a line can be and still be found across borders.
const LINE_REACH: usize = 4 * 1024;
/// The same for one that goes over line ends.
const LINES_REACH: usize = 16 * 1024;
/// With so many bytes of fixed text at its beginning, a match that is half there is told from chance.
const TELLING_BYTES: usize = 3;
/// How deep groups are nested in the pattern for beginnings: one for each character of fixed text.
const DEEPEST_PATTERN: u32 = 4_000;
/// The group that a pattern is rewritten to if something is only looked for around the secret.
const SECRET: &str = "umbo_secret";

/// A pattern and how it is searched for.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    regex: Regex,
    /// Whether it can match a line end.
    crosses_lines: bool,
    /// Finds an end of a text that could be the beginning of a match.
    begun: Option<Regex>,
    /// Whether it matches as little as it can.
    is_lazy: bool,
}

/// Why a pattern is refused: the field that is wrong, and what is wrong with it.
type Refused = (&'static str, String);

impl Pattern {
    /// Compiles a pattern with the flags people write after a regex literal.
    pub(super) fn new(pattern: &str, flags: &str) -> Result<Self, Refused> {
        let text = rust_syntax(pattern);
        let (mut builder, mut parser) = (RegexBuilder::new(&text), ParserBuilder::new());
        for flag in flags.chars() {
            match flag {
                'i' => {
                    builder.case_insensitive(true);
                    parser.case_insensitive(true);
                }
                's' => {
                    builder.dot_matches_new_line(true);
                    parser.dot_matches_new_line(true);
                }
                'x' => {
                    builder.ignore_whitespace(true);
                    parser.ignore_whitespace(true);
                }
                // Every match is masked, text is Unicode, and each line begins and ends one, with or
                // without these.
                'm' | 'g' | 'u' | 'd' | 'v' => {}
                other => return Err(("flags", format!("has the unknown flag `{other}`"))),
            }
        }
        let regex = builder.multi_line(true).build().map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => ("content", "is too large a pattern".to_owned()),
            _ => (
                "content",
                "is not a pattern this engine supports (of look-around, only (?<=…) at its \
                 beginning and (?=…) at its end; no back-references)"
                    .to_owned(),
            ),
        })?;
        if regex.is_match("") {
            let why = "matches the empty text, so it would mask everything";
            return Err(("content", why.to_owned()));
        }
        let hir = parser.multi_line(true).build().parse(&text);
        let hir = hir.map_err(|_| ("content", "cannot be read twice the same".to_owned()))?;
        let crosses_lines = has_line_end(&hir);
        let begun = if crosses_lines && begins_with_fixed_text(&hir) {
            let begun = Hir::concat(vec![beginning_of(&hir), Hir::look(Look::End)]);
            let mut builder = RegexBuilder::new(&begun.to_string());
            let begun = builder.nest_limit(DEEPEST_PATTERN).build();
            Some(begun.map_err(|_| ("content", "is too large a pattern".to_owned()))?)
        } else {
            None
        };
        Ok(Self { regex, crosses_lines, begun, is_lazy: is_lazy(&hir) })
    }

    /// How far a match can reach over a border.
    pub(super) fn reach(&self) -> usize {
        if self.crosses_lines { LINES_REACH } else { LINE_REACH }
    }

    /// What it matches in `text`: where it looked from, and the secret.
    pub(super) fn matches(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut found = Vec::new();
        if self.crosses_lines {
            self.search(text, 0, &mut found);
            return found;
        }
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            self.search(line.strip_suffix('\n').unwrap_or(line), start, &mut found);
            start += line.len();
        }
        found
    }

    fn search(&self, text: &str, offset: usize, found: &mut Vec<(usize, Range<usize>)>) {
        let has_group = self.regex.capture_names().flatten().any(|name| name == SECRET);
        if !has_group {
            let all = self.regex.find_iter(text).filter(|found| !found.is_empty());
            found.extend(all.map(|m| (offset + m.start(), offset + m.start()..offset + m.end())));
            return;
        }
        let mut from = 0;
        while let Some(groups) = self.regex.captures_at(text, from) {
            let Some(whole) = groups.get(0) else { break };
            let secret = groups.name(SECRET).unwrap_or(whole);
            if !secret.is_empty() {
                let range = offset + secret.start()..offset + secret.end();
                found.push((offset + whole.start(), range));
            }
            // What was only looked for may belong to the next one.
            let next = secret.end().max(whole.start() + 1);
            from = text.ceil_char_boundary(next);
            if from > text.len() {
                break;
            }
        }
    }

    /// Where an end of `text` begins that more text could make a match.
    pub(super) fn begun(&self, text: &str) -> Option<usize> {
        let begun = self.begun.as_ref()?;
        let mut from = text.floor_char_boundary(text.len().saturating_sub(LINES_REACH));
        if self.is_lazy {
            // What matched as early as it could does not go on, unless the text ends there.
            let matches = self.matches(text);
            let ended = matches.iter().rev().find(|(_, range)| range.end < text.len());
            from = from.max(ended.map_or(0, |(_, range)| range.end));
        }
        let found = begun.find_at(text, from).filter(|found| !found.is_empty())?;
        Some(found.start())
    }
}

/// A pattern of JavaScript in the words of this engine: `[^]` is anything, a bracket inside of a class is
/// a character, and what is only looked for around the secret stands around a group.
fn rust_syntax(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut in_class = false;
    while let Some(first) = rest.chars().next() {
        let taken = if first == '\\' {
            let length = rest.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&rest[..length]);
            length
        } else if !in_class && rest.starts_with("[^]") {
            out.push_str(r"[\s\S]");
            3
        } else {
            match first {
                '[' if in_class => out.push_str(r"\["),
                '&' | '~' if in_class => {
                    out.push('\\');
                    out.push(first);
                }
                _ => out.push(first),
            }
            in_class = match first {
                '[' => true,
                ']' => false,
                _ => in_class,
            };
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    around_secret(&out).unwrap_or(out)
}

/// The same with what is looked for before and after the secret outside of a group.
fn around_secret(pattern: &str) -> Option<String> {
    let groups = top_groups(pattern)?;
    let before = groups.first().filter(|g| g.start == 0 && pattern.starts_with("(?<="));
    let after =
        groups.last().filter(|g| g.end == pattern.len() && pattern[g.start..].starts_with("(?="));
    if before.is_none() && after.is_none() {
        return None;
    }
    let body = before.map_or(0, |group| group.end)..after.map_or(pattern.len(), |g| g.start);
    let inside = |group: &Range<usize>, mark: usize| {
        format!("(?:{})", &pattern[group.start + mark..group.end - 1])
    };
    let before = before.map(|group| inside(group, "(?<=".len())).unwrap_or_default();
    let after = after.map(|group| inside(group, "(?=".len())).unwrap_or_default();
    Some(format!("{before}(?<{SECRET}>{}){after}", pattern.get(body)?))
}

/// The groups of a pattern that are in no other; `None` if it has alternatives there.
fn top_groups(pattern: &str) -> Option<Vec<Range<usize>>> {
    let (mut groups, mut open) = (Vec::new(), Vec::new());
    let (mut in_class, mut is_escaped) = (false, false);
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b']' => in_class = false,
            _ if in_class => {}
            b'[' => in_class = true,
            b'(' => open.push(at),
            b')' => {
                let start = open.pop()?;
                if open.is_empty() {
                    groups.push(start..at + 1);
                }
            }
            b'|' if open.is_empty() => return None,
            _ => {}
        }
    }
    Some(groups)
}

/// Whether a match can have a line end in it.
fn has_line_end(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => has_line_end(&repetition.sub),
        HirKind::Capture(capture) => has_line_end(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_line_end),
    }
}

/// Whether a part of it matches as little as it can.
fn is_lazy(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => !repetition.greedy || is_lazy(&repetition.sub),
        HirKind::Capture(capture) => is_lazy(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(is_lazy),
        _ => false,
    }
}

/// Whether every match begins with some text that is not there by chance.
fn begins_with_fixed_text(hir: &Hir) -> bool {
    let prefixes = Extractor::new().extract(hir);
    prefixes.min_literal_len().is_some_and(|length| length >= TELLING_BYTES)
}

/// A pattern for every beginning of what `hir` matches, the empty one and the whole included.
fn beginning_of(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => {
            // Whole characters, from the last to the first: each only after those before it.
            let text = String::from_utf8_lossy(&literal.0);
            text.chars().rev().fold(Hir::empty(), |rest, character| {
                let character = character.to_string().into_bytes();
                optional(Hir::concat(vec![Hir::literal(character), rest]))
            })
        }
        HirKind::Class(_) => optional(hir.clone()),
        HirKind::Capture(capture) => beginning_of(&capture.sub),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(beginning_of).collect()),
        HirKind::Concat(parts) => {
            let mut parts = parts.iter().rev();
            let last = parts.next().map_or_else(Hir::empty, beginning_of);
            parts.fold(last, |rest, part| {
                let beyond = Hir::concat(vec![without_looks(part), rest]);
                Hir::alternation(vec![beyond, beginning_of(part)])
            })
        }
        HirKind::Repetition(repetition) => {
            let before = Repetition {
                min: 0,
                max: repetition.max.map(|most| most.saturating_sub(1)),
                greedy: true,
                sub: Box::new(without_looks(&repetition.sub)),
            };
            Hir::concat(vec![Hir::repetition(before), beginning_of(&repetition.sub)])
        }
    }
}

fn optional(hir: Hir) -> Hir {
    Hir::repetition(Repetition { min: 0, max: Some(1), greedy: true, sub: Box::new(hir) })
}

/// The same without what only looks: at the end of a text it cannot look far enough.
fn without_looks(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Capture(capture) => without_looks(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_looks).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_looks).collect()),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_looks(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_match_is_found_and_no_other_end() {
        let pattern = Pattern::new(r"-----BEGIN (?:A|BB) KEY-----[\s\S]+?-----END", "").unwrap();
        let text = "-----BEGIN BB KEY-----\nabc\ndef\n-----END";
        for end in 1..text.len() {
            let log = format!("some words\n{}", &text[..end]);
            assert_eq!(pattern.begun(&log), Some(11), "{log:?}");
        }
        for other in ["some words\n", "-----BEGIN CC KEY-----\nabc", "-----BEGIN BB KEY\n"] {
            assert_eq!(pattern.begun(other), None, "{other:?}");
        }
    }

    #[test]
    fn patterns_of_javascript_are_read_as_there() {
        let all = |pattern: &str, flags: &str, text: &str| -> Vec<String> {
            let found = Pattern::new(pattern, flags).unwrap().matches(text);
            found.into_iter().map(|(_, range)| text[range].to_owned()).collect()
        };
        assert_eq!(all(r"<[^]*?>", "", "a <b\nc> d"), ["<b\nc>"]);
        assert_eq!(all(r"k=[[\]&&~~a-z]+", "g", "k=[x]&~y z"), ["k=[x]&~y"]);
        assert_eq!(all(r"(?<=pass=)\w+", "", "pass=abc pass=def"), ["abc", "def"]);
        assert_eq!(all(r"\w+(?=@host)", "i", "joe@HOST ann@host"), ["joe", "ann"]);
        assert_eq!(all(r"(?<=a)\d+(?=a)", "", "a1a2a"), ["1", "2"]);
        assert_eq!(all(r"token\s*=\s*\w+", "", "token =\n  abc"), ["token =\n  abc"]);
        assert_eq!(all("^key: .+$", "", "x\nkey: 1\ny"), ["key: 1"]);
        assert!(Pattern::new(r"(?<!a)b+", "").is_err());
        assert!(Pattern::new(r"(a)\1", "").is_err());
    }
}
