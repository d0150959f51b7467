//! Composer: the `scripts` of `composer.json`, without those Composer calls itself at its events.

use crate::{
    detect::{Definition, Found, Scene},
    project::Problem,
    task::{Arguments, Kind, Language, Task, Visibility},
    tree::Format,
};

pub(super) const RUNNER: Definition = Definition {
    id: "composer",
    label: "Composer",
    programs: &["composer"],
    get: "install composer from the system's packages (apt-get install composer)",
    detect,
};

const MANIFEST: &str = "composer.json";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has(MANIFEST) {
        return None;
    }
    let mut found = Found::by(MANIFEST);
    let Some(node) = found.take(scene.folder.tree(MANIFEST, Format::Json)) else {
        return Some(found);
    };
    found.beside("plugins and the autoloader of the project");
    for entry in node.entries_at(&["scripts"]) {
        let name = entry.key.as_str();
        let steps = entry.node.texts();
        if steps.is_empty() {
            let message = format!("script `{name}` is neither a text nor a list of texts");
            found.problems.push(Problem::new(MANIFEST, Some(entry.line), message));
            continue;
        }
        let called =
            steps.iter().filter_map(|step| step.strip_prefix('@')?.split_whitespace().next());
        let called = called.filter(|name| !matches!(*name, "php" | "composer" | "putenv"));
        let called = called.map(str::to_owned).collect();
        let mut task = Task::new(name, Kind::Script, &["composer", "run-script", name])
            .arguments(Arguments::AfterDashes)
            .doc(node.text_at(&["scripts-descriptions", name]))
            .depends(called)
            .source(MANIFEST, entry.line)
            .steps(Language::Shell, steps);
        if is_event(name) {
            task.visibility = Visibility::Hidden;
        }
        found.tasks.push(task);
    }
    Some(found)
}

/// `post-install-cmd` and its like run by themselves.
fn is_event(name: &str) -> bool {
    (name.starts_with("pre-") || name.starts_with("post-"))
        && [
            "-cmd",
            "-install",
            "-update",
            "-uninstall",
            "-dump",
            "-run",
            "-exec",
            "-solving",
            "-download",
        ]
        .iter()
        .any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn events_are_hidden_and_odd_scripts_are_told() {
        let text = "{\"scripts\": {\n\"post-update-cmd\": \"x\", \"a\": [\"@php b\", \"@c\"],\n\"odd\": 1}}";
        let runner = read("composer", &[("composer.json", text)]);
        assert_eq!(runner.listed().count(), 1);
        assert_eq!(runner.task("a").unwrap().depends, ["c"]);
        assert_eq!(runner.problems[0].line, Some(3));
    }
}
