//! `umbo recipes`: every task of a project, whatever runs it.

use std::process::ExitCode;
use std::time::Duration;

use umbo_ops::project::{RunnerAnswer, TaskAnswer};
use umbo_ops::{Call, RecipeOptions, RecipeRequest, Ticket};

use super::approvals::risk_tone;
use crate::args::Recipes;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Cell, Format, Tone};
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
            let head = ["TASK", "RUNNER", "RISK", "LAST", "WHAT"];
            let mut rows = vec![head.map(|head| Cell::toned(head, Tone::Faint)).to_vec()];
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

fn row(task: &TaskAnswer) -> Vec<Cell> {
    let last = match (task.last_state, task.last_duration_ms) {
        (Some(state), Some(millis)) => {
            let time = show_duration(Duration::from_millis(millis));
            match task.last_exit_code {
                Some(0) => Cell::toned(format!("ok {time}"), Tone::Good),
                Some(code) => Cell::toned(format!("{code} {time}"), Tone::Bad),
                None => format!("{state} {time}").into(),
            }
        }
        _ => "-".into(),
    };
    let what = task.doc.as_ref().or(task.script.as_ref()).unwrap_or(&task.command);
    let risk = Cell::toned(task.risk, risk_tone(task.risk));
    vec![task.name.clone().into(), task.runner.clone().into(), risk, last, what.clone().into()]
}
