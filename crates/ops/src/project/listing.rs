//! What a caller is told about tasks.

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::Outcome;
use umbo_recipes::{Arity, Lifetime, Parameter, Program, Runner, Task};

use super::{Folder, Risks, Runs};

/// A runner of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunnerAnswer {
    /// Its id: `npm`, `cargo`, `just` …
    pub id: String,
    /// Its name for people.
    pub label: Option<String>,
    /// How many tasks it lists.
    pub tasks: usize,
    /// Its program.
    pub program: Option<String>,
    /// The name of its program if that is not installed, and how to get it.
    pub missing: Option<String>,
    /// The files that gave it away, relative to the project, the manifest first.
    pub evidence: Vec<String>,
    /// Other programs that could run the same manifest.
    pub alternatives: Vec<String>,
    /// What is wrong with its files.
    pub problems: Vec<String>,
}

/// One task, with everything there is to know before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskAnswer {
    /// The name that selects it.
    pub name: String,
    /// Its runner.
    pub runner: String,
    /// What will run, without arguments.
    pub command: String,
    /// Where: absolute.
    pub directory: Option<String>,
    /// What it does at worst, with all that it calls.
    pub risk: &'static str,
    /// One line on what it does.
    pub doc: Option<String>,
    /// Its parameters: `name`, `[name]` or `[name=default]` where it may be left out, `name…` where
    /// there may be several, `NAME=` where it is given so.
    pub parameters: Vec<String>,
    /// Where it is written: file and line.
    pub source: Option<String>,
    /// Whether it looks like a server or a watcher.
    pub long_lived: Option<bool>,
    /// How long it may reasonably take.
    pub timeout_seconds: Option<u64>,
    /// How it ended when it last ran.
    pub last_state: Option<&'static str>,
    /// With which code.
    pub last_exit_code: Option<i32>,
    /// After how long.
    pub last_duration_ms: Option<u64>,
    /// What it runs inside, where that is known: its first line.
    #[serde(skip)]
    #[schemars(skip)]
    pub script: Option<String>,
}

impl RunnerAnswer {
    pub(crate) fn new(runner: &Runner) -> Self {
        let (program, missing) = match &runner.program {
            Program::Found(path) => (Some(path.clone()), None),
            Program::Missing { name, get } => (None, Some(format!("{name}: {get}"))),
        };
        Self {
            id: runner.id.clone(),
            label: Some(runner.label.clone()),
            tasks: runner.listed().count(),
            program,
            missing,
            evidence: runner.evidence.clone(),
            alternatives: runner.alternatives.clone(),
            problems: runner.problems.iter().map(ToString::to_string).collect(),
        }
    }
}

impl RunnerAnswer {
    /// What stands in its way.
    pub fn troubles(&self) -> Vec<String> {
        let missing = self.missing.as_ref().map(|missing| {
            let label = self.label.as_ref().unwrap_or(&self.id);
            let (name, get) = missing.split_once(": ").unwrap_or((missing, ""));
            format!("{label} needs {name}, which is not installed; {get}")
        });
        missing.into_iter().chain(self.problems.iter().cloned()).collect()
    }
}

impl TaskAnswer {
    pub(crate) fn new(folder: &Folder, risks: &Risks, runs: &Runs, task: &Task) -> Self {
        let last = runs.last(folder, task);
        let (source, script) = (task.source.as_ref(), task.script.as_ref());
        let millis = |outcome: &Outcome| outcome.duration().as_millis();
        Self {
            name: task.name.clone(),
            runner: task.runner.clone(),
            command: task.command(),
            directory: Some(folder.directory(task).display().to_string()),
            risk: risks.of_task(task).as_str(),
            doc: task.doc.clone(),
            parameters: task.parameters.iter().map(shown).collect(),
            source: source.map(|source| format!("{}:{}", source.file, source.line)),
            long_lived: Some(task.lifetime == Lifetime::LongLived),
            timeout_seconds: task.timeout.seconds(),
            last_state: last.map(|outcome| outcome.end.name()),
            last_exit_code: last.and_then(Outcome::exit_code),
            last_duration_ms: last.map(|last| u64::try_from(millis(last)).unwrap_or(u64::MAX)),
            script: script
                .and_then(|script| Some(script.steps.first()?.lines().next()?.to_owned())),
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
