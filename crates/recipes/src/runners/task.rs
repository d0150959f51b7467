//! Task: the tasks of `Taskfile.yml` and of the Taskfiles it includes. The YAML is read for
//! commands and parameters, and as the answer when `task` is missing; `task --list-all` decides
//! which tasks there are. Status checks are switched off, so nothing of the project runs.

use std::collections::HashMap;

use crate::{
    detect::{Definition, Found, Scene},
    glob::joined,
    project::Problem,
    task::{Arguments, Arity, Kind, Language, Parameter, Script, Task, Visibility},
    tree::{self, Entry, Format, Node, Value},
};

pub(super) const RUNNER: Definition = Definition {
    id: "task",
    label: "Task",
    programs: &["task", "go-task"],
    get: "npm install --global @go-task/cli, or see https://taskfile.dev",
    detect,
};

const NAMES: [&str; 8] = [
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "taskfile.dist.yml",
    "Taskfile.dist.yaml",
    "taskfile.dist.yaml",
];

/// Deeper includes than this are a loop.
const MAX_DEPTH: usize = 8;

/// A step whose text is made when the task runs.
const UNKNOWN: &str = "{{…}}";

/// More Taskfiles than this, counting repeats, is an attack.
const MAX_FILES: usize = 200;

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let name = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&name);
    let mut reading = Reading {
        scene,
        tasks: Vec::new(),
        prelude: Vec::new(),
        problems: Vec::new(),
        files: 0,
        is_remote: false,
    };
    reading.file(&name, "", 0);
    let is_broken = !reading.problems.is_empty();
    found.problems = reading.problems;
    found.prelude = reading.prelude;
    let written = reading.tasks;
    // A Taskfile that cannot be read gives a better complaint from the reader than from the tool.
    if is_broken {
        found.tasks = written;
        return Some(found);
    }
    // Task would fetch a remote Taskfile to answer.
    if reading.is_remote {
        let message = "an include is remote or computed; its tasks are not listed";
        found.problems.push(Problem::new(&name, None, message));
        found.tasks = written;
        return Some(found);
    }
    let program = if scene.folder.program("task").is_some() { "task" } else { "go-task" };
    let arguments = ["--list-all", "--json", "--no-status"];
    found.tasks = match scene.ask(program, scene.folder.real_root(), &arguments) {
        None => written,
        Some(Ok(answer)) if answer.is_success => {
            match tree::parse(&String::from_utf8_lossy(&answer.stdout), Format::Json) {
                Ok(listed) => merged(scene, &listed, written, &name),
                Err(_) => written,
            }
        }
        // An old release that cannot leave the status checks out is not asked without the flag.
        Some(Ok(answer)) if answer.stderr.contains("unknown flag") => written,
        Some(Ok(answer)) => {
            let message: Vec<&str> = answer.stderr.split_whitespace().collect();
            found.problems.push(Problem::new(&name, None, message.join(" ")));
            Vec::new()
        }
        Some(Err(message)) => {
            found.problems.push(Problem::new(&name, None, message));
            written
        }
    };
    Some(found)
}

fn merged(scene: &Scene<'_>, listed: &Node, written: Vec<Task>, name: &str) -> Vec<Task> {
    let mut written: HashMap<String, Task> =
        written.into_iter().map(|task| (task.name.clone(), task)).collect();
    let listed = listed.get("tasks").map(Node::list).unwrap_or_default();
    let mut tasks = Vec::new();
    for node in listed {
        let Some(full) = node.text_at(&["task"]).or_else(|| node.text_at(&["name"])) else {
            continue;
        };
        // A wildcard needs a value in its name.
        if full.contains('*') {
            continue;
        }
        let place = node.get("location");
        let file = place.and_then(|place| place.text_at(&["taskfile"]));
        let file = file.and_then(|file| scene.folder.relative(file.as_ref()));
        let line = place.and_then(|place| place.get("line")).and_then(|line| match &line.value {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        });
        let doc = ["desc", "summary"]
            .iter()
            .find_map(|key| node.text_at(&[key]).filter(|text| !text.is_empty()));
        // Of two tasks of one name only Task knows which counts: the text must be from its file.
        let is_from =
            |task: &Task| task.source.as_ref().map(|source| &source.file) == file.as_ref();
        let task = written.remove(full).filter(is_from).unwrap_or_else(|| plain(full));
        let task = task.source(file.as_deref().unwrap_or(name), line.unwrap_or(1));
        tasks.push(task.doc(doc));
    }
    tasks.extend(written.into_values().filter(|task| task.visibility == Visibility::Internal));
    tasks
}

fn plain(name: &str) -> Task {
    Task::new(name, Kind::Target, &["task", name]).arguments(Arguments::VariablesThenDashes)
}

struct Reading<'a> {
    scene: &'a Scene<'a>,
    tasks: Vec<Task>,
    prelude: Vec<Script>,
    problems: Vec<Problem>,
    files: usize,
    /// Whether an include cannot be read here.
    is_remote: bool,
}

impl Reading<'_> {
    fn file(&mut self, file: &str, prefix: &str, depth: usize) {
        self.files += 1;
        if depth > MAX_DEPTH || self.files > MAX_FILES {
            self.beside(file);
            return;
        }
        let node = match self.scene.folder.tree(file, Format::Yaml) {
            Ok(Some(node)) => node,
            Ok(None) => {
                self.beside(file);
                return;
            }
            Err(problem) => {
                self.problems.push(problem);
                return;
            }
        };
        let commands = variables(&node).into_iter();
        self.prelude.extend(commands.map(|command| Script::new(Language::Template, command)));
        // Variables for every program, and other rules for the shell.
        for key in ["env", "dotenv", "set", "shopt"] {
            if node.get(key).is_some() {
                self.beside(key);
            }
        }
        for entry in node.entries_at(&["tasks"]) {
            if !entry.key.contains('*') {
                self.tasks.push(task(entry, prefix, file));
            }
        }
        for entry in node.entries_at(&["includes"]) {
            self.include(file, prefix, entry, depth);
        }
    }

    fn beside(&mut self, what: &str) {
        self.prelude.push(Script::new(Language::Other, what));
    }

    fn include(&mut self, file: &str, prefix: &str, entry: &Entry, depth: usize) {
        let node = &entry.node;
        let Some(path) = node.text().or_else(|| node.text_at(&["taskfile"])) else { return };
        let commands = variables(node).into_iter();
        self.prelude.extend(commands.map(|command| Script::new(Language::Template, command)));
        if path.contains("://") || path.contains("{{") || path.contains('@') {
            self.is_remote = true;
            self.beside(path);
            return;
        }
        let is_outside = path.starts_with('/') || path.split('/').any(|part| part == "..");
        if is_outside {
            self.beside(path);
            return;
        }
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        let path = path.trim_start_matches("./").trim_end_matches('/');
        let place = if path.is_empty() || path == "." {
            directory.to_owned()
        } else {
            joined(directory, path)
        };
        let inside = NAMES.map(|name| joined(&place, name));
        let target =
            std::iter::once(place.clone()).chain(inside).find(|file| self.scene.folder.has(file));
        let is_flat = node.get("flatten").is_some_and(Node::is_true);
        let prefix = if is_flat { prefix.to_owned() } else { format!("{prefix}{}:", entry.key) };
        let before = self.tasks.len();
        match target {
            Some(target) => self.file(&target, &prefix, depth + 1),
            None => self.beside(path),
        }
        if node.get("internal").is_some_and(Node::is_true) {
            for task in &mut self.tasks[before..] {
                task.visibility = Visibility::Internal;
            }
        }
    }
}

/// The commands that give variables their values: `X: {sh: …}`.
fn variables(node: &Node) -> Vec<String> {
    let entries = ["vars", "env"].iter().flat_map(|key| node.entries_at(&[key]));
    entries.filter_map(|entry| entry.node.text_at(&["sh"])).map(str::to_owned).collect()
}

fn task(entry: &Entry, prefix: &str, file: &str) -> Task {
    let node = &entry.node;
    let doc = node.text_at(&["desc"]).or_else(|| node.text_at(&["summary"]));
    let commands = node.get("cmds").or_else(|| node.get("cmd")).unwrap_or(node);
    let mut script = commands.texts();
    let mut depends = Vec::new();
    let called = commands.list().iter().chain(node.get("deps").map(Node::list).unwrap_or_default());
    for call in called {
        let steps = ["cmd", "defer", "if"].iter().filter_map(|key| call.text_at(&[key]));
        script.extend(steps.map(str::to_owned));
        let names = [call.text_at(&["task"]), call.text_at(&["defer", "task"])];
        depends.extend(names.into_iter().flatten().map(|name| full_name(prefix, name)));
        script.extend(call.at(&["for"]).map(|_| UNKNOWN.to_owned()));
        script.extend(variables(call));
    }
    // What decides whether it runs is run itself.
    for check in ["preconditions", "status", "if"].iter().filter_map(|key| node.get(key)) {
        script.extend(check.texts());
        let asked = check.list().iter().filter_map(|item| item.text_at(&["sh"]));
        script.extend(asked.map(str::to_owned));
    }
    script.extend(variables(node));
    let changes = ["env", "dotenv", "set", "shopt"].iter().any(|key| node.get(key).is_some());
    script.extend(changes.then(|| UNKNOWN.to_owned()));
    let plain_deps = node.get("deps").map(Node::texts).unwrap_or_default();
    depends.extend(plain_deps.iter().map(|name| full_name(prefix, name)));
    let required = node.at(&["requires", "vars"]).map(Node::list).unwrap_or_default().iter();
    let parameters = required.filter_map(|variable| {
        let name = variable.text().or_else(|| variable.text_at(&["name"]))?;
        Some(Parameter { name: name.to_owned(), arity: Arity::Variable, default: None, doc: None })
    });
    let mut task = plain(&format!("{prefix}{}", entry.key))
        .doc(doc)
        .source(file, entry.line)
        .parameters(parameters.collect())
        .depends(depends);
    if node.get("internal").is_some_and(Node::is_true) {
        task.visibility = Visibility::Internal;
    }
    task.steps(Language::Template, script)
}

/// A name as an included Taskfile calls it: a leading colon means the root.
fn full_name(prefix: &str, name: &str) -> String {
    name.strip_prefix(':').map_or_else(|| format!("{prefix}{name}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use crate::{detect::read, task::Script};

    #[test]
    fn includes_give_prefixes_and_short_forms_are_tasks() {
        let files = [
            (
                "taskfile.yaml",
                "includes: {a: {taskfile: ./a.yml}, b: {taskfile: b, flatten: true}}\ntasks:\n  one: echo 1\n  two: [echo 2, {task: one}]\n",
            ),
            ("a.yml", "tasks: {x: {deps: [y, ':one'], cmds: [{cmd: z}]}, y: {internal: true}}\n"),
            ("b/Taskfile.yml", "tasks: {flat: {cmd: f}}\n"),
        ];
        let runner = read("task", &files);
        let names: Vec<_> = runner.named().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["one", "two", "a:x", "flat"]);
        assert_eq!(runner.tasks[1].depends, ["one"]);
        assert_eq!(runner.tasks[2].depends, ["a:y", "one"]);
        assert_eq!(runner.tasks[2].script.as_ref().unwrap().text(), "z");
    }

    #[test]
    fn commands_of_variables_and_conditions_are_told() {
        let text = "vars: {A: {sh: touch a}}\nincludes: {far: ../far.yml}\ntasks:\n  \
                    one: {vars: {B: {sh: touch b}}, status: [test -e c], \
                    preconditions: [{sh: test -e d}, test -e e], cmds: [{defer: {task: two}}]}\n  \
                    two: {internal: true, cmds: [rm -rf x], env: {PATH: ./bin}}\n";
        let runner = read("task", &[("Taskfile.yml", text)]);
        let told: Vec<_> = runner.prelude.iter().map(Script::text).collect();
        assert_eq!(told, ["touch a", "../far.yml"]);
        let one = runner.task("one").unwrap();
        let steps = &one.script.as_ref().unwrap().steps;
        assert_eq!(*steps, ["test -e e", "test -e d", "test -e c", "touch b"]);
        assert_eq!(one.depends, ["two"]);
        assert!(runner.task("two").is_none(), "only other tasks may call it");
        let two = runner.tasks.iter().find(|task| task.name == "two").unwrap();
        assert_eq!(two.script.as_ref().unwrap().steps, ["rm -rf x", super::UNKNOWN]);
    }
}
