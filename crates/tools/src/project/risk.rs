//! What a task does at worst: its script, what it depends on, what it calls, and what its runner
//! runs beside it. Read with `umbo-command`, which knows shells; this knows runners.

use std::collections::HashMap;
use std::path::Path;

use umbo_command::{Reading, Risk, Shell, SimpleCommand};
use umbo_recipes::{Language, Script, Task};

use super::Folder;
use super::calls::Calls;

/// Directories of a project whose programs its runners find before those of the system.
const OWN_PROGRAMS: [&str; 4] = ["node_modules/.bin", "vendor/bin", ".venv/bin", "venv/bin"];

/// The risk of every task of a folder.
#[derive(Debug)]
pub struct Risks {
    by_task: HashMap<(String, String), Risk>,
}

impl Risks {
    /// Reads every task.
    pub fn of(folder: &Folder) -> Self {
        let tasks: Vec<&Task> =
            folder.project.runners.iter().flat_map(|runner| &runner.tasks).collect();
        let mut own: Vec<Read> = tasks.iter().map(|task| Read::task(folder, task)).collect();
        let mut at = 0;
        for runner in &folder.project.runners {
            let beside = beside(&runner.prelude);
            for read in own.iter_mut().skip(at).take(runner.tasks.len()) {
                read.raise(beside);
            }
            at += runner.tasks.len();
        }
        let callers = callers(&tasks, &mut own);
        let risks = spread(own.iter().map(|read| read.risk).collect(), &callers);
        let key = |task: &Task| (task.runner.clone(), task.name.clone());
        Self { by_task: tasks.iter().map(|task| key(task)).zip(risks).collect() }
    }

    /// The risk of a task of that folder.
    pub fn of_task(&self, task: &Task) -> Risk {
        let key = (task.runner.clone(), task.name.clone());
        self.by_task.get(&key).copied().unwrap_or(Risk::Unknown)
    }
}

/// Who runs each task: those that name it, and those with a command that calls it. What somebody
/// names and nobody knows makes its caller unknown.
fn callers(tasks: &[&Task], own: &mut [Read]) -> Vec<Vec<usize>> {
    let numbered = || tasks.iter().copied().enumerate();
    let mut places: HashMap<(&str, &str), usize> = HashMap::new();
    for (place, task) in numbered() {
        places.entry((&task.runner, &task.name)).or_insert(place);
    }
    let calls = Calls::of(numbered());
    let mut callers = vec![Vec::new(); tasks.len()];
    for ((caller, task), read) in numbered().zip(own) {
        for name in &task.depends {
            match places.get(&(task.runner.as_str(), name.as_str())) {
                Some(place) => callers[*place].push(caller),
                None => read.raise(Risk::Unknown),
            }
        }
        for command in &read.commands {
            for place in calls.by(&task.directory, command) {
                callers[place].push(caller);
            }
        }
    }
    callers
}

/// The worst first, to all who run it, whoever runs those, and so on: each task is reached once.
fn spread(mut risks: Vec<Risk>, callers: &[Vec<usize>]) -> Vec<Risk> {
    for level in [Risk::Dangerous, Risk::Unknown, Risk::Mutate] {
        let mut reached: Vec<usize> =
            (0..risks.len()).filter(|place| risks[*place] == level).collect();
        while let Some(place) = reached.pop() {
            for caller in &callers[place] {
                if risks[*caller] < level {
                    risks[*caller] = level;
                    reached.push(*caller);
                }
            }
        }
    }
    risks
}

/// Whatever runs beside a task, the task's script does not tell all.
fn beside(prelude: &[Script]) -> Risk {
    let risks = prelude.iter().map(|script| Read::script(script).risk);
    risks.fold(Risk::ReadOnly, |worst, risk| worst.and(risk).and(Risk::Unknown))
}

/// What is known of one text.
struct Read {
    risk: Risk,
    commands: Vec<SimpleCommand>,
}

impl Read {
    /// A task by itself.
    fn task(folder: &Folder, task: &Task) -> Self {
        let mut read = match &task.script {
            Some(script) => Self::script(script),
            None => Self::step(&task.command(), Shell::Posix),
        };
        let mut programs = read.commands.iter().filter_map(|command| command.argv.first()?.exact());
        if read.risk < Risk::Unknown
            && programs.any(|program| is_own_program(folder, task, program))
        {
            read.raise(Risk::Unknown);
        }
        read
    }

    fn script(script: &Script) -> Self {
        let (shell, is_exact): (_, fn(&str) -> bool) = match script.language {
            Language::Shell => (Shell::Posix, |_| true),
            // Variables are make's before they are the shell's, and unknown to both readers.
            Language::Make => (Shell::Posix, |step| !step.contains('$')),
            Language::Template => (Shell::Posix, |step| !step.contains("{{")),
            Language::Program => match script.steps.first().and_then(|step| shell_of(step)) {
                Some(shell) => (shell, |step| !step.contains("{{")),
                None => return Self::unknown(),
            },
            Language::Python | Language::Other => return Self::unknown(),
        };
        let mut whole = Self { risk: Risk::ReadOnly, commands: Vec::new() };
        for step in script.steps.iter().filter(|step| !step.trim().is_empty()) {
            let read = Self::step(step, shell);
            whole.raise(read.risk);
            whole.commands.extend(read.commands);
            if !is_exact(step) {
                whole.raise(Risk::Unknown);
            }
        }
        whole
    }

    fn step(text: &str, shell: Shell) -> Self {
        let Reading { risk, commands, .. } = umbo_command::read(text, shell);
        Self { risk, commands }
    }

    fn unknown() -> Self {
        Self { risk: Risk::Unknown, commands: Vec::new() }
    }

    fn raise(&mut self, risk: Risk) {
        self.risk = self.risk.and(risk);
    }
}

/// The shell that a program's first line names.
fn shell_of(program: &str) -> Option<Shell> {
    let line = program.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let name = words.find(|word| *word != "env" && !word.starts_with('-'))?;
    Shell::named(name)
}

/// Whether the project has a program of this name that comes before the system's.
fn is_own_program(folder: &Folder, task: &Task, program: &str) -> bool {
    if program.contains('/') {
        return false;
    }
    let directory = folder.directory(task);
    let inside = directory.ancestors().take_while(|place| place.starts_with(&folder.root));
    let places = inside.flat_map(|place| OWN_PROGRAMS.iter().map(|name| place.join(name)));
    places.into_iter().any(|place: std::path::PathBuf| Path::is_file(&place.join(program)))
}
