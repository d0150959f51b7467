//! PDM: a `pyproject.toml` with `[tool.pdm]`. `[tool.pdm.scripts]` holds commands, shell lines,
//! Python calls and compositions; the entry `_` only holds settings.

use std::collections::HashSet;

use umbo_text::quote;

use crate::{
    detect::{Definition, Found, Scene},
    python::{self, PYPROJECT},
    task::{Kind, Language, Task},
    tree::{Entry, Node, Value},
};

pub(super) const RUNNER: Definition =
    Definition { id: "pdm", label: "PDM", programs: &["pdm"], get: "pipx install pdm", detect };

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let manifest = match python::pyproject(scene) {
        Ok(manifest) => manifest?,
        Err(problem) if python::broken_but_mentions(scene, "[tool.pdm") => {
            return Some(python::broken(problem));
        }
        Err(_) => return None,
    };
    manifest.at(&["tool", "pdm"])?;
    let mut found = Found::by(PYPROJECT);
    found.beside(python::ENVIRONMENT);
    let scripts = manifest.entries_at(&["tool", "pdm", "scripts"]).iter();
    let names: HashSet<&str> = scripts.clone().map(|entry| entry.key.as_str()).collect();
    let tasks = scripts.filter(|entry| !entry.key.starts_with('_')).map(|entry| {
        let mut task = task(entry);
        let hooks = ["pre", "post"].map(|when| format!("{when}_{}", entry.key));
        task.depends.extend(hooks.into_iter().filter(|hook| names.contains(hook.as_str())));
        task
    });
    found.tasks = tasks.collect();
    Some(found)
}

fn task(entry: &Entry) -> Task {
    let name = entry.key.as_str();
    let task = Task::new(name, Kind::Script, &["pdm", "run", name])
        .source(PYPROJECT, entry.line)
        .doc(entry.node.text_at(&["help"]));
    let node = &entry.node;
    if let Some(text) = node.text().or_else(|| node.text_at(&["shell"])) {
        return task.script(Language::Shell, text);
    }
    if let Some(command) = node.get("cmd") {
        return task.script(Language::Shell, words(command));
    }
    if let Some(call) = node.text_at(&["call"]) {
        return task.script(Language::Python, call);
    }
    let Some(parts) = node.get("composite") else { return task };
    let parts = parts.texts();
    let names = parts.iter().filter_map(|part| part.split_whitespace().next());
    let names = names.map(str::to_owned).collect();
    task.script(Language::Other, parts.join("\n")).depends(names)
}

/// A command as text, or as a list of words.
fn words(node: &Node) -> String {
    match &node.value {
        Value::List(_) => quote::join(&node.texts()),
        _ => node.text().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::read;

    #[test]
    fn settings_are_no_script() {
        let text = "[tool.pdm.scripts]\n_ = {env = {A = '1'}}\na = {call = 'm:f'}\npre_a = 'x'\n";
        let runner = read("pdm", &[("pyproject.toml", text)]);
        assert_eq!(runner.tasks.len(), 2);
        assert_eq!(runner.tasks[0].depends, ["pre_a"]);
        assert_eq!(runner.tasks[0].script.as_ref().unwrap().language, Language::Python);
    }
}
