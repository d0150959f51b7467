//! Nx: the targets of every `project.json` of the workspace, as `nx run project:target`. Targets
//! that Nx plugins infer at run time are not known here.

use crate::{
    detect::{Definition, Found, Scene},
    glob,
    task::{Kind, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "nx",
    label: "Nx",
    programs: &["node_modules/.bin/nx", "nx"],
    get: "npm install --save-dev nx",
    detect,
};

const PROJECT: &str = "project.json";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has("nx.json") {
        return None;
    }
    let mut found = Found::by("nx.json");
    found.take(scene.folder.tree("nx.json", Format::Jsonc));
    found.beside("targets that this one depends on by the defaults of nx.json");
    // The project's own nx is not on the path; npx finds it.
    let is_local = scene.folder.program("node_modules/.bin/nx").is_some();
    let program: &[&str] = if is_local { &["npx", "nx"] } else { &["nx"] };
    let patterns = [String::from("**")];
    let limits = &scene.options.limits;
    let (mut directories, problems) =
        glob::packages(scene.folder, limits, "nx.json", &patterns, &[PROJECT]);
    found.problems.extend(problems);
    if scene.folder.has(PROJECT) {
        directories.insert(0, String::from("."));
    }
    for directory in directories {
        let file = glob::joined(&directory, PROJECT);
        let Some(node) = found.take(scene.folder.tree(&file, Format::Jsonc)) else { continue };
        let last = directory.rsplit('/').next().unwrap_or(&directory);
        let project = node.text_at(&["name"]).unwrap_or(last).to_owned();
        found.tasks.extend(tasks(program, &file, &project, &node));
    }
    Some(found)
}

fn tasks(program: &[&str], file: &str, project: &str, node: &Node) -> Vec<Task> {
    let targets = node.entries_at(&["targets"]).iter();
    let tasks = targets.map(|entry| {
        let target = format!("{project}:{}", entry.key);
        let mut argv = program.to_vec();
        argv.extend(["run", &target]);
        let inner = &entry.node;
        let command =
            inner.text_at(&["command"]).or_else(|| inner.text_at(&["options", "command"]));
        // Nx runs from the root of the workspace, whatever the project.
        let mut task = Task::new(&entry.key, Kind::Target, &argv)
            .source(file, entry.line)
            .doc(inner.text_at(&["metadata", "description"]))
            .within(project, ".");
        task.target = target;
        task.shell(command)
    });
    tasks.collect()
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn a_project_without_a_name_has_that_of_its_directory() {
        let files =
            [("nx.json", "{}"), ("apps/shop/project.json", r#"{"targets": {"build": {}}}"#)];
        let runner = read("nx", &files);
        assert_eq!(
            (runner.tasks[0].name.as_str(), runner.tasks[0].command().as_str()),
            ("shop/build", "nx run shop:build")
        );
    }
}
