//! The `project.recipe` tool. Seven runners in the order of its table, found by their files alone
//! (a missing program is the shell's error, not ours); the first word picks the runner that has
//! such a task, the first detected runner takes everything else, and the operation is put into
//! the runner's template as it stands.
//!
//! The table detects npm for every `package.json`, and bun beside it when there is a bun lock
//! file. Both then have the same tasks, so the lock file decides which of the two comes first:
//! see [`Precedence`].

use std::{
    collections::{BTreeMap, HashMap},
    path::{Component, Path, PathBuf},
};

use crate::{
    error::Error,
    project::{Project, Runner},
    select::{Selection, is_package_manager},
    task::{Kind, Source, Task},
};

/// Which of npm and bun comes first when a bun lock file is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precedence {
    /// bun: its lock file says who installs and runs this project.
    #[default]
    LockFile,
    /// npm: the order of the table, literally. bun is then listed and never chosen.
    Table,
}

/// A runner of the table that was detected.
#[derive(Debug, Clone)]
struct Detected<'a> {
    id: &'static str,
    template: &'static str,
    tasks: Vec<&'a Task>,
}

/// Resolves an operation with the lock file's precedence.
///
/// # Errors
/// An empty operation, or a folder without runners; both are `invalid_params`.
pub fn resolve(project: &Project, op: &str) -> Result<Selection, Error> {
    resolve_with(project, op, Precedence::default())
}

/// Resolves an operation.
///
/// # Errors
/// An empty operation, or a folder without runners; both are `invalid_params`.
pub fn resolve_with(
    project: &Project,
    op: &str,
    precedence: Precedence,
) -> Result<Selection, Error> {
    let op = op.trim();
    let Some(first) = op.split_whitespace().next() else {
        return Err(Error::Empty { message: String::from("op must be a non-empty string") });
    };
    let detected = detected(project, precedence);
    let found = detected.iter().find_map(|runner| {
        let task = runner.tasks.iter().find(|task| task.name == first)?;
        Some((runner, Some(*task)))
    });
    let fallback = detected.first().map(|runner| (runner, None));
    let (runner, task) = found.or(fallback).ok_or(Error::NoRunners)?;
    Ok(Selection {
        runner: runner.id.to_owned(),
        command: format!("{} {op}", runner.template),
        argv: None,
        directory: String::from("."),
        task: task.cloned(),
    })
}

/// Every detected runner with its tasks.
pub fn available_tasks(project: &Project) -> BTreeMap<String, Vec<String>> {
    let detected = detected(project, Precedence::Table).into_iter();
    let names = |tasks: Vec<&Task>| tasks.into_iter().map(|task| task.name.clone()).collect();
    detected.map(|runner| (runner.id.to_owned(), names(runner.tasks))).collect()
}

/// The folder an operation runs in: `cwd` under the project, never above it, also not through
/// symbolic links.
///
/// # Errors
/// When `cwd` climbs out, is an absolute path to elsewhere, or cannot be resolved.
pub fn directory(root: &Path, cwd: Option<&str>) -> Result<PathBuf, Error> {
    let cwd = cwd.unwrap_or(".");
    let escape = || Error::Escape { cwd: cwd.to_owned() };
    let root =
        root.canonicalize().map_err(|source| Error::Folder { path: root.to_owned(), source })?;
    let path = root.join(cwd);
    // As it is written first: outside, whether something is there is not even looked at.
    let mut depth = 0_usize;
    for part in path.strip_prefix(&root).unwrap_or(Path::new("")).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            Component::ParentDir => depth = depth.checked_sub(1).ok_or_else(escape)?,
        }
    }
    let real = path.canonicalize().map_err(|source| Error::Folder { path, source })?;
    if real.starts_with(&root) { Ok(real) } else { Err(escape()) }
}

/// The table, top to bottom.
fn detected(project: &Project, precedence: Precedence) -> Vec<Detected<'_>> {
    let manifest = project.runners.iter().find(|runner| is_package_manager(runner));
    let bun =
        manifest.filter(|runner| runner.evidence.iter().any(|file| file.starts_with("bun.lock")));
    let make = project
        .runner("make")
        .filter(|runner| runner.evidence.iter().any(|file| file == "Makefile"));
    let mut table = vec![
        ("npm", "npm run", manifest, scripts as fn(&Runner) -> Vec<&Task>),
        ("bun", "bun run", bun, scripts),
        ("cargo", "cargo", project.runner("cargo"), subcommands),
        ("poetry", "poetry run", project.runner("poetry"), scripts),
        ("pdm", "pdm run", project.runner("pdm"), scripts),
        ("uv", "uv run", project.runner("uv"), entry_points),
        ("make", "make", make, targets),
    ];
    if precedence == Precedence::LockFile {
        table.swap(0, 1);
    }
    let rows = table.into_iter().filter_map(|(id, template, runner, tasks)| {
        Some(Detected { id, template, tasks: tasks(runner?) })
    });
    rows.collect()
}

fn own(runner: &Runner) -> impl Iterator<Item = &Task> {
    runner.tasks.iter().filter(|task| task.package.is_none())
}

fn scripts(runner: &Runner) -> Vec<&Task> {
    own(runner).filter(|task| task.kind == Kind::Script).collect()
}

fn subcommands(runner: &Runner) -> Vec<&Task> {
    own(runner).filter(|task| task.kind == Kind::Subcommand).collect()
}

fn entry_points(runner: &Runner) -> Vec<&Task> {
    own(runner).filter(|task| matches!(task.kind, Kind::Script | Kind::EntryPoint)).collect()
}

/// Names on lines that match `^[a-zA-Z_][a-zA-Z0-9_.-]*:` in the `Makefile` itself.
fn targets(runner: &Runner) -> Vec<&Task> {
    let mut lines: HashMap<&Source, usize> = HashMap::new();
    for source in runner.tasks.iter().filter_map(|task| task.source.as_ref()) {
        *lines.entry(source).or_default() += 1;
    }
    let is_alone = |task: &Task| task.source.as_ref().and_then(|at| lines.get(at)) == Some(&1);
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let is_here =
        |task: &Task| task.source.as_ref().is_some_and(|source| source.file == "Makefile");
    own(runner).filter(|task| is_name(&task.name) && is_here(task) && is_alone(task)).collect()
}
