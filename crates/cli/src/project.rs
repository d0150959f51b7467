//! The project around the caller: its runners and tasks, and what is known about each.

use std::path::{Path, PathBuf};

use umbo_command::{Risk, Shell};
use umbo_engine::{Outcome, Scope, Status};
use umbo_recipes::{Cache, Language, Options, Project, Script, Task};

use crate::context::Context;
use crate::failure::Failure;

/// How far tasks are followed into the tasks they depend on.
const DEPTH: usize = 16;

/// A folder with its tasks.
pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    pub(crate) project: Project,
}

impl Folder {
    /// The nearest folder with a task runner, from the caller's up to the top of its repository.
    pub(crate) fn find(context: &Context, cwd: Option<&Path>) -> Result<Self, Failure> {
        let here = match cwd {
            Some(cwd) => Context::directory()?.join(cwd),
            None => Context::directory()?,
        };
        let here = std::fs::canonicalize(&here)
            .map_err(|error| Failure::new(format!("cwd: {}: {error}", here.display())))?;
        let options = Options::with_path(&Context::search_path());
        let cache = Cache::in_directory(context.engine.state_directory().join("recipes"));
        let mut place = here.as_path();
        loop {
            let project = umbo_recipes::detect(place, &options, Some(&cache))
                .map_err(|error| Failure::new(format!("{}: {error}", place.display())))?;
            let is_top = place.join(".git").exists() || place.parent().is_none();
            if !project.runners.is_empty() || is_top {
                return Ok(Self { root: place.to_owned(), project });
            }
            place = place.parent().unwrap_or(place);
        }
    }

    /// Where a task runs.
    pub(crate) fn directory(&self, task: &Task) -> PathBuf {
        self.place(&task.directory)
    }

    /// A directory of the project, which calls itself `.`.
    pub(crate) fn place(&self, relative: &str) -> PathBuf {
        if relative == "." { self.root.clone() } else { self.root.join(relative) }
    }

    /// How a task ended when it last ran through umbo.
    pub(crate) fn last_run(
        &self,
        runs: &[(String, String, Outcome)],
        task: &Task,
    ) -> Option<Outcome> {
        let directory = self.directory(task).to_string_lossy().into_owned();
        let name = job_name(task);
        runs.iter()
            .rev()
            .find(|(run, cwd, _)| *run == name && Path::new(cwd) == Path::new(&directory))
            .map(|(_, _, outcome)| outcome.clone())
    }

    /// What running a task would do at worst, as far as its text tells: of itself and of the
    /// tasks it depends on.
    pub(crate) fn risk(&self, task: &Task) -> Risk {
        self.risk_within(task, DEPTH)
    }

    fn risk_within(&self, task: &Task, depth: usize) -> Risk {
        let own = match &task.script {
            Some(script) => match shell_text(script) {
                Some(text) => umbo_command::read(&text, Shell::Posix).risk,
                None => Risk::Unknown,
            },
            None => umbo_command::read(&task.invocation.command(), Shell::Posix).risk,
        };
        let Some(depth) = depth.checked_sub(1) else { return own.and(Risk::Unknown) };
        task.depends.iter().fold(own, |risk, name| {
            let runner = self.project.runner(&task.runner);
            match runner.and_then(|runner| runner.task(name)) {
                Some(needed) => risk.and(self.risk_within(needed, depth)),
                None => risk,
            }
        })
    }
}

/// What a shell will read of a script, if that is known before it runs.
fn shell_text(script: &Script) -> Option<String> {
    match script.language {
        Language::Shell => Some(script.text.clone()),
        // Make's own marks before a line are not the shell's, and its variables are unknown here.
        Language::Make if !script.text.contains('$') => {
            let lines = script
                .text
                .lines()
                .map(|line| line.trim_start().trim_start_matches(['@', '-', '+']));
            Some(lines.collect::<Vec<_>>().join("\n"))
        }
        Language::Template if !script.text.contains("{{") => Some(script.text.clone()),
        _ => None,
    }
}

/// The name of the jobs of a task.
pub(crate) fn job_name(task: &Task) -> String {
    format!("{}:{}", task.runner, task.name)
}

/// Every ended job with a name: name, directory, outcome; oldest first.
pub(crate) fn named_runs(context: &Context) -> Result<Vec<(String, String, Outcome)>, Failure> {
    let jobs = context.engine.jobs(Scope::All)?;
    Ok(jobs
        .into_iter()
        .filter_map(|job| match job.status {
            Status::Ended(outcome) => Some((job.name?, job.cwd, *outcome)),
            Status::Created | Status::Started { .. } => None,
        })
        .collect())
}

/// A risk's name.
pub(crate) fn risk_name(risk: Risk) -> &'static str {
    match risk {
        Risk::ReadOnly => "read_only",
        Risk::Mutate => "mutate",
        Risk::Unknown => "unknown",
        Risk::Dangerous => "dangerous",
    }
}
