//! `CMake` presets: the configure, build, test, package and workflow presets of
//! `CMakePresets.json`, `CMakeUserPresets.json` and what they include, without hidden ones.

use std::collections::HashSet;

use crate::{
    detect::{Definition, Found, Scene},
    glob::joined,
    task::{Arguments, Kind, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "cmake",
    label: "CMake",
    programs: &["cmake"],
    get: "pipx install cmake",
    detect,
};

const FILES: [&str; 2] = ["CMakePresets.json", "CMakeUserPresets.json"];

/// More included files than this are an attack.
const MAX_FILES: usize = 64;

/// The list, the word in the task's name, and the command in front of the preset's name.
const LISTS: [(&str, &str, &[&str]); 5] = [
    ("configurePresets", "configure", &["cmake", "--preset"]),
    ("buildPresets", "build", &["cmake", "--build", "--preset"]),
    ("testPresets", "test", &["ctest", "--preset"]),
    ("packagePresets", "package", &["cpack", "--preset"]),
    ("workflowPresets", "workflow", &["cmake", "--workflow", "--preset"]),
];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let present = FILES.iter().filter(|file| scene.folder.has(file));
    let evidence = present.map(ToString::to_string).collect();
    let mut found = Found { evidence, ..Found::default() };
    let mut open = found.evidence.clone();
    open.reverse();
    let mut read = HashSet::new();
    while let Some(file) = open.pop() {
        if read.len() >= MAX_FILES || !read.insert(file.clone()) {
            continue;
        }
        let Some(node) = found.take(scene.folder.tree(&file, Format::Json)) else { continue };
        found.tasks.extend(tasks(&file, &node));
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let included = node.get("include").map(Node::texts).unwrap_or_default();
        let inside = included.iter().filter(|path| {
            !path.starts_with('/')
                && !path.contains('$')
                && !path.split('/').any(|part| part == "..")
        });
        open.extend(inside.map(|path| joined(directory, path.trim_start_matches("./"))));
    }
    (!found.evidence.is_empty()).then_some(found)
}

fn tasks(file: &str, node: &Node) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (list, word, command) in LISTS {
        for preset in node.get(list).map(Node::list).unwrap_or_default() {
            let Some(name) = preset.text_at(&["name"]) else { continue };
            if preset.get("hidden").is_some_and(Node::is_true) {
                continue;
            }
            let mut argv = command.to_vec();
            argv.push(name);
            let doc = preset.text_at(&["description"]).or_else(|| preset.text_at(&["displayName"]));
            let mut task = Task::new(format!("{word}/{name}"), Kind::Preset, &argv)
                .arguments(Arguments::Verbatim)
                .doc(doc)
                .source(file, preset.line);
            name.clone_into(&mut task.target);
            tasks.push(task);
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::read;

    #[test]
    fn each_list_has_its_command() {
        let text = r#"{"packagePresets": [{"name": "p"}], "workflowPresets": [{"name": "w"}], "testPresets": [{"name": "t"}]}"#;
        let runner = read("cmake", &[("CMakePresets.json", text)]);
        let commands: Vec<_> = runner.tasks.iter().map(Task::command).collect();
        assert_eq!(
            commands,
            ["ctest --preset t", "cpack --preset p", "cmake --workflow --preset w"]
        );
    }
}
