//! The setting that somebody meant.

use umbo_text::{did_you_mean, nearest};

use super::key::KEYS;

/// What to say about a setting that is none: the nearest one, or those of the same last name.
pub(crate) fn setting(name: &str) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let same: Vec<&str> =
        KEYS.iter().map(|key| key.name).filter(|known| last(known) == last(name)).collect();
    if !same.is_empty() {
        return did_you_mean(same);
    }
    match nearest(name, names()).first() {
        Some(known) => did_you_mean([known]),
        None => "; `umbo config show` lists what there is".into(),
    }
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
