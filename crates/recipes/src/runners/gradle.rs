//! Gradle: the usual life-cycle tasks and the tasks the build files register by name, for the
//! root and for the projects of the settings file. Asking Gradle would run the build files, so
//! they are only read.

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arguments, Kind, Task},
};

pub(super) const RUNNER: Definition = Definition {
    id: "gradle",
    label: "Gradle",
    programs: &["./gradlew", "gradle"],
    get: "see https://gradle.org/install, or add the Gradle wrapper to the project",
    detect,
};

const BUILDS: [&str; 2] = ["build.gradle.kts", "build.gradle"];
const SETTINGS: [&str; 2] = ["settings.gradle.kts", "settings.gradle"];

const COMMON: [(&str, &str); 5] = [
    ("build", "Assemble and test"),
    ("assemble", "Build the outputs"),
    ("check", "Run all checks"),
    ("test", "Run the tests"),
    ("clean", "Remove what was built"),
];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let build = scene.folder.first(&BUILDS);
    let settings = scene.folder.first(&SETTINGS);
    if build.is_none() && settings.is_none() {
        return None;
    }
    let mut found = Found::default();
    found.evidence.extend(build.clone());
    found.evidence.extend(settings.clone());
    let program = if scene.folder.program("./gradlew").is_some() { "./gradlew" } else { "gradle" };
    found.tasks = COMMON
        .iter()
        .map(|(name, doc)| Task::new(*name, Kind::Subcommand, &[program, name]).doc(Some(doc)))
        .collect();
    if let Some(file) = build {
        let tasks = registered(scene, &mut found, program, &file, "");
        found.tasks.extend(tasks);
    }
    let text = settings.and_then(|file| found.take(scene.folder.text(&file)));
    for path in text.as_deref().map(included).unwrap_or_default() {
        let directory = path.trim_start_matches(':').replace(':', "/");
        let builds = BUILDS.map(|name| format!("{directory}/{name}"));
        let Some(file) = builds.into_iter().find(|file| scene.folder.has(file)) else { continue };
        let tasks = registered(scene, &mut found, program, &file, path.trim_start_matches(':'));
        found.tasks.extend(tasks);
    }
    found.tasks = found.tasks.into_iter().map(|task| task.arguments(Arguments::Verbatim)).collect();
    Some(found)
}

fn registered(
    scene: &Scene<'_>,
    found: &mut Found,
    program: &str,
    file: &str,
    project: &str,
) -> Vec<Task> {
    let Some(text) = found.take(scene.folder.text(file)) else { return Vec::new() };
    let mut tasks = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(name) = registration(line) else { continue };
        let path = if project.is_empty() { name.to_owned() } else { format!(":{project}:{name}") };
        let mut task = Task::new(name, Kind::Target, &[program, &path]).source(file, index + 1);
        if !project.is_empty() {
            task = task.within(&project.replace(':', "/"), ".");
        }
        task.target = path;
        tasks.push(task);
    }
    tasks
}

/// `task name`, `task("name")`, `tasks.register("name")`, `val name by tasks.registering`.
fn registration(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let quoted = |rest: &'static str| {
        let after = line.strip_prefix(rest).filter(|after| after.starts_with(['(', ' ', '<']))?;
        let after = after
            .trim_start_matches(|c: char| c == '<' || c == '>' || c == '.' || c.is_alphanumeric());
        after.trim_start_matches(['(', ' ']).strip_prefix(['"', '\''])?.split(['"', '\'']).next()
    };
    for start in ["tasks.register", "tasks.create", "task"] {
        if let Some(name) = quoted(start).filter(is_name) {
            return Some(name);
        }
    }
    if let Some(rest) = line.strip_prefix("task ") {
        return rest.split(['(', ' ', '{']).next().filter(is_name);
    }
    let (name, _) = line.strip_prefix("val ")?.split_once(" by tasks.")?;
    Some(name.trim()).filter(is_name)
}

/// The projects of `include 'a', ':b:c'` and `include("a")`.
fn included(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| {
        line.strip_prefix("include").is_some_and(|rest| rest.starts_with(['(', ' ', '\'', '"']))
    });
    let quoted = lines.flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2));
    quoted
        .filter(|path| !path.contains("..") && !path.starts_with('/'))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_registration_are_known() {
        assert_eq!(registration("tasks.register('hello') {"), Some("hello"));
        assert_eq!(registration("tasks.register<Copy>(\"docs\") {"), Some("docs"));
        assert_eq!(registration("task foo(type: Copy) {"), Some("foo"));
        assert_eq!(registration("task(\"bar\") {"), Some("bar"));
        assert_eq!(registration("val baz by tasks.registering {"), Some("baz"));
        assert_eq!(registration("tasks.named('test') {"), None);
        assert_eq!(
            included("include 'a', ':b:c'\ninclude(\"d\")\nincludeBuild 'x'"),
            ["a", ":b:c", "d"]
        );
    }
}
