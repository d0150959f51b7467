//! What tab completes: commands of the terminal, and paths.

use std::fs;

const COMMANDS: [&str; 13] = [
    "/branch", "/compact", "/cost", "/exit", "/handoff", "/help", "/jobs", "/model", "/new",
    "/quit", "/tree", "/undo", "/",
];
/// As many are offered.
const MOST_OFFERED: usize = 50;

/// What a word can become; the first word of a text may be a command.
pub(super) fn candidates(word: &str, is_first: bool) -> Vec<String> {
    if is_first && word.starts_with('/') && !word[1..].contains('/') {
        let fits = |command: &&&str| command.starts_with(word) && command.len() > 1;
        let commands: Vec<String> =
            COMMANDS.iter().filter(fits).map(|name| format!("{name} ")).collect();
        if !commands.is_empty() {
            return commands;
        }
    }
    let (folder, start) = match word.rfind('/') {
        Some(at) => word.split_at(at + 1),
        None => ("", word),
    };
    let place = if folder.is_empty() { "." } else { folder };
    let mut found: Vec<String> = fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_wanted =
                name.starts_with(start) && (!name.starts_with('.') || start.starts_with('.'));
            let is_folder = entry.path().is_dir();
            is_wanted.then(|| format!("{folder}{name}{}", if is_folder { "/" } else { "" }))
        })
        .take(MOST_OFFERED)
        .collect();
    found.sort();
    found
}

/// What all of them begin with.
pub(super) fn common(found: &[String]) -> String {
    let Some(first) = found.first() else { return String::new() };
    let mut end = first.len();
    for other in &found[1..] {
        let same = first.char_indices().zip(other.chars()).find(|((_, a), b)| a != b);
        end = end.min(same.map_or(other.len(), |((at, _), _)| at));
    }
    first[..first.floor_char_boundary(end)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_paths_are_completed_as_far_as_they_are_the_same() {
        assert_eq!(candidates("/ha", true), ["/handoff "]);
        assert_eq!(common(&candidates("/co", true)), "/co");
        let found = candidates("src/ma", false);
        assert_eq!(found, ["src/main.rs"]);
        assert_eq!(common(&["größe".to_owned(), "grün".to_owned()]), "gr");
        assert_eq!(common(&[]), "");
    }
}
