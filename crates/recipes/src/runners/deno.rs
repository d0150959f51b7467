//! Deno: the `tasks` of `deno.json` or `deno.jsonc`, and of the members of its `workspace`.

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    task::{Kind, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "deno",
    label: "Deno",
    programs: &["deno"],
    get: "npm install --global deno",
    detect,
};

const NAMES: [&str; 2] = ["deno.json", "deno.jsonc"];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let file = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&file);
    let Some(node) = found.take(scene.folder.tree(&file, Format::Jsonc)) else {
        return Some(found);
    };
    found.tasks = tasks(&file, &node);
    let workspace = node.get("workspace");
    let patterns = workspace.map(|node| node.get("members").unwrap_or(node).texts());
    let patterns = patterns.unwrap_or_default();
    let limits = &scene.options.limits;
    let (directories, problems) = glob::packages(scene.folder, limits, &file, &patterns, &NAMES);
    found.problems.extend(problems);
    for directory in directories {
        let [json, jsonc] = NAMES.map(|name| format!("{directory}/{name}"));
        let file = if scene.folder.has(&json) { json } else { jsonc };
        let Some(member) = found.take(scene.folder.tree(&file, Format::Jsonc)) else { continue };
        let name = member.text_at(&["name"]).unwrap_or(&directory).to_owned();
        let tasks = tasks(&file, &member).into_iter();
        found.tasks.extend(tasks.map(|task| task.within(&name, &directory)));
    }
    Some(found)
}

fn tasks(file: &str, node: &Node) -> Vec<Task> {
    let tasks = node.entries_at(&["tasks"]).iter().map(|entry| {
        let name = entry.key.as_str();
        let inner = &entry.node;
        let command = inner.text().or_else(|| inner.text_at(&["command"]));
        Task::new(name, Kind::Script, &["deno", "task", name])
            .doc(inner.text_at(&["description"]))
            .depends(inner.get("dependencies").map(Node::texts).unwrap_or_default())
            .source(file, entry.line)
            .shell(command)
    });
    tasks.collect()
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn a_task_without_a_command_only_has_dependencies() {
        let text = r#"{"tasks": {"all": {"dependencies": ["a"]}, "a": "x"}}"#;
        let runner = read("deno", &[("deno.json", text)]);
        assert_eq!(runner.tasks[0].depends, ["a"]);
        assert!(runner.tasks[0].script.is_none());
    }
}
