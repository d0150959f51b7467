//! `umbo recipes`: every task of a project, whatever runs it.

use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::Outcome;
use umbo_recipes::{Lifetime, Program, Runner, Task, Visibility};

use crate::args::Recipes;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::project::{self, Folder};
use crate::time::show_duration;

pub(crate) fn run(context: &Context, args: &Recipes) -> Result<ExitCode, Failure> {
    let folder = Folder::find(context, args.cwd.as_deref())?;
    let tasks =
        || folder.project.tasks().filter(|task| args.all || task.visibility == Visibility::Listed);
    if args.names {
        for task in tasks() {
            output::line(&task.name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let runs = project::named_runs(context)?;
    match context.format {
        Format::Json => {
            let tasks = tasks().map(|task| Described::new(&folder, &runs, task)).collect();
            output::json(&Listing {
                root: folder.root.display().to_string(),
                runners: &folder.project.runners,
                tasks,
            })?;
        }
        Format::Text => {
            if folder.project.runners.is_empty() {
                output::talk(
                    "no task runner here: no package.json, Cargo.toml, Makefile, justfile, …",
                );
            }
            let mut rows =
                vec![["TASK", "RUNNER", "RISK", "LAST", "WHAT"].map(str::to_owned).to_vec()];
            rows.extend(tasks().map(|task| row(&folder, &runs, task)));
            if rows.len() > 1 {
                output::table(&rows, output::width())?;
            }
            folder.project.runners.iter().for_each(tell_troubles);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(folder: &Folder, runs: &[(String, String, Outcome)], task: &Task) -> Vec<String> {
    let last = folder.last_run(runs, task).map_or_else(
        || "-".into(),
        |outcome| {
            let time = show_duration(outcome.duration());
            match outcome.exit_code() {
                Some(0) => format!("ok {time}"),
                Some(code) => format!("{code} {time}"),
                None => format!("{} {time}", outcome.end.name()),
            }
        },
    );
    let what = task.doc.clone().unwrap_or_else(|| {
        task.script.as_ref().map_or_else(|| task.invocation.command(), |script| script.text.clone())
    });
    let what = what.lines().next().unwrap_or_default().to_owned();
    let risk = project::risk_name(folder.risk(task)).to_owned();
    vec![task.name.clone(), task.runner.clone(), risk, last, what]
}

/// Says which runner cannot run, and which file cannot be read.
fn tell_troubles(runner: &Runner) {
    if let Program::Missing { name, get } = &runner.program {
        output::talk(format_args!(
            "umbo: {} needs {name}, which is not installed; {get}",
            runner.label
        ));
    }
    for problem in &runner.problems {
        output::talk(format_args!("umbo: {problem}"));
    }
}

#[derive(Serialize)]
struct Listing<'a> {
    root: String,
    runners: &'a [Runner],
    tasks: Vec<Described<'a>>,
}

#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    runner: &'a str,
    command: String,
    directory: String,
    risk: &'static str,
    doc: Option<&'a str>,
    long_lived: bool,
    timeout_seconds: Option<u64>,
    last_state: Option<&'static str>,
    last_exit_code: Option<i32>,
    last_duration_ms: Option<u128>,
}

impl<'a> Described<'a> {
    fn new(folder: &Folder, runs: &[(String, String, Outcome)], task: &'a Task) -> Self {
        let last = folder.last_run(runs, task);
        Self {
            name: &task.name,
            runner: &task.runner,
            command: task.invocation.command(),
            directory: folder.directory(task).display().to_string(),
            risk: project::risk_name(folder.risk(task)),
            doc: task.doc.as_deref(),
            long_lived: task.lifetime == Lifetime::LongLived,
            timeout_seconds: task.timeout.seconds(),
            last_state: last.as_ref().map(|outcome| outcome.end.name()),
            last_exit_code: last.as_ref().and_then(Outcome::exit_code),
            last_duration_ms: last.as_ref().map(|outcome| outcome.duration().as_millis()),
        }
    }
}
