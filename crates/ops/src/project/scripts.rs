//! What a task runs: its script, those of the tasks it runs, and what their runners run beside them.

use umbo_command::Shell;
use umbo_gate::Script;
use umbo_recipes::select::Selection;
use umbo_recipes::{Language, Task};

use super::Folder;
use super::risk::{Read, callers, shell_of};

impl Folder {
    /// The texts that would be run for what was selected, for the gate to judge. One too many is no harm.
    pub fn scripts_of(&self, selection: &Selection) -> Vec<Script> {
        selection.task.as_ref().map_or_else(Vec::new, |task| self.scripts(task))
    }

    fn scripts(&self, task: &Task) -> Vec<Script> {
        let tasks: Vec<&Task> =
            self.project.runners.iter().flat_map(|runner| &runner.tasks).collect();
        let is_meant = |known: &&Task| known.runner == task.runner && known.name == task.name;
        let Some(start) = tasks.iter().position(is_meant) else { return Vec::new() };
        let mut own: Vec<Read> = tasks.iter().map(|task| Read::task(self, task)).collect();
        let mut callees = vec![Vec::new(); tasks.len()];
        for (callee, callers) in callers(&tasks, &mut own).into_iter().enumerate() {
            for caller in callers {
                callees[caller].push(callee);
            }
        }
        let mut is_reached = vec![false; tasks.len()];
        let mut waiting = vec![start];
        while let Some(place) = waiting.pop() {
            if !std::mem::replace(&mut is_reached[place], true) {
                waiting.extend(&callees[place]);
            }
        }
        let reached = || tasks.iter().zip(&is_reached).filter_map(|(task, is)| is.then_some(*task));
        let mut found = Vec::new();
        for runner in &self.project.runners {
            if reached().any(|task| task.runner == runner.id) {
                let texts = runner.prelude.iter().flat_map(texts);
                found.extend(texts.map(|(text, shell)| Script {
                    text,
                    shell,
                    cwd: self.root.clone(),
                }));
            }
        }
        for task in reached() {
            let texts = task.script.iter().flat_map(texts);
            found.extend(texts.map(|(text, shell)| Script {
                text,
                shell,
                cwd: self.directory(task),
            }));
        }
        found
    }
}

/// The pieces of a script that a shell reads, and which.
fn texts(script: &umbo_recipes::Script) -> Vec<(String, Shell)> {
    let shell = match script.language {
        Language::Shell | Language::Make | Language::Template => Some(Shell::Posix),
        Language::Program => script.steps.first().and_then(|step| shell_of(step)),
        Language::Python | Language::Other => None,
    };
    let steps = || script.steps.iter().filter(|step| !step.trim().is_empty());
    shell.into_iter().flat_map(|shell| steps().map(move |step| (step.clone(), shell))).collect()
}
