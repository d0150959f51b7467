//! The name that somebody meant.

use super::key::KEYS;

/// What to say about a setting that is none: the nearest one, or those of the same last name.
pub(crate) fn setting(name: &str) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let same: Vec<&str> =
        KEYS.iter().map(|key| key.name).filter(|known| last(known) == last(name)).collect();
    if !same.is_empty() {
        return format!("; did you mean {}?", list(&same, " or "));
    }
    match nearest(name, names()) {
        Some(known) => format!("; did you mean `{known}`?"),
        None => "; `umbo config show` lists what there is".into(),
    }
}

/// The nearest of some words, if it is near at all.
pub(crate) fn nearest<T: AsRef<str>>(word: &str, known: impl IntoIterator<Item = T>) -> Option<T> {
    // Longer words have no neighbours, and comparing them takes long.
    if word.len() > 100 {
        return None;
    }
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(word, known.as_ref()), known))
        .filter(|(distance, _)| *distance <= 1 + word.chars().count() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// All settings, and the tables they are in.
fn names() -> impl Iterator<Item = &'static str> {
    KEYS.iter().flat_map(|key| {
        let tables = key.name.match_indices('.').map(|(end, _)| &key.name[..end]);
        tables.chain([key.name])
    })
}

/// Whether a name is that of a table with settings in it.
pub(crate) fn is_table(name: &str) -> bool {
    names().any(|known| known == name) && super::key::find(name).is_none()
}

fn list(names: &[&str], between: &str) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_meant() {
        for (wrong, meant) in [
            ("tools.shell.enabeld", "; did you mean `tools.shell.enabled`?"),
            ("tools.shel", "; did you mean `tools.shell`?"),
            ("max_runing", "; did you mean `max_running`?"),
            ("mode", "; did you mean `exec.mode` or `tools.mode` or `agent.mode`?"),
            ("shell.restrict_to_project", "; did you mean `tools.shell.restrict_to_project`?"),
            ("colour", "; `umbo config show` lists what there is"),
        ] {
            assert_eq!(setting(wrong), meant, "{wrong}");
        }
        assert!(is_table("tools") && is_table("tools.shell"));
        assert!(!is_table("tools.mode") && !is_table("x"));
    }
}
