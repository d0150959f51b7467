//! From a pattern to a matcher, with the repairs that models need.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::SearchRequest;
use crate::Error;

/// A matcher, and the pattern it is for where that is not the one given.
pub(super) struct Pattern {
    pub(super) matcher: RegexMatcher,
    pub(super) repaired: Option<String>,
    pub(super) multiline: bool,
}

impl Pattern {
    /// Compiles the pattern as it is; else with braces that cannot be a repetition taken literally
    /// (`${name}`); else with its parentheses taken literally, if they do not pair (`foo(`).
    pub(super) fn new(request: &SearchRequest) -> Result<Self, Error> {
        let pattern = &request.pattern;
        if pattern.is_empty() {
            return Err(Error::bad("pattern", pattern, "Pattern must not be empty"));
        }
        let multiline = request.multiline.unwrap_or_else(|| {
            pattern.contains('\n') || (!request.literal && pattern.contains("\\n"))
        });
        let compile = |text: &str| build(request, text, multiline);
        let first = match compile(pattern) {
            Ok(matcher) => return Ok(Self { matcher, repaired: None, multiline }),
            Err(error) => error,
        };
        if !request.literal {
            let braces = literal_braces(pattern);
            for repaired in [braces.clone(), literal_parentheses(&braces)] {
                if let Ok(matcher) = compile(&repaired) {
                    return Ok(Self { matcher, repaired: Some(repaired), multiline });
                }
            }
        }
        Err(Error::bad("pattern", pattern, first.to_string()))
    }
}

fn build(
    request: &SearchRequest,
    text: &str,
    multiline: bool,
) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(request.ignore_case)
        .fixed_strings(request.literal)
        .word(request.word)
        .dot_matches_new_line(multiline && request.dot_matches_newline);
    if !multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(text)
}

/// Escapes `{` where no repetition can be meant.
fn literal_braces(pattern: &str) -> String {
    let mut repaired = String::with_capacity(pattern.len());
    let mut rest = pattern;
    let mut class_depth = 0usize;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match character {
            '\\' => {
                length += rest[length..].chars().next().map_or(0, char::len_utf8);
                // `\p{Greek}`, `\x{41}`, `\b{start}`: the brace belongs to the escape.
                if rest[length..].starts_with('{')
                    && let Some(end) = rest[length..].find('}')
                    && rest[1..length].contains(['p', 'P', 'x', 'u', 'U', 'b'])
                {
                    length += end + 1;
                }
            }
            '[' => class_depth += 1,
            ']' => class_depth = class_depth.saturating_sub(1),
            '{' if class_depth == 0 => match repetition(rest) {
                Some(end) if can_repeat(&repaired) => length = end,
                _ => {
                    // Nothing can stand behind the end of a line: in `${name}` the `$` is text too.
                    if repaired.ends_with('$') && !repaired.ends_with("\\$") {
                        repaired.insert(repaired.len() - 1, '\\');
                    }
                    repaired.push('\\');
                }
            },
            _ => {}
        }
        repaired.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    repaired
}

/// The length of `{2}`, `{2,}` or `{2,4}` at the beginning.
fn repetition(text: &str) -> Option<usize> {
    let end = text.find('}')?;
    let inside = &text[1..end];
    let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!low.is_empty() && is_number(low) && is_number(high)).then_some(end + 1)
}

/// Whether something that can be repeated comes before.
fn can_repeat(before: &str) -> bool {
    let is_open = before.ends_with(['(', '|']);
    let is_escaped = before.ends_with("\\(") || before.ends_with("\\|");
    !before.is_empty() && (!is_open || is_escaped)
}

/// Escapes every parenthesis that is not escaped and not in a class.
fn literal_parentheses(pattern: &str) -> String {
    let mut repaired = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => {
                repaired.push('\\');
                repaired.extend(characters.next());
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' | ')' if !in_class => repaired.push('\\'),
            _ => {}
        }
        repaired.push(character);
    }
    repaired
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;

    use super::*;

    fn finds(pattern: &str, text: &str) -> bool {
        let request = SearchRequest { pattern: pattern.to_owned(), ..SearchRequest::default() };
        Pattern::new(&request).unwrap().matcher.is_match(text.as_bytes()).unwrap()
    }

    #[test]
    fn braces_that_repeat_nothing_are_literal() {
        assert!(finds("${platform}", "x ${platform} y"));
        assert!(finds("interface{}", "interface{}"));
        assert!(finds("fn main() {", "fn main {"), "a pair of parentheses is a group");
        assert!(finds("a{2,4}", "aaa") && !finds("^a{2,4}$", "a"));
        assert!(finds("\\p{Greek}{", "\u{3b1}{"));
        assert!(finds("[{]x{", "{x{"));
    }

    #[test]
    fn parentheses_that_do_not_pair_are_literal() {
        assert!(finds("foo(", "call foo(1)"));
        assert!(finds("a) => {", "(a) => {"));
    }

    #[test]
    fn what_cannot_be_repaired_is_an_error_that_names_the_field() {
        let request = SearchRequest { pattern: "a[".to_owned(), ..SearchRequest::default() };
        let error = Pattern::new(&request).err().unwrap().to_string();
        assert!(error.starts_with("pattern: "), "{error}");
    }
}
