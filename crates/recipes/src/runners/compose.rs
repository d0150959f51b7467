//! Docker Compose: the services of the compose file, each started with what it needs.

use umbo_text::quote;

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arguments, Kind, Task},
    tree::{Format, Node, Value},
};

pub(super) const RUNNER: Definition = Definition {
    id: "compose",
    label: "Docker Compose",
    programs: &["docker"],
    get: "install Docker with its compose plugin (https://docs.docker.com/compose/install)",
    detect,
};

/// Names in the order in which Compose looks for them.
const NAMES: [&str; 4] =
    ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let file = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&file);
    let Some(node) = found.take(scene.folder.tree(&file, Format::Yaml)) else { return Some(found) };
    found.beside("a container with its image and its volumes");
    for entry in node.entries_at(&["services"]) {
        let name = entry.key.as_str();
        let service = &entry.node;
        let needs = service.get("depends_on").map(|node| match &node.value {
            Value::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
            _ => node.texts(),
        });
        let task = Task::new(name, Kind::Service, &["docker", "compose", "up", name])
            .arguments(Arguments::Verbatim)
            .doc(service.text_at(&["image"]).map(|image| format!("Start {image}")).as_deref())
            .depends(needs.unwrap_or_default())
            .source(&file, entry.line);
        found.tasks.push(task.shell(service.get("command").map(words)));
    }
    Some(found)
}

fn words(command: &Node) -> String {
    match &command.value {
        Value::List(_) => quote::join(&command.texts()),
        _ => command.text().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::detect::read;

    #[test]
    fn needs_are_read_in_both_forms() {
        let text =
            "services:\n  a: {depends_on: {b: {condition: x}}, command: run me}\n  b: {image: x}\n";
        let runner = read("compose", &[("docker-compose.yml", text)]);
        assert_eq!(runner.tasks[0].depends, ["b"]);
        assert_eq!(runner.tasks[0].script.as_ref().unwrap().text(), "run me");
        assert_eq!(runner.tasks[1].source.as_ref().unwrap().line, 3);
    }
}
