//! Poetry: a `pyproject.toml` with `[tool.poetry]`. Its tasks are the entry points of
//! `[tool.poetry.scripts]` and, since Poetry 2, of `[project.scripts]`.

use crate::{
    detect::{Definition, Found, Scene},
    python::{self, PYPROJECT},
    task::Kind,
};

pub(super) const RUNNER: Definition = Definition {
    id: "poetry",
    label: "Poetry",
    programs: &["poetry"],
    get: "pipx install poetry",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let manifest = match python::pyproject(scene) {
        Ok(manifest) => manifest?,
        Err(problem) if python::broken_but_mentions(scene, "[tool.poetry") => {
            return Some(python::broken(problem));
        }
        Err(_) => return None,
    };
    manifest.at(&["tool", "poetry"])?;
    let mut found = Found::by(PYPROJECT);
    found.beside(python::ENVIRONMENT);
    let run = ["poetry", "run"];
    let scripts = ["tool", "poetry", "scripts"];
    found.tasks = python::entry_points(&manifest, PYPROJECT, &scripts, Kind::Script, &run);
    let standard = ["project", "scripts"];
    found.tasks.extend(python::entry_points(
        &manifest,
        PYPROJECT,
        &standard,
        Kind::EntryPoint,
        &run,
    ));
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::{detect::read, task::Task};

    #[test]
    fn scripts_of_both_places_are_read() {
        let text = "[project.scripts]\nb = 'm:f'\n[tool.poetry.scripts]\na = 'm:f'\nc = {reference = 'm:g', type = 'console'}\n";
        let names: Vec<_> =
            read("poetry", &[("pyproject.toml", text)]).tasks.iter().map(Task::command).collect();
        assert_eq!(names, ["poetry run a", "poetry run c", "poetry run b"]);
    }
}
