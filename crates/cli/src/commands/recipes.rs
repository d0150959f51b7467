//! `umbo recipes`: every task of a project, whatever runs it.

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_ops::project::{Described, Listing, Runs};
use umbo_recipes::{Program, Runner, Task, Visibility};

use crate::args::Recipes;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::time::show_duration;

pub(crate) fn run(context: &Context, args: &Recipes) -> Result<ExitCode, Failure> {
    let folder = context.folder(args.cwd.as_deref())?;
    let is_wanted = |task: &Task| args.all || task.visibility == Visibility::Listed;
    if args.names {
        for task in folder.project.tasks().filter(|task| is_wanted(task)) {
            output::line(&task.name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let listing = Listing::new(&folder, &Runs::of(&context.engine)?, is_wanted);
    match context.format {
        Format::Json => output::json(&Answer { runners: listing.runners, listing: &listing })?,
        Format::Text => {
            if listing.runners.is_empty() {
                output::talk(
                    "no task runner here: no package.json, Cargo.toml, Makefile, justfile, …",
                );
            }
            let mut rows =
                vec![["TASK", "RUNNER", "RISK", "LAST", "WHAT"].map(str::to_owned).to_vec()];
            rows.extend(listing.tasks.iter().map(row));
            if rows.len() > 1 {
                output::table(&rows, output::width())?;
            }
            listing.runners.iter().for_each(tell_troubles);
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    listing: &'a Listing<'a>,
    runners: &'a [Runner],
}

fn row(task: &Described<'_>) -> Vec<String> {
    let last = match (task.last_state, task.last_duration_ms) {
        (Some(state), Some(millis)) => {
            let millis = u64::try_from(millis).unwrap_or(u64::MAX);
            let time = show_duration(Duration::from_millis(millis));
            match task.last_exit_code {
                Some(0) => format!("ok {time}"),
                Some(code) => format!("{code} {time}"),
                None => format!("{state} {time}"),
            }
        }
        _ => "-".to_owned(),
    };
    let what = task.doc.or(task.script).unwrap_or(&task.command);
    [task.name, task.runner, task.risk, &last, what].map(str::to_owned).to_vec()
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
