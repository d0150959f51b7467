//! Rake: the tasks of the Rakefile, read line by line with their namespaces. Rake itself would
//! run the file, so it is not asked.

use crate::{
    detect::{Definition, Found, Scene},
    task::{Arguments, Arity, Kind, Language, Parameter, Task},
};

pub(super) const RUNNER: Definition =
    Definition { id: "rake", label: "Rake", programs: &["rake"], get: "gem install rake", detect };

const NAMES: [&str; 4] = ["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"];

fn detect(scene: &Scene<'_>) -> Option<Found> {
    let name = scene.folder.first(&NAMES)?;
    let mut found = Found::by(&name);
    let mut files = vec![name];
    for folder in ["rakelib", "lib/tasks"] {
        let names = scene.folder.list(folder).into_iter();
        let names = names
            .filter(|entry| !entry.is_directory && entry.text.rsplit('.').next() == Some("rake"));
        files.extend(names.map(|entry| format!("{folder}/{}", entry.text)));
    }
    for file in files {
        if let Some(text) = found.take(scene.folder.text(&file)) {
            found.tasks.extend(tasks(&file, &text));
        }
    }
    Some(found)
}

/// What an indented block belongs to.
struct Block {
    indent: usize,
    kind: Opened,
}

enum Opened {
    Namespace(String),
    Task(usize),
}

fn tasks(file: &str, text: &str) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    let mut doc: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        while blocks.last().is_some_and(|block| indent <= block.indent) {
            blocks.pop();
        }
        if let Some(Block { kind: Opened::Task(at), .. }) = blocks.last() {
            if let Some(script) = tasks.get_mut(*at).and_then(|task| task.script.as_mut()) {
                script.steps.push(trimmed.to_owned());
            }
            continue;
        }
        if let Some(rest) = word(trimmed, "desc") {
            doc = rest.split(['"', '\'']).nth(1).map(str::to_owned);
        } else if let Some(name) = word(trimmed, "namespace").and_then(symbol) {
            blocks.push(Block { indent, kind: Opened::Namespace(name.to_owned()) });
        } else {
            let plain = word(trimmed, "task").or_else(|| word(trimmed, "multitask"));
            let Some(name) = plain.and_then(symbol).or_else(|| made(trimmed)) else { continue };
            let rest = plain.unwrap_or_default();
            let spaces = blocks.iter().filter_map(|block| match &block.kind {
                Opened::Namespace(name) => Some(name.as_str()),
                Opened::Task(_) => None,
            });
            let full = spaces.chain([name]).collect::<Vec<_>>().join(":");
            let task = Task::new(&full, Kind::Target, &["rake", &full])
                .arguments(Arguments::Brackets)
                .doc(doc.take().as_deref())
                .source(file, index + 1)
                .parameters(parameters(rest))
                .steps(Language::Other, Vec::new());
            tasks.push(task);
            if trimmed.ends_with("do") || trimmed.ends_with('|') || trimmed.ends_with('{') {
                blocks.push(Block { indent, kind: Opened::Task(tasks.len() - 1) });
            }
        }
    }
    tasks
}

/// The name of a task that a library makes: `Rake::TestTask.new(:unit)`.
fn made(line: &str) -> Option<&str> {
    let usual =
        [("TestTask", "test"), ("RSpec::Core::RakeTask", "spec"), ("RuboCop::RakeTask", "rubocop")];
    let (class, rest) = line.split_once(".new")?;
    let (_, name) = usual.into_iter().find(|(end, _)| class.ends_with(end))?;
    rest.strip_prefix('(')
        .or_else(|| rest.strip_prefix(' ').filter(|r| r.starts_with(':')))
        .and_then(symbol)
        .or(Some(name))
}

/// What follows a word of the language, when the line starts with it.
fn word<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(word)?;
    rest.starts_with([' ', '(', ':', '\'', '"']).then(|| rest.trim_start_matches([' ', '(']))
}

/// A name as `:name`, `"name"` or `name:`.
fn symbol(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || "_-:".contains(c);
    let text = text.trim_start_matches([':', '"', '\'']);
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(':');
    (!name.is_empty()).then_some(name)
}

/// The arguments of `task :name, [:a, :b]`.
fn parameters(rest: &str) -> Vec<Parameter> {
    let Some((before, inner)) = rest.split_once('[') else { return Vec::new() };
    // `task name: [:a]` and `task :name => [:a]` list prerequisites.
    if !before.trim_end().ends_with(',') {
        return Vec::new();
    }
    let inner = inner.split(']').next().unwrap_or_default();
    let names = inner.split(',').filter_map(|part| symbol(part.trim()));
    let parameter = |name: &str| Parameter {
        name: name.to_owned(),
        arity: Arity::Optional,
        default: None,
        doc: None,
    };
    names.map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_docs_and_parameters_are_read() {
        let text = "desc 'Build it'\ntask :build, [:target] => [:clean] do |t, args|\n  sh 'x'\n  task_like 1\nend\n\
                    namespace :db do\n  task migrate: :environment do\n    sh 'y'\n  end\nend\ntask default: [:build]\n";
        let tasks = tasks("Rakefile", text);
        let names: Vec<_> = tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["build", "db:migrate", "default"]);
        assert_eq!(tasks[0].doc.as_deref(), Some("Build it"));
        assert_eq!(tasks[0].parameters[0].name, "target");
        assert!(tasks[2].parameters.is_empty());
        assert_eq!(made("Rake::TestTask.new(:unit) do |t|"), Some("unit"));
        assert_eq!(made("Rake::TestTask.new do |t|"), Some("test"));
        assert_eq!(made("RSpec::Core::RakeTask.new :spec"), Some("spec"));
        assert_eq!(made("x = Foo.new(:bar)"), None);
        assert!(tasks[1].script.as_ref().unwrap().text().contains("sh 'y'"));
    }
}
