//! VS Code: the tasks of `.vscode/tasks.json` that are commands. There is no program to call: the
//! command of the task runs as the editor would run it. Tasks that need the editor (an input, the
//! open file, another extension's task type) are left out.

use umbo_text::quote;

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arguments, Invocation, Kind, Language, Task},
    tree::{Format, Node},
};

pub(super) const RUNNER: Definition = Definition {
    id: "vscode",
    label: "VS Code tasks",
    programs: &["sh"],
    get: "the commands run in a shell",
    detect,
};

const FILE: &str = ".vscode/tasks.json";

fn detect(scene: &Scene<'_>) -> Option<Found> {
    if !scene.folder.has(FILE) {
        return None;
    }
    let mut found = Found::by(FILE);
    let Some(node) = found.take(scene.folder.tree(FILE, Format::Jsonc)) else { return Some(found) };
    let tasks = node.get("tasks").map(Node::list).unwrap_or_default().iter();
    found.tasks = tasks.filter_map(task).collect();
    Some(found)
}

fn task(node: &Node) -> Option<Task> {
    let directory = node.text_at(&["options", "cwd"]).map_or(Some(String::from(".")), relative)?;
    let root = way_up(&directory);
    let invocation = match node.text_at(&["type"]).unwrap_or("process") {
        "npm" => {
            let script = node.text_at(&["script"])?;
            Invocation::Argv(["npm", "run", script].map(str::to_owned).into())
        }
        "shell" => Invocation::Shell(shell(node, &root)?),
        "process" => {
            let mut argv = vec![substituted(word(node.get("command")?)?, &root)?];
            for argument in node.get("args").map(Node::list).unwrap_or_default() {
                argv.push(substituted(word(argument)?, &root)?);
            }
            Invocation::Argv(argv)
        }
        _ => return None,
    };
    let fallback = node.text_at(&["script"]).or_else(|| node.text_at(&["command"]));
    let label = node.text_at(&["label"]).or_else(|| node.text_at(&["taskName"])).or(fallback)?;
    let name = name_of(label);
    let needed = node.get("dependsOn").map(Node::texts).unwrap_or_default();
    let text = invocation.command();
    let is_npm = node.text_at(&["type"]) == Some("npm");
    let mut task = Task::new(name, Kind::Script, &[])
        .arguments(if is_npm { Arguments::AfterDashes } else { Arguments::Append })
        .doc(node.text_at(&["detail"]))
        .depends(needed.iter().map(|label| name_of(label)).collect())
        .source(FILE, node.line)
        .script(Language::Shell, text);
    label.clone_into(&mut task.target);
    task.invocation = invocation;
    task.directory = directory;
    Some(task)
}

/// A label is prose; the first word of an operation must be able to name it.
fn name_of(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join("-")
}

/// A command line: the command as it stands, its arguments quoted where they need it.
fn shell(node: &Node, root: &str) -> Option<String> {
    let mut line = substituted(word(node.get("command")?)?, root)?;
    for argument in node.get("args").map(Node::list).unwrap_or_default() {
        let text = substituted(word(argument)?, root)?;
        line.push(' ');
        line.push_str(&quote::word(&text));
    }
    Some(line)
}

/// A word is a text, or a text with a wish for quotes.
fn word(node: &Node) -> Option<&str> {
    node.text().or_else(|| node.text_at(&["value"]))
}

/// The text with the workspace put in; `None` when it needs the editor.
fn substituted(text: &str, root: &str) -> Option<String> {
    let text = text.replace("${workspaceFolder}", root).replace("${workspaceRoot}", root);
    let text = text.replace("${pathSeparator}", "/").replace("${/}", "/");
    let names = [
        "${file",
        "${input:",
        "${config:",
        "${command:",
        "${selected",
        "${line",
        "${relative",
        "${workspaceFolder",
        "${env:",
        "${execPath",
        "${cwd",
    ];
    (!names.iter().any(|name| text.contains(name))).then_some(text)
}

/// The project as seen from a directory in it.
fn way_up(directory: &str) -> String {
    if directory == "." {
        return String::from(".");
    }
    vec![".."; directory.split('/').count()].join("/")
}

/// A working directory inside the project.
fn relative(text: &str) -> Option<String> {
    let text = substituted(text, ".")?;
    let parts: Vec<&str> =
        text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if text.starts_with('/') || parts.contains(&"..") {
        return None;
    }
    Some(if parts.is_empty() { String::from(".") } else { parts.join("/") })
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn the_workspace_is_seen_from_where_the_task_runs() {
        let text = r#"{"tasks": [{"label": "a", "command": "${workspaceFolder}/x", "options": {"cwd": "${workspaceFolder}/d/e"}},
            {"type": "npm", "script": "build"}]}"#;
        let runner = read("vscode", &[(".vscode/tasks.json", text)]);
        assert_eq!(
            (runner.tasks[0].command().as_str(), runner.tasks[0].directory.as_str()),
            ("../../x", "d/e")
        );
        assert_eq!(
            (runner.tasks[1].name.as_str(), runner.tasks[1].command().as_str()),
            ("build", "npm run build")
        );
    }
}
