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
pub(super) fn callers(tasks: &[&Task], own: &mut [Read]) -> Vec<Vec<usize>> {
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
pub(super) struct Read {
    risk: Risk,
    commands: Vec<SimpleCommand>,
}

impl Read {
    /// A task by itself.
    pub(super) fn task(folder: &Folder, task: &Task) -> Self {
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
pub(super) fn shell_of(program: &str) -> Option<Shell> {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use umbo_recipes::{Asking, Cache, Options};

    use super::*;

    fn folder(files: &[(&str, &str)]) -> (TempDir, Folder) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let options = Options { asking: Asking::Never, ..Options::default() };
        let folder = Folder::open(directory.path(), &options, &Cache::in_memory()).unwrap();
        (directory, folder)
    }

    #[track_caller]
    fn assert_risk(files: &[(&str, &str)], task: &str, risk: Risk) {
        let (_directory, folder) = folder(files);
        let found = folder.project.tasks().find(|found| found.name == task).unwrap();
        assert_eq!(Risks::of(&folder).of_task(found), risk, "{task} of {files:?}");
    }

    #[test]
    fn a_task_is_as_bad_as_what_it_runs() {
        let package = r#"{"scripts": {
            "look": "git status", "build": "rm -rf dist && tsc", "touch": "touch a",
            "ci": "npm run look && npm run build", "short": "yarn touch", "test": "npm test",
            "pretouch": "ls", "hooked": "ls", "posthooked": "rm -rf x",
            "setup": "npm ci", "prepare": "rm -rf y"
        }}"#;
        for (task, risk) in [
            ("look", Risk::ReadOnly),
            ("build", Risk::Dangerous),
            ("touch", Risk::Mutate),
            ("ci", Risk::Dangerous),
            ("test", Risk::Mutate),
            ("hooked", Risk::Dangerous),
            ("setup", Risk::Dangerous),
        ] {
            assert_risk(&[("package.json", package)], task, risk);
        }
        let makefile = ".PHONY: all ci a b\nall: a b\na:\n\tls\nb: a\n\trm -rf x\nci: a\n\tls\n";
        assert_risk(&[("Makefile", makefile)], "all", Risk::Dangerous);
        assert_risk(&[("Makefile", makefile)], "ci", Risk::ReadOnly);
    }

    #[test]
    fn what_a_makefile_runs_by_itself_counts_for_every_target() {
        for (line, risk) in [
            ("V := $(shell git describe)", Risk::Unknown),
            ("V := $(shell rm -rf /tmp/x)", Risk::Dangerous),
            ("V != rm -rf /tmp/x", Risk::Dangerous),
            ("x-$(shell touch y):", Risk::Unknown),
            ("include ../other.mk", Risk::Unknown),
            ("include missing.mk", Risk::Unknown),
            ("export PATH := ./bin", Risk::Unknown),
            ("SHELL := ./sh", Risk::Unknown),
            ("$(T):\n\trm -rf x", Risk::Unknown),
            ("Makefile:\n\trm -rf x", Risk::Dangerous),
            ("V := 1", Risk::ReadOnly),
        ] {
            assert_risk(&[("Makefile", &format!("{line}\nlook:\n\tls\n"))], "look", risk);
        }
        let shared =
            [("Makefile", "include a.mk\nlook:\n\tls\n"), ("a.mk", "V := $(shell rm -rf x)\n")];
        assert_risk(&shared, "look", Risk::Dangerous);
    }

    #[test]
    fn lines_that_run_one_by_one_are_read_one_by_one() {
        // A here-document does not reach into the next line of a recipe, a comment does not either.
        for recipe in ["cat <<E\n\trm -rf x\n\tE", "# no \\\n\trm -rf x"] {
            let text = format!("a:\n\t{recipe}\n");
            assert_risk(&[("Makefile", &text)], "a", Risk::Dangerous);
        }
        let task = "tasks: {a: {cmds: ['cat <<E', 'rm -rf x', E]}}\n";
        assert_risk(&[("Taskfile.yml", task)], "a", Risk::Dangerous);
        assert_risk(
            &[("justfile", "a:\n    cat <<E\n    rm -rf x\n    E\n")],
            "a",
            Risk::Dangerous,
        );
    }

    #[test]
    fn what_runs_beside_a_script_counts() {
        for (file, text, risk) in [
            ("justfile", "v := `date`\na:\n    ls\n", Risk::Unknown),
            ("justfile", "v := `rm -rf x`\na:\n    ls\n", Risk::Dangerous),
            ("justfile", "a: _b\n    ls\n_b:\n    rm -rf x\n", Risk::Dangerous),
            ("justfile", "a v=`date`:\n    ls\n", Risk::Unknown),
            ("justfile", "set shell := ['python3', '-c']\na:\n    ls\n", Risk::Unknown),
            ("justfile", "a:\n    #!/usr/bin/env bash\n    rm -rf x\n", Risk::Dangerous),
            ("justfile", "a:\n    #!/usr/bin/env python3\n    1\n", Risk::Unknown),
            ("justfile", "a:\n    ls\n", Risk::ReadOnly),
            ("Taskfile.yml", "vars: {V: {sh: rm -rf x}}\ntasks: {a: ls}\n", Risk::Dangerous),
            ("Taskfile.yml", "tasks: {a: {cmds: [ls], status: [rm -rf x]}}\n", Risk::Dangerous),
            (
                "Taskfile.yml",
                "tasks: {a: {deps: [b]}, b: {internal: true, cmd: rm -rf x}}\n",
                Risk::Dangerous,
            ),
            ("Taskfile.yml", "env: {PATH: ./bin}\ntasks: {a: ls}\n", Risk::Unknown),
            ("Taskfile.yml", "tasks: {a: ls}\n", Risk::ReadOnly),
            ("compose.yml", "services: {a: {image: x, command: ls}}\n", Risk::Unknown),
            ("pyproject.toml", "[tool.pdm.scripts]\na = 'ls'\n", Risk::Unknown),
        ] {
            assert_risk(&[(file, text)], "a", risk);
        }
        let package = ("package.json", r#"{"scripts": {"a": "ls"}}"#);
        assert_risk(&[package], "a", Risk::ReadOnly);
        assert_risk(&[package, (".npmrc", "script-shell=./sh\n")], "a", Risk::Unknown);
        assert_risk(&[package, (".env", "PATH=./bin\n")], "a", Risk::Unknown);
        assert_risk(&[package, ("node_modules/.bin/ls", "")], "a", Risk::Unknown);
    }

    #[test]
    fn circles_and_ladders_are_read_in_no_time() {
        let mut text = String::from("a: b\n\tls\nb: a\n\ttouch x\n");
        for rung in 0..200 {
            let next = rung + 1;
            let line = format!("l{rung}: l{next} r{next}\n\tls\nr{rung}: l{next} r{next}\n\tls\n");
            text.push_str(&line);
        }
        text.push_str("l200:\n\trm -rf x\nr200:\n\tls\n");
        assert_risk(&[("Makefile", &text)], "a", Risk::Mutate);
        assert_risk(&[("Makefile", &text)], "r0", Risk::Dangerous);
    }
}
