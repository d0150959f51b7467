//! Patterns with `*` and `?`, for words, hosts and paths. Time is bounded by the product of the two
//! lengths, whatever the pattern.

/// Whether a whole text matches: `*` is any text, `?` any character.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some(first) = pattern.find(['*', '?']) else { return pattern == text };
    // What is before the first of them stands for itself, and there most texts differ.
    let (literal, pattern) = pattern.split_at(first);
    let Some(text) = text.strip_prefix(literal) else { return false };
    if pattern == "*" {
        return true;
    }
    if pattern.is_ascii() && text.is_ascii() {
        let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
        return star(pattern, text, |c| *c == b'*', |p, t| *p == b'?' || p == t);
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    star(&pattern, &text, |c| *c == '*', |p, t| *p == '?' || p == t)
}

/// Whether a path matches: `*` and `?` stay within one name, `**` is any number of names, and
/// `directory/**` is also the directory.
pub(crate) fn path_matches(pattern: &str, path: &str) -> bool {
    let names = |text: &str| -> Vec<String> {
        text.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    star(&names(pattern), &names(path), |name| name == "**", |p, t| matches(p, t))
}

/// The names before the first pattern: the directory that every match is in.
pub(crate) fn literal_base(pattern: &str) -> String {
    let names: Vec<&str> =
        pattern.split('/').take_while(|name| !name.contains(['*', '?'])).collect();
    let base = names.join("/");
    if base.is_empty() { "/".to_owned() } else { base }
}

/// Whether a path that has patterns of its own may turn out to be one that matches. A name with
/// brackets or braces may be anything.
pub(crate) fn may_meet(pattern: &str, path: &str) -> bool {
    let names = |text: &str| -> Vec<String> {
        text.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let (pattern, path) = (names(pattern), names(path));
    for (ours, theirs) in pattern.iter().zip(&path) {
        if ours == "**" {
            return true;
        }
        let anything = theirs.contains(['[', '{']);
        if !anything && !matches(ours, theirs) && !matches(theirs, ours) {
            return false;
        }
    }
    let rest = &pattern[path.len().min(pattern.len())..];
    path.len() <= pattern.len() && rest.iter().all(|name| name == "**")
}

/// Matching where one kind of element stands for any number of others: on a mismatch only the last
/// of them has to be widened, so nothing is tried twice over.
fn star<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut widen: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && is_star(&pattern[p]) {
            widen = Some((p + 1, t));
            p += 1;
        } else if p < pattern.len() && same(&pattern[p], &text[t]) {
            p += 1;
            t += 1;
        } else if let Some((after, from)) = widen {
            widen = Some((after, from + 1));
            p = after;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text_within_a_name() {
        for (pattern, text, expected) in [
            ("git", "git", true),
            ("git", "gitk", false),
            ("test:*", "test:unit", true),
            ("*.rs", "main.rs", true),
            ("*.rs", "main.rs.bak", false),
            ("a?c", "abc", true),
            ("*", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbY", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn two_stars_are_any_number_of_names() {
        for (pattern, path, expected) in [
            ("/a/**", "/a/b/c", true),
            ("/a/**", "/a", true),
            ("/a/**", "/ab", false),
            ("/a/*", "/a/b/c", false),
            ("/**/x", "/a/b/x", true),
            ("/**/x/**/y", "/x/q/r/y", true),
            ("/", "/", true),
            ("/", "/etc", false),
            ("/a/b", "/a//b/", true),
        ] {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} {path}");
        }
        assert_eq!(literal_base("/a/b*/c"), "/a");
        assert_eq!(literal_base("/**"), "/");
    }

    proptest::proptest! {
        #[test]
        fn in_any_script_a_pattern_matches_what_its_expression_does(
            pattern in "[ab*?éü]{0,8}",
            text in "[abéü]{0,10}",
        ) {
            let expression = regex::escape(&pattern).replace(r"\*", ".*").replace(r"\?", ".");
            let expression = regex::Regex::new(&format!("^{expression}$")).unwrap();
            proptest::prop_assert_eq!(matches(&pattern, &text), expression.is_match(&text));
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends_quickly() {
        let pattern = "*a".repeat(200);
        assert!(!matches(&pattern, &"a".repeat(199)));
        assert!(!matches(&format!("{pattern}b"), &"a".repeat(20_000)));
    }
}
