//! tox: the environments of `tox.ini`, `tox.toml`, `[tool.tox]` or `setup.cfg`. Ranges such as
//! `py{311,312}` are expanded as tox expands them.

use std::collections::HashSet;

use crate::{
    detect::{Definition, Found, Scene},
    python::{self, PYPROJECT},
    task::{Arguments, Kind, Language, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition =
    Definition { id: "tox", label: "tox", programs: &["tox"], get: "pipx install tox", detect };

/// More environments than this from one list is an attack.
const MAX_ENVIRONMENTS: usize = 500;

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let mut found = by_files(scene)?;
    found.beside(python::ENVIRONMENT);
    Some(found)
}

fn by_files(scene: &Scene<'_>) -> Option<Found> {
    for file in ["tox.ini", "setup.cfg"] {
        if !scene.folder.has(file) {
            continue;
        }
        let mut found = Found::by(file);
        let text = found.take(scene.folder.text(file));
        let tasks = text.as_deref().map(|text| from_ini(file, text));
        // A `setup.cfg` belongs to many tools.
        if file == "tox.ini" || tasks.as_ref().is_some_and(|tasks| !tasks.is_empty()) {
            found.tasks = tasks.unwrap_or_default();
            return Some(found);
        }
    }
    if let Ok(Some(node)) = python::pyproject(scene)
        && let Some(tox) = node.at(&["tool", "tox"])
    {
        let mut found = Found::by(PYPROJECT);
        found.tasks = match tox.get("legacy_tox_ini").and_then(Node::text) {
            Some(text) => from_ini(PYPROJECT, text),
            None => from_toml(PYPROJECT, tox),
        };
        return Some(found);
    }
    if !scene.folder.has("tox.toml") {
        return None;
    }
    let mut found = Found::by("tox.toml");
    if let Some(node) = found.take(scene.folder.tree("tox.toml", Format::Toml)) {
        found.tasks = from_toml("tox.toml", &node);
    }
    Some(found)
}

fn task(file: &str, line: usize, name: &str) -> Task {
    Task::new(name, Kind::Session, &["tox", "run", "-e", name])
        .arguments(Arguments::AfterDashes)
        .source(file, line)
}

fn from_toml(file: &str, tox: &Node) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for entry in tox.entries_at(&["env"]) {
        let commands = entry.node.get("commands").map(Node::list).unwrap_or_default().iter();
        let steps = commands.map(|command| command.texts().join(" ")).collect();
        let task = task(file, entry.line, &entry.key).doc(entry.node.text_at(&["description"]));
        tasks.push(task.steps(Language::Template, steps));
    }
    let mut known: HashSet<String> = tasks.iter().map(|task| task.name.clone()).collect();
    let listed = tox.get("env_list").or_else(|| tox.get("envlist"));
    for node in listed.map(Node::list).unwrap_or_default() {
        let Some(name) = node.text() else { continue };
        if known.insert(name.to_owned()) {
            tasks.push(task(file, node.line, name));
        }
    }
    tasks
}

fn from_ini(file: &str, text: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let sections = sections(text);
    for section in &sections {
        let Some(name) = section.name.strip_prefix("testenv:") else { continue };
        let mut task = task(file, section.line, name).doc(section.value("description").as_deref());
        if let Some(commands) = section.value("commands") {
            task = task.script(Language::Template, commands);
        }
        tasks.push(task);
    }
    let main = sections.iter().find(|section| matches!(section.name, "tox" | "tox:tox"));
    let Some(main) = main else { return tasks };
    let listed = main.value("envlist").or_else(|| main.value("env_list")).unwrap_or_default();
    let shared = sections.iter().find(|section| section.name == "testenv");
    let script = shared.and_then(|section| section.value("commands"));
    let mut known: HashSet<String> = tasks.iter().map(|task| task.name.clone()).collect();
    for name in listed.lines().flat_map(split_outside_braces).flat_map(|item| expanded(&item)) {
        if !known.insert(name.clone()) {
            continue;
        }
        let task = task(file, main.line, &name);
        tasks.push(match &script {
            Some(script) => task.script(Language::Template, script.clone()),
            None => task,
        });
    }
    tasks
}

struct Section<'a> {
    name: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    /// A value with its indented further lines.
    fn value(&self, key: &str) -> Option<String> {
        let mut lines = self.lines.iter().skip_while(|line| {
            let name = line.split(['=', ':']).next().unwrap_or_default();
            line.starts_with([' ', '\t']) || name.trim() != key
        });
        let first = lines.next()?.split_once(['=', ':'])?.1.trim();
        let rest = lines.take_while(|line| line.starts_with([' ', '\t'])).map(|line| line.trim());
        let all: Vec<&str> =
            std::iter::once(first).chain(rest).filter(|line| !line.is_empty()).collect();
        Some(all.join("\n"))
    }
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with(['#', ';']) || line.trim().is_empty() {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            sections.push(Section { name, line: index + 1, lines: Vec::new() });
        } else if let Some(section) = sections.last_mut() {
            section.lines.push(line);
        }
    }
    sections
}

fn split_outside_braces(line: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_i32;
    for c in line.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' || c.is_whitespace()) && depth <= 0 {
            items.push(String::new());
        } else if let Some(item) = items.last_mut() {
            item.push(c);
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

/// `py{311,312}-{a,b}` in every combination.
fn expanded(item: &str) -> Vec<String> {
    let mut open = vec![item.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        let group = text
            .find('{')
            .and_then(|start| text[start..].find('}').map(|end| (start, start + end)));
        match group {
            Some((start, end)) if open.len() + done.len() < MAX_ENVIRONMENTS => {
                for choice in text[start + 1..end].split(',').rev() {
                    open.push(format!("{}{}{}", &text[..start], choice.trim(), &text[end + 1..]));
                }
            }
            Some(_) => {}
            None => done.push(text),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_listed_expanded_and_described() {
        let text = "[tox]\nenvlist =\n    py{311, 312}-{a,b}\n    lint\n\n[testenv]\ncommands = pytest {posargs}\n\
                    [testenv:lint]\ndescription = Check style\ncommands =\n    ruff check\n    ruff format\n";
        let tasks = from_ini("tox.ini", text);
        let names: Vec<_> = tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["lint", "py311-a", "py311-b", "py312-a", "py312-b"]);
        assert_eq!(tasks[0].doc.as_deref(), Some("Check style"));
        assert_eq!(tasks[0].script.as_ref().unwrap().text(), "ruff check\nruff format");
        assert_eq!(tasks[1].script.as_ref().unwrap().text(), "pytest {posargs}");
        assert_eq!(tasks[0].source.as_ref().unwrap().line, 8);
    }

    #[test]
    fn a_flood_of_combinations_is_bounded() {
        assert!(expanded(&"{a,b}".repeat(60)).len() <= MAX_ENVIRONMENTS);
    }
}
