//! nox: the sessions of `noxfile.py`, found by their decorator and never by running the file.

use crate::{
    detect::{Definition, Found, Scene},
    python,
    task::{Arguments, Kind, Language, Task},
};

pub(super) const RUNNER: Definition =
    Definition { id: "nox", label: "nox", programs: &["nox"], get: "pipx install nox", detect };

const FILE: &str = "noxfile.py";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has(FILE) {
        return None;
    }
    let mut found = Found::by(FILE);
    if let Some(text) = found.take(scene.folder.text(FILE)) {
        found.tasks = tasks(&text);
    }
    Some(found)
}

fn tasks(text: &str) -> Vec<Task> {
    let functions = python::decorated(text, &["nox.session", "session"]).into_iter();
    let tasks = functions.map(|function| {
        let name = renamed(&function.decoration).unwrap_or(&function.name);
        Task::new(name, Kind::Session, &["nox", "-s", name])
            .arguments(Arguments::AfterDashes)
            .doc(function.doc.as_deref())
            .source(FILE, function.line)
            .script(Language::Python, function.body.clone())
    });
    tasks.collect()
}

/// The name given in the decorator.
fn renamed(decoration: &str) -> Option<&str> {
    let (_, rest) = decoration.split_once("name=")?;
    rest.split(['"', '\'']).nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_found_with_their_names_docs_and_bodies() {
        let text = "import nox\n\n@nox.session\ndef lint(session):\n    \"\"\"Check style.\"\"\"\n    session.run('x')\n\n\
                    @nox.session(\n    python=['3.11'],\n    name='unit-tests',\n)\n@nox.parametrize('a', [1])\n\
                    def tests(session, a):\n    pass\n\ndef helper():\n    pass\n";
        let tasks = tasks(text);
        let names: Vec<_> = tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["lint", "unit-tests"]);
        assert_eq!(tasks[0].doc.as_deref(), Some("Check style."));
        assert_eq!(tasks[0].source.as_ref().unwrap().line, 4);
        assert!(tasks[0].script.as_ref().unwrap().text().contains("session.run"));
    }
}
