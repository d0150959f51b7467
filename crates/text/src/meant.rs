//! The name that somebody meant: spelt much the same, letter case and punctuation aside.

use std::fmt::Display;

/// Longer words have no neighbours, and comparing them takes long.
const LONGEST_COMPARED_BYTES: usize = 100;

/// How many edits make one name of the other; `None` if that are too many for a slip of the pen.
#[must_use]
pub fn distance(word: &str, name: &str) -> Option<usize> {
    if word.len().max(name.len()) > LONGEST_COMPARED_BYTES {
        return None;
    }
    let (word, name) = (letters(word), letters(name));
    let length = word.chars().count();
    let allowed = 1 + length / 4;
    let difference = length.abs_diff(name.chars().count());
    if word.is_empty() || name.is_empty() || difference > allowed {
        return None;
    }
    Some(strsim::osa_distance(&word, &name)).filter(|edits| *edits <= allowed && *edits < length)
}

/// The names that may be meant by a word, the nearest first; none if none is near.
pub fn nearest<T: AsRef<str>>(word: &str, names: impl IntoIterator<Item = T>) -> Vec<T> {
    let near = names.into_iter().filter_map(|name| Some((distance(word, name.as_ref())?, name)));
    let mut near: Vec<(usize, T)> = near.collect();
    near.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.as_ref().cmp(b.1.as_ref())));
    near.into_iter().map(|(_, name)| name).collect()
}

/// The end of a sentence that says what was meant: "; did you mean `a` or `b`?", or nothing.
#[must_use]
pub fn did_you_mean<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("; did you mean {}?", names.join(" or "))
}

/// What of a name is compared.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_near_and_other_words_are_not() {
        for (word, name) in [
            ("denny", "deny"),
            ("tset", "test"),
            ("instal", "install"),
            ("decison", "decision"),
            ("maxRunning", "max_running"),
            ("build-web", "build:web"),
            ("DENY", "deny"),
        ] {
            assert!(distance(word, name).is_some(), "{word} {name}");
        }
        for (word, name) in
            [("colour", "command"), ("a", "b"), ("", "x"), ("--", "-"), ("ls", "rm")]
        {
            assert_eq!(distance(word, name), None, "{word} {name}");
        }
        assert_eq!(distance(&"x".repeat(101), &"x".repeat(101)), None);
    }

    #[test]
    fn the_nearest_comes_first_and_equals_in_order_of_the_alphabet() {
        assert_eq!(nearest("tests", ["text", "test", "tests"]), ["tests", "test", "text"]);
        assert!(nearest("zzzz", ["test"]).is_empty());
    }

    #[test]
    fn a_hint_names_all_that_may_be_meant() {
        assert_eq!(did_you_mean(["a", "b"]), "; did you mean `a` or `b`?");
        assert_eq!(did_you_mean(None::<&str>), "");
    }
}
