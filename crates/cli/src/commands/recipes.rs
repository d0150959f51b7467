//! `umbo recipes`: every task of a project, whatever runs it.

use std::process::ExitCode;
use std::time::Duration;

use umbo_ops::project::{RunnerAnswer, TaskAnswer};
use umbo_ops::{Call, RecipeOptions, RecipeRequest, Ticket};

use crate::args::Recipes;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::time::show_duration;

pub(crate) fn run(context: &Context, args: &Recipes) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let options = RecipeOptions { anywhere: true, all: args.all, ..RecipeOptions::default() };
    let request = RecipeRequest { cwd: args.cwd.clone(), options, ..RecipeRequest::default() };
    let list = umbo_ops::recipes(&Call::new(&caller, &ticket), &request)?;
    if args.names {
        for task in &list.tasks {
            output::line(&task.name)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    match context.format {
        Format::Json => output::json(&list)?,
        Format::Text => {
            if list.runners.is_empty() {
                output::talk(
                    "no task runner here: no package.json, Cargo.toml, Makefile, justfile, …",
                );
            }
            let mut rows =
                vec![["TASK", "RUNNER", "RISK", "LAST", "WHAT"].map(str::to_owned).to_vec()];
            rows.extend(list.tasks.iter().map(row));
            if rows.len() > 1 {
                output::table(&rows, output::width())?;
            }
            // Which runner cannot run, and which file cannot be read.
            for trouble in list.runners.iter().flat_map(RunnerAnswer::troubles) {
                output::talk(format_args!("umbo: {trouble}"));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(task: &TaskAnswer) -> Vec<String> {
    let last = match (task.last_state, task.last_duration_ms) {
        (Some(state), Some(millis)) => {
            let time = show_duration(Duration::from_millis(millis));
            match task.last_exit_code {
                Some(0) => format!("ok {time}"),
                Some(code) => format!("{code} {time}"),
                None => format!("{state} {time}"),
            }
        }
        _ => "-".to_owned(),
    };
    let what = task.doc.as_ref().or(task.script.as_ref()).unwrap_or(&task.command);
    [&task.name, &task.runner, task.risk, &last, what].map(str::to_owned).to_vec()
}
