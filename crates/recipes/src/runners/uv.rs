//! uv: a `pyproject.toml` with `[tool.uv]`, or a `uv.lock`. Its tasks are `[tool.uv.scripts]` and
//! the entry points of `[project.scripts]`, also of every member of `[tool.uv.workspace]`.

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    python::{self, PYPROJECT},
    task::{Kind, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition =
    Definition { id: "uv", label: "uv", programs: &["uv"], get: "pipx install uv", detect };

const LOCK: &str = "uv.lock";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let is_locked = scene.folder.has(LOCK);
    let manifest = match python::pyproject(scene) {
        Ok(manifest) => manifest,
        Err(problem) if is_locked || python::broken_but_mentions(scene, "[tool.uv") => {
            return Some(python::broken(problem));
        }
        Err(_) => return None,
    };
    let is_marked = manifest.as_ref().is_some_and(|node| node.at(&["tool", "uv"]).is_some());
    if !is_locked && !is_marked {
        return None;
    }
    let mut found = Found::default();
    found.evidence.extend(manifest.is_some().then(|| PYPROJECT.to_owned()));
    found.evidence.extend(is_locked.then(|| LOCK.to_owned()));
    let Some(manifest) = manifest else { return Some(found) };
    found.beside(python::ENVIRONMENT);
    found.tasks = tasks(&manifest, PYPROJECT);
    members(scene, &mut found, &manifest);
    Some(found)
}

fn tasks(manifest: &Node, file: &str) -> Vec<Task> {
    let run = ["uv", "run"];
    let own = python::entry_points(manifest, file, &["tool", "uv", "scripts"], Kind::Script, &run);
    let standard = ["project", "scripts"];
    let entries = python::entry_points(manifest, file, &standard, Kind::EntryPoint, &run);
    own.into_iter().chain(entries).collect()
}

fn members(scene: &Scene<'_>, found: &mut Found, manifest: &Node) {
    let Some(workspace) = manifest.at(&["tool", "uv", "workspace"]) else { return };
    let mut patterns = workspace.get("members").map(Node::texts).unwrap_or_default();
    let excluded = workspace.get("exclude").map(Node::texts).unwrap_or_default();
    patterns.extend(excluded.iter().map(|pattern| format!("!{pattern}")));
    let limits = &scene.options.limits;
    let (directories, problems) =
        glob::packages(scene.folder, limits, PYPROJECT, &patterns, &[PYPROJECT]);
    found.problems.extend(problems);
    for directory in directories {
        let file = format!("{directory}/{PYPROJECT}");
        let Some(member) = found.take(scene.folder.tree(&file, Format::Toml)) else { continue };
        let name = member.text_at(&["project", "name"]).unwrap_or(&directory).to_owned();
        let tasks = tasks(&member, &file).into_iter();
        found.tasks.extend(tasks.map(|task| task.within(&name, &directory)));
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn a_lock_file_without_a_manifest_is_enough() {
        let runner = read("uv", &[("uv.lock", "")]);
        assert_eq!(runner.evidence, ["uv.lock"]);
        assert!(runner.tasks.is_empty());
    }
}
