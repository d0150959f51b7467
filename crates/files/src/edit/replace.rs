//! Edits by text: an old string gives way to a new one.

use serde::{Deserialize, Serialize};

use super::fuzzy;
use crate::Error;
use crate::text;

/// Text that gives way to other text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// The text that is there.
    pub old: String,
    /// The text to be there.
    pub new: String,
    /// Everywhere it occurs; else it must occur once.
    #[serde(default)]
    pub all: bool,
}

/// The text after all replacements, one after the other.
pub(super) fn apply(
    path: &str,
    old: &str,
    edits: &[Replacement],
    warnings: &mut Vec<String>,
) -> Result<String, Error> {
    let mut now = old.to_owned();
    for edit in edits {
        let (wanted, new) = (edit.old.replace("\r\n", "\n"), edit.new.replace("\r\n", "\n"));
        let no_match = |problem: String| Error::NoMatch { path: path.to_owned(), problem };
        if wanted.is_empty() {
            if !now.is_empty() {
                let problem = "the old text is empty; name the text to be replaced".to_owned();
                return Err(no_match(problem));
            }
            now = new;
            continue;
        }
        let places: Vec<usize> = now.match_indices(&wanted).map(|(at, _)| at).collect();
        now = match places.as_slice() {
            [] => {
                let found = fuzzy::replace(&now, &wanted, &new);
                let found = found.map_err(|count| no_match(not_found(&wanted, count)))?;
                warnings.push("the old text was found with other white space or quotes".to_owned());
                found
            }
            [_] => now.replacen(&wanted, &new, 1),
            _ if edit.all => now.replace(&wanted, &new),
            many => {
                let line = |at: &usize| (now[..*at].matches('\n').count() + 1).to_string();
                let lines: Vec<String> = many.iter().take(10).map(line).collect();
                return Err(no_match(format!(
                    "the old text occurs {} times (lines {}); give more of its surroundings, or \
                     replace all",
                    many.len(),
                    lines.join(", ")
                )));
            }
        };
    }
    Ok(now)
}

fn not_found(wanted: &str, count: usize) -> String {
    let first: String =
        text::lines(wanted).first().map_or("", |line| line).chars().take(80).collect();
    match count {
        0 => format!("the old text is not in the file (it begins {first:?}); read the file again"),
        _ => format!(
            "the old text is not in the file, and {count} places are like it; copy one exactly"
        ),
    }
}
