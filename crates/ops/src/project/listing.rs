//! What a caller is told about tasks.

use serde::Serialize;
use umbo_engine::Outcome;
use umbo_recipes::{Arity, Lifetime, Parameter, Runner, Task};

use super::{Folder, Risks, Runs};

/// The tasks of a folder.
#[derive(Debug, Serialize)]
pub struct Listing<'a> {
    /// Where they are.
    pub root: String,
    /// The runners, with what is wrong with them.
    #[serde(skip)]
    pub runners: &'a [Runner],
    /// The tasks, runner by runner.
    pub tasks: Vec<Described<'a>>,
}

/// One task, with everything there is to know before it runs.
#[derive(Debug, Serialize)]
pub struct Described<'a> {
    /// The name that selects it.
    pub name: &'a str,
    /// Its runner.
    pub runner: &'a str,
    /// What will run, without arguments.
    pub command: String,
    /// Where: absolute.
    pub directory: String,
    /// What it does at worst, with all that it calls.
    pub risk: &'static str,
    /// One line on what it does.
    pub doc: Option<&'a str>,
    /// What it runs inside, where that is known: its first line.
    #[serde(skip)]
    pub script: Option<&'a str>,
    /// Its parameters: `name`, `[name]` or `[name=default]` where it may be left out, `name…` where
    /// there may be several, `NAME=` where it is given so.
    pub parameters: Vec<String>,
    /// Where it is written: file and line.
    pub source: Option<String>,
    /// Whether it looks like a server or a watcher.
    pub long_lived: bool,
    /// How long it may reasonably take.
    pub timeout_seconds: Option<u64>,
    /// How it ended when it last ran.
    pub last_state: Option<&'static str>,
    /// With which code.
    pub last_exit_code: Option<i32>,
    /// After how long.
    pub last_duration_ms: Option<u128>,
}

impl<'a> Listing<'a> {
    /// The tasks that can be named and that `is_wanted`.
    pub fn new(folder: &'a Folder, runs: &Runs, is_wanted: impl Fn(&Task) -> bool) -> Self {
        let risks = Risks::of(folder);
        let wanted = folder.project.tasks().filter(|task| is_wanted(task));
        Self {
            root: folder.root.display().to_string(),
            runners: &folder.project.runners,
            tasks: wanted.map(|task| Described::new(folder, &risks, runs, task)).collect(),
        }
    }
}

impl<'a> Described<'a> {
    fn new(folder: &Folder, risks: &Risks, runs: &Runs, task: &'a Task) -> Self {
        let last = runs.last(folder, task);
        let (source, script) = (task.source.as_ref(), task.script.as_ref());
        Self {
            name: &task.name,
            runner: &task.runner,
            command: task.command(),
            directory: folder.directory(task).display().to_string(),
            risk: risks.of_task(task).as_str(),
            doc: task.doc.as_deref(),
            script: script.and_then(|script| script.steps.first()?.lines().next()),
            parameters: task.parameters.iter().map(shown).collect(),
            source: source.map(|source| format!("{}:{}", source.file, source.line)),
            long_lived: task.lifetime == Lifetime::LongLived,
            timeout_seconds: task.timeout.seconds(),
            last_state: last.map(|outcome| outcome.end.name()),
            last_exit_code: last.and_then(Outcome::exit_code),
            last_duration_ms: last.map(|outcome| outcome.duration().as_millis()),
        }
    }
}

fn shown(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match (parameter.arity, &parameter.default) {
        (Arity::Required, _) => name.clone(),
        (Arity::Optional, Some(default)) => format!("[{name}={default}]"),
        (Arity::Optional, None) => format!("[{name}]"),
        (Arity::OneOrMore, None) => format!("{name}…"),
        (Arity::OneOrMore | Arity::ZeroOrMore, Some(default)) => format!("[{name}…={default}]"),
        (Arity::ZeroOrMore, None) => format!("[{name}…]"),
        (Arity::Variable, _) => format!("{name}="),
    }
}
