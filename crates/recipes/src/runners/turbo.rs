//! Turborepo: the tasks of `turbo.json`, which run the scripts of that name in all packages.

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arguments, Kind, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "turbo",
    label: "Turborepo",
    programs: &["node_modules/.bin/turbo", "turbo"],
    get: "npm install --save-dev turbo",
    detect,
};

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let file = scene.folder.first(&["turbo.json", "turbo.jsonc"])?;
    let mut found = Found::by(&file);
    let Some(node) = found.take(scene.folder.tree(&file, Format::Jsonc)) else {
        return Some(found);
    };
    found.beside("the scripts of this name in all packages");
    // The project's own turbo is not on the path; npx finds it.
    let is_local = scene.folder.program("node_modules/.bin/turbo").is_some();
    let program: &[&str] = if is_local { &["npx", "turbo"] } else { &["turbo"] };
    // `pipeline` is the name before version 2.
    let entries = node.get("tasks").or_else(|| node.get("pipeline")).map(Node::entries);
    for entry in entries.unwrap_or_default() {
        let name = entry.key.trim_start_matches("//#");
        let mut argv = program.to_vec();
        argv.extend(["run", name]);
        let depends = entry.node.get("dependsOn").map(Node::texts).unwrap_or_default();
        let task = Task::new(name, Kind::Target, &argv)
            .arguments(Arguments::AfterDashes)
            .depends(depends.into_iter().filter(|name| !name.starts_with(['^', '$'])).collect())
            .source(&file, entry.line);
        found.tasks.push(task);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn the_old_name_of_the_list_is_known() {
        let runner = read(
            "turbo",
            &[(
                "turbo.json",
                r#"{"pipeline": {"build": {"dependsOn": ["^build", "gen"]}, "//#gen": {}}}"#,
            )],
        );
        assert_eq!(runner.tasks[0].depends, ["gen"]);
        assert_eq!(runner.tasks[1].command(), "turbo run gen");
    }
}
