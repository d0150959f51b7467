//! mise: the `[tasks]` of its configuration files and the executable files of its task folders.
//! It is read and not asked, because mise evaluates templates of a trusted configuration.

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arity, Kind, Language, Parameter, Task, Visibility},
    tree::{Entry, Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "mise",
    label: "mise",
    programs: &["mise"],
    get: "npm install --global @jdxcode/mise, or see https://mise.jdx.dev",
    detect,
};

const FILES: [&str; 6] = [
    "mise.toml",
    ".mise.toml",
    "mise/config.toml",
    ".mise/config.toml",
    ".config/mise.toml",
    ".config/mise/config.toml",
];

const FOLDERS: [&str; 5] =
    ["mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks", ".config/mise/tasks"];

/// Deeper folders of tasks than this are not looked into.
const MAX_DEPTH: usize = 4;

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let mut found = Found::default();
    for file in FILES {
        if !scene.folder.has(file) {
            continue;
        }
        found.evidence.push(file.to_owned());
        if let Some(node) = found.take(scene.folder.tree(file, Format::Toml)) {
            let tasks = node.entries_at(&["tasks"]).iter().map(|entry| task(file, entry));
            found.tasks.extend(tasks);
        }
    }
    for folder in FOLDERS {
        let before = found.tasks.len();
        files(scene, &mut found, folder, "", 0);
        if found.tasks.len() > before {
            found.evidence.push(folder.to_owned());
        }
    }
    found.beside("variables, tools and hooks of every configuration from here to the top");
    (!found.evidence.is_empty()).then_some(found)
}

fn task(file: &str, entry: &Entry) -> Task {
    let name = entry.key.as_str();
    let node = &entry.node;
    let run = node.get("run").unwrap_or(node);
    let mut script = run.texts();
    let called = run.list().iter().filter_map(|part| part.text_at(&["task"]));
    let mut depends: Vec<String> = called.map(str::to_owned).collect();
    depends.extend(node.get("depends").map(Node::texts).unwrap_or_default());
    if let Some(path) = node.text_at(&["file"]) {
        script.push(path.to_owned());
    }
    let mut task = Task::new(name, Kind::Script, &["mise", "run", name])
        .doc(node.text_at(&["description"]))
        .source(file, entry.line)
        .parameters(node.text_at(&["usage"]).map(usage).unwrap_or_default())
        .depends(depends);
    if node.get("hide").is_some_and(Node::is_true) {
        task.visibility = Visibility::Hidden;
    }
    if script.is_empty() {
        return task;
    }
    task.steps(Language::Template, script)
}

/// Parameters of a usage text: `arg "<name>" help="…"`.
fn usage(text: &str) -> Vec<Parameter> {
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("arg "));
    let parameters = lines.filter_map(|line| {
        let shown = line.split(['"', '\'']).nth(1)?;
        let is_required = shown.starts_with('<');
        let is_many = shown.contains('…') || shown.contains("...");
        let name = shown.trim_matches(['<', '>', '[', ']', '.', '…']);
        let doc = line.split_once("help=").and_then(|(_, rest)| rest.split('"').nth(1));
        let arity = match (is_required, is_many) {
            (true, false) => Arity::Required,
            (true, true) => Arity::OneOrMore,
            (false, true) => Arity::ZeroOrMore,
            (false, false) => Arity::Optional,
        };
        Some(Parameter { name: name.to_owned(), arity, default: None, doc: doc.map(str::to_owned) })
    });
    parameters.collect()
}

/// Executable files are tasks; a folder's name goes in front with a colon.
fn files(scene: &Scene<'_>, found: &mut Found, folder: &str, prefix: &str, depth: usize) {
    for entry in scene.folder.list(folder) {
        let path = format!("{folder}/{}", entry.text);
        if entry.text.starts_with('.') {
            continue;
        }
        if entry.is_directory {
            if depth < MAX_DEPTH && scene.folder.real_directory(&path).is_some() {
                files(scene, found, &path, &format!("{prefix}{}:", entry.text), depth + 1);
            }
            continue;
        }
        if scene.folder.program(&path).is_none() {
            continue;
        }
        let Some(text) = found.take(scene.folder.text(&path)) else { continue };
        let stem = entry.text.split('.').next().unwrap_or(&entry.text);
        // `_default` stands for its folder.
        let name = match stem {
            "_default" => prefix.trim_end_matches(':').to_owned(),
            stem => format!("{prefix}{stem}"),
        };
        let doc = text.lines().find_map(|line| {
            line.trim_start_matches(['#', '/', ' ', '[', ']'])
                .strip_prefix("MISE")
                .and_then(description)
        });
        let task = Task::new(&name, Kind::Script, &["mise", "run", &name])
            .doc(doc)
            .source(&path, 1)
            .script(Language::Program, &*text);
        found.tasks.push(task);
    }
}

fn description(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("description=")?;
    rest.split(['"', '\'']).nth(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::read;

    #[test]
    fn short_and_long_tasks_are_read() {
        let text = "[tasks]\na = 'echo a'\n[tasks.b]\nrun = [{task = 'a'}, 'echo {{arg()}}']\n";
        let runner = read("mise", &[(".mise.toml", text)]);
        assert_eq!(runner.tasks[0].script.as_ref().unwrap().text(), "echo a");
        assert_eq!(runner.tasks[1].depends, ["a"]);
        assert_eq!(runner.tasks[1].script.as_ref().unwrap().language, Language::Template);
    }
}
