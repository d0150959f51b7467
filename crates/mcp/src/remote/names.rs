//! Names and words of other servers, as far as models may be told them.

use std::hash::{DefaultHasher, Hash, Hasher};

use umbo_tools::visible;

/// The longest name that every vendor accepts.
const LONGEST_NAME: usize = 64;
/// As much is told of a tool.
const LONGEST_DESCRIPTION: usize = 4096;
/// Letters of the suffix that tells names apart.
const SUFFIX: usize = 8;

/// Whether a server may have this name.
pub fn is_server_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=100).contains(&name.len()) && name.chars().all(is_good)
}

/// The name that models are told.
pub(super) fn wire_name(server: &str, tool: &str) -> String {
    let name = plain(server, tool);
    if name.len() <= LONGEST_NAME { name } else { distinct_name(server, tool) }
}

/// A name for a tool whose usual one is too long, or belongs to another tool.
pub(super) fn distinct_name(server: &str, tool: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (server, tool).hash(&mut hasher);
    let suffix = format!("{:016x}", hasher.finish());
    let mut name = plain(server, tool);
    name.truncate(LONGEST_NAME - SUFFIX - 1);
    format!("{name}_{}", &suffix[..SUFFIX])
}

fn plain(server: &str, tool: &str) -> String {
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("mcp__{server}__{tool}").chars().map(good).collect()
}

/// What a server says about a tool: nothing in it is hidden, and it has an end.
pub(super) fn description(words: Option<&str>) -> String {
    let words = words.unwrap_or_default();
    let end = words.floor_char_boundary(LONGEST_DESCRIPTION);
    let mut text = visible(&words[..end]).into_owned();
    if end < words.len() {
        text.push_str(" …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_every_vendor_accepts() {
        assert_eq!(wire_name("git.hub", "create issue"), "mcp__git_hub__create_issue");
        let long = "x".repeat(200);
        for (server, tool) in [("a", long.as_str()), (&long[..100], "ü😀"), ("", "")] {
            for name in [wire_name(server, tool), distinct_name(server, tool)] {
                assert!(name.len() <= LONGEST_NAME, "{name}");
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
            }
        }
        assert_ne!(distinct_name("a", "b.c"), distinct_name("a", "b c"));
        assert_ne!(wire_name("a", &format!("{long}1")), wire_name("a", &format!("{long}2")));
    }

    #[test]
    fn servers_have_names_of_letters() {
        for good in ["a", "git-hub_1.x", &"x".repeat(100)] {
            assert!(is_server_name(good), "{good}");
        }
        for bad in ["", "a b", "a/b", "ä", &"x".repeat(101)] {
            assert!(!is_server_name(bad), "{bad}");
        }
    }
}
