//! Invoke: the functions of `tasks.py` that carry `@task`, found by reading and never by running.
//! Underscores in a name become dashes, as Invoke shows them.

use crate::{
    detect::{Definition, Found, Scene},
    python::{self, Function},
    task::{Arity, Kind, Language, Parameter, Task},
};

pub(super) const RUNNER: Definition = Definition {
    id: "invoke",
    label: "Invoke",
    programs: &["invoke", "inv"],
    get: "pipx install invoke",
    detect,
};

const FILES: [&str; 2] = ["tasks.py", "tasks/__init__.py"];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let file = scene.folder.first(&FILES)?;
    let mut found = Found::by(&file);
    let text = found.take(scene.folder.text(&file));
    // A `tasks.py` of another framework does not import Invoke.
    let text = text.filter(|text| text.lines().any(is_import));
    found.tasks = text.map(|text| tasks(&file, &text)).unwrap_or_default();
    (!found.tasks.is_empty() || !found.problems.is_empty()).then_some(found)
}

fn is_import(line: &str) -> bool {
    let line = line.trim();
    ["from invoke", "import invoke", "from fabric"].iter().any(|start| line.starts_with(start))
}

fn tasks(file: &str, text: &str) -> Vec<Task> {
    let functions = python::decorated(text, &["task", "invoke.task"]).into_iter();
    functions.map(|function| task(file, &function)).collect()
}

fn task(file: &str, function: &Function) -> Task {
    let given = function
        .decoration
        .split_once("name=")
        .and_then(|(_, rest)| rest.split(['"', '\'']).nth(1));
    let name = given.unwrap_or(&function.name).trim_matches('_').replace('_', "-");
    let parameters = function.parameters.iter().filter(|text| !text.starts_with('*')).map(|text| {
        let (name, default) =
            text.split_once('=').map_or((text.as_str(), None), |(n, d)| (n, Some(d.trim())));
        Parameter {
            name: name.split(':').next().unwrap_or(name).trim().to_owned(),
            arity: if default.is_some() { Arity::Optional } else { Arity::Required },
            default: default.map(str::to_owned),
            doc: None,
        }
    });
    Task::new(&name, Kind::Target, &["invoke", &name])
        .doc(function.doc.as_deref())
        .source(file, function.line)
        .parameters(parameters.collect())
        .script(Language::Python, function.body.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_dashes_parameters_and_docs() {
        let text = "from invoke import task\n@task\ndef build_all(c, clean=False, *rest, name: str):\n    '''\n    Build it.\n    '''\n    c.run('x')\n\
                    @task(name=\"other\")\ndef x(c): pass\n";
        let tasks = tasks("tasks.py", text);
        assert_eq!(tasks[0].name, "build-all");
        assert_eq!(tasks[0].doc.as_deref(), Some("Build it."));
        let names: Vec<_> = tasks[0].parameters.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["clean", "name"]);
        assert_eq!(tasks[1].name, "other");
    }
}
