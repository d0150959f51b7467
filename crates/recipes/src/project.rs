//! What was found in a folder: its runners, each with its tasks and its troubles.

use serde::{Deserialize, Serialize};

use crate::task::{Script, Task, Visibility};

/// Everything detection found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Project {
    /// The runners, in the order of the registration table.
    pub runners: Vec<Runner>,
}

/// One detected runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    /// Its id: `npm`, `cargo`, `just` …
    pub id: String,
    /// Its name for people.
    pub label: String,
    /// Whether its program is there.
    pub program: Program,
    /// The files that gave it away, relative to the project, the manifest first.
    pub evidence: Vec<String>,
    /// Other programs on the path that could run the same manifest.
    pub alternatives: Vec<String>,
    /// What it offers, and what these call.
    pub tasks: Vec<Task>,
    /// What runs with any of its tasks beside the task's own script, or decides what that means:
    /// commands it needs to read its own file, files of others that it loads, an environment it
    /// builds first. Where there is anything, no script tells all.
    pub prelude: Vec<Script>,
    /// What was wrong with its files.
    pub problems: Vec<Problem>,
}

/// Whether a runner's program is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Found at this path.
    Found(String),
    /// Not found.
    Missing {
        /// The name that was looked for.
        name: String,
        /// How to get it.
        get: String,
    },
}

/// Something wrong with a file, told so that a person can go there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The file, relative to the project.
    pub file: String,
    /// The line, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl Problem {
    /// Messages quote manifests and tools, so they are cleaned and cut before anyone reads them.
    pub(crate) fn new(file: &str, line: Option<usize>, message: impl AsRef<str>) -> Self {
        let message = message.as_ref().chars();
        let message = message.map(|c| if is_unsafe_to_show(c) { ' ' } else { c });
        Self { file: file.to_owned(), line, message: message.take(MAX_MESSAGE).collect() }
    }
}

/// The longest message that is kept, in characters.
const MAX_MESSAGE: usize = 600;

/// Control characters, and the marks that make text read in another order than it runs.
pub(crate) fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Project {
    /// The runner with this id.
    pub fn runner(&self, id: &str) -> Option<&Runner> {
        self.runners.iter().find(|runner| runner.id == id)
    }

    /// Every task that can be named, runner by runner.
    pub fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.runners.iter().flat_map(Runner::named)
    }

    /// Every problem, runner by runner.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.runners.iter().flat_map(|runner| &runner.problems)
    }
}

impl Runner {
    /// The task with exactly this name.
    pub fn task(&self, name: &str) -> Option<&Task> {
        self.named().find(|task| task.name == name)
    }

    /// The tasks that can be named.
    pub fn named(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.visibility != Visibility::Internal)
    }

    /// The tasks a list shows.
    pub fn listed(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.visibility == Visibility::Listed)
    }

    /// Whether the program was found.
    pub fn is_available(&self) -> bool {
        matches!(self.program, Program::Found(_))
    }
}
