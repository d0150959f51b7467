//! The setting that somebody meant.

use umbo_text::{did_you_mean, distance, nearest};

use super::key::KEYS;

/// What to say about a setting that is none: the nearest one, or those of the same last name.
pub(crate) fn setting(name: &str) -> String {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let settings = || KEYS.iter().map(|key| key.name);
    let same: Vec<&str> = settings()
        .filter(|known| last(known) == last(name) || last(without_unit(known)) == last(name))
        .collect();
    if !same.is_empty() {
        // One in the same table is meant rather than its namesakes.
        let table = |name: &str| name.rsplit_once('.').map(|(table, _)| table.to_owned());
        let beside = same.iter().find(|known| table(known) == table(name) && name.contains('.'));
        return beside.map_or_else(|| did_you_mean(&same), |known| did_you_mean([known]));
    }
    let near = nearest(name, names()).first().copied();
    let by_unit = || settings().find(|known| distance(name, without_unit(known)).is_some());
    match near.or_else(by_unit) {
        Some(known) => did_you_mean([known]),
        None => "; `umbo config show` lists what there is".into(),
    }
}

/// A name without the unit at its end, which nobody remembers.
fn without_unit(name: &str) -> &str {
    ["_secs", "_ms", "_bytes"].iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name)
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
            ("exec.timeout", "; did you mean `exec.timeout_secs`?"),
            ("exec.timeot", "; did you mean `exec.timeout_secs`?"),
            ("colour", "; `umbo config show` lists what there is"),
        ] {
            assert_eq!(setting(wrong), meant, "{wrong}");
        }
        assert!(is_table("tools") && is_table("tools.shell"));
        assert!(!is_table("tools.mode") && !is_table("x"));
    }
}
