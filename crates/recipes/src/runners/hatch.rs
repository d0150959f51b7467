//! Hatch: the scripts of `[tool.hatch.envs.*]` or of `hatch.toml`. A script of the default
//! environment runs by its bare name, another as `environment:script`.

use crate::{
    detect::{Definition, Found, Scene},
    python::{self, PYPROJECT},
    task::{Kind, Language, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "hatch",
    label: "Hatch",
    programs: &["hatch"],
    get: "pipx install hatch",
    detect,
};

const OWN: &str = "hatch.toml";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let mut found = Found::default();
    match python::pyproject(scene) {
        Ok(Some(node)) if node.at(&["tool", "hatch"]).is_some() => {
            found.evidence.push(PYPROJECT.to_owned());
            found.tasks = scripts(PYPROJECT, node.at(&["tool", "hatch", "envs"]));
        }
        Err(problem) if python::broken_but_mentions(scene, "[tool.hatch") => {
            return Some(python::broken(problem));
        }
        Ok(_) | Err(_) => {}
    }
    if scene.folder.has(OWN) {
        found.evidence.push(OWN.to_owned());
        if let Some(node) = found.take(scene.folder.tree(OWN, Format::Toml)) {
            found.tasks.extend(scripts(OWN, node.get("envs")));
        }
    }
    found.beside(python::ENVIRONMENT);
    (!found.evidence.is_empty()).then_some(found)
}

fn scripts(file: &str, environments: Option<&Node>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for environment in environments.map(Node::entries).unwrap_or_default() {
        for entry in environment.node.entries_at(&["scripts"]) {
            let name = match environment.key.as_str() {
                "default" => entry.key.clone(),
                other => format!("{other}:{}", entry.key),
            };
            let task = Task::new(&name, Kind::Script, &["hatch", "run", &name])
                .source(file, entry.line)
                .steps(Language::Template, entry.node.texts());
            tasks.push(task);
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn a_file_of_its_own_is_read_too() {
        let runner = read("hatch", &[("hatch.toml", "[envs.docs.scripts]\nbuild = 'x'\n")]);
        assert_eq!(runner.tasks[0].command(), "hatch run docs:build");
    }
}
