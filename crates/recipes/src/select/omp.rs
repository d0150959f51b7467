//! The `recipe` tool of omp. Five runner ids in a fixed order (`just pkg cargo make task`), a
//! runner without its program or without tasks does not exist, the first word of the operation
//! selects and everything behind it is appended unchanged.

use umbo_text::quote;

use crate::{
    error::Error,
    project::{Project, Runner},
    select::{Selection, is_package_manager, listing},
    task::{Invocation, Kind, Task, Visibility},
};

/// Error texts list at most so many tasks of a runner.
const MOST_LISTED: usize = 200;

/// A runner as this contract sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View<'a> {
    /// `just`, `pkg`, `cargo`, `make` or `task`.
    pub id: &'static str,
    /// Its name for people.
    pub label: String,
    /// What stands in front of a task's name: `npm run`.
    pub command_prefix: String,
    /// Its tasks, never empty.
    pub tasks: Vec<TaskView<'a>>,
}

/// A task as this contract sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskView<'a> {
    /// The name that selects it.
    pub name: &'a str,
    /// The prefix of this task, when it has its own.
    pub command_prefix: Option<String>,
    /// What stands behind the prefix.
    pub command_name: String,
    /// Where it runs, when that is not the project.
    pub cwd: Option<&'a str>,
    /// The task itself.
    pub task: &'a Task,
}

impl View<'_> {
    /// The command of one of its tasks, without arguments.
    pub fn command(&self, task: &TaskView<'_>) -> String {
        let prefix = task.command_prefix.as_deref().unwrap_or(&self.command_prefix);
        build(prefix, &task.command_name, "")
    }
}

/// The runners of this contract, in its order.
pub fn views(project: &Project) -> Vec<View<'_>> {
    let by_id = |id: &str| project.runner(id).filter(|runner| runner.is_available());
    let views = [
        by_id("just").map(|runner| plain("just", runner)),
        project.runners.iter().find(|runner| is_package_manager(runner)).map(package),
        by_id("cargo").map(cargo),
        by_id("make").map(|runner| plain("make", runner)),
        by_id("task").map(|runner| plain("task", runner)),
    ];
    views.into_iter().flatten().filter(|view| !view.tasks.is_empty()).collect()
}

/// Resolves an operation.
///
/// # Errors
/// An empty operation, a missing, unknown or ambiguous task; each text lists what there is.
pub fn resolve(project: &Project, op: &str) -> Result<Selection, Error> {
    let views = views(project);
    let op = op.trim_start();
    let (head, tail) = match op.find(char::is_whitespace) {
        Some(at) => (&op[..at], op[at..].trim_start()),
        None => (op, ""),
    };
    let (view, task) = find(&views, head)?;
    let prefix = task.command_prefix.as_deref().unwrap_or(&view.command_prefix);
    Ok(Selection {
        runner: view.id.to_owned(),
        command: build(prefix, &task.command_name, tail),
        argv: None,
        directory: task.cwd.unwrap_or(".").to_owned(),
        task: Some(task.task.clone()),
    })
}

fn find<'a, 'b>(
    views: &'b [View<'a>],
    head: &str,
) -> Result<(&'b View<'a>, &'b TaskView<'a>), Error> {
    let available = available(views);
    if head.is_empty() {
        return Err(Error::Empty { message: format!("`op` names no task. {available}") });
    }
    if let Some((id, name)) = head.split_once(':')
        && let Some(view) = views.iter().find(|view| view.id == id)
    {
        let task = view.tasks.iter().find(|task| task.name == name);
        return task.map(|task| (view, task)).ok_or_else(|| Error::Unknown {
            message: match name {
                "" => format!("`{head}` names no task of `{id}`. {available}"),
                _ => format!("`{id}` has no task `{name}`. {available}"),
            },
            nearest: Vec::new(),
        });
    }
    let mut owners = views
        .iter()
        .filter_map(|view| Some((view, view.tasks.iter().find(|task| task.name == head)?)));
    match (owners.next(), owners.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Error::Unknown {
            message: format!("No task `{head}`. {available}"),
            nearest: Vec::new(),
        }),
        (Some(first), Some(second)) => {
            let owners = [first, second].into_iter().chain(owners);
            let choices: Vec<String> =
                owners.map(|(view, task)| format!("{}:{}", view.id, task.name)).collect();
            let listed = choices.join(", ");
            let message = format!(
                "Task `{head}` exists in several runners; use `<runner-id>:<task>`, one of: {listed}. {available}"
            );
            Err(Error::Ambiguous { message, choices })
        }
    }
}

fn available(views: &[View<'_>]) -> String {
    if views.is_empty() {
        return String::from("No tasks are available.");
    }
    let lines = views.iter().map(|view| {
        format!(
            "\n  {}: {}",
            view.id,
            listing(view.tasks.iter().map(|task| task.name), MOST_LISTED)
        )
    });
    format!("Available tasks:{}", lines.collect::<String>())
}

/// The non-empty parts with single spaces between.
fn build(prefix: &str, name: &str, tail: &str) -> String {
    [prefix, name, tail].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn plain<'a>(id: &'static str, runner: &'a Runner) -> View<'a> {
    // The program may be installed under its other name, such as `go-task`.
    let program = match runner.tasks.first().map(|task| &task.invocation) {
        Some(Invocation::Argv(argv)) => argv.first().map_or(id, String::as_str),
        _ => id,
    };
    let tasks = runner.tasks.iter();
    let tasks =
        tasks.filter(|task| task.visibility == Visibility::Listed && task.kind == Kind::Target);
    let tasks = tasks.map(|task| TaskView {
        name: &task.name,
        command_prefix: None,
        command_name: quote::word(&task.target),
        cwd: None,
        task,
    });
    View {
        id,
        label: runner.label.clone(),
        command_prefix: program.to_owned(),
        tasks: tasks.collect(),
    }
}

/// The lock file names the manager; without one it is `bun` where there is a bun, else npm.
fn package(runner: &Runner) -> View<'_> {
    let is_locked = runner.evidence.iter().any(|file| is_lock(file));
    let has_bun = (runner.id == "bun" && runner.is_available())
        || runner.alternatives.iter().any(|name| name == "bun");
    let manager = match (is_locked, has_bun) {
        (true, _) => runner.id.as_str(),
        (false, true) => "bun",
        (false, false) => "npm",
    };
    let tasks = runner.tasks.iter().map(|task| TaskView {
        name: &task.name,
        command_prefix: None,
        command_name: quote::always(&task.target),
        cwd: task.package.as_ref().map(|_| task.directory.as_str()),
        task,
    });
    View {
        id: "pkg",
        label: manager.to_owned(),
        command_prefix: format!("{manager} run"),
        tasks: tasks.collect(),
    }
}

fn is_lock(file: &str) -> bool {
    file.starts_with("bun.lock")
        || matches!(
            file,
            "pnpm-lock.yaml" | "yarn.lock" | "package-lock.json" | "npm-shrinkwrap.json"
        )
}

fn cargo(runner: &Runner) -> View<'_> {
    let tasks = runner.tasks.iter().filter_map(|task| {
        let (verb, flag) = match task.kind {
            Kind::Bin => ("run", "--bin"),
            Kind::Example => ("run", "--example"),
            Kind::Test => ("test", "--test"),
            _ => return None,
        };
        let package =
            task.package.as_ref().map(|name| format!(" --package {}", quote::always(name)));
        let prefix = format!("cargo {verb}{} {flag}", package.unwrap_or_default());
        Some(TaskView {
            name: &task.name,
            command_prefix: Some(prefix),
            command_name: quote::always(&task.target),
            cwd: None,
            task,
        })
    });
    View {
        id: "cargo",
        label: runner.label.clone(),
        command_prefix: String::from("cargo"),
        tasks: tasks.collect(),
    }
}
