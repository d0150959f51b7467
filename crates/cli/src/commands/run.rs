//! `umbo run`: a task of the project, as a job like any other.

use std::process::ExitCode;

use regex::bytes::Regex;
use serde::Serialize;
use umbo_engine::{Condition, Met, Request, Size, Stdin};
use umbo_gate::Recipe;
use umbo_ops::Permit;
use umbo_ops::project::Folder;
use umbo_recipes::select::{Selection, umbo as select};
use umbo_recipes::{Lifetime, Program};

use super::{exec, start};
use crate::args::Run;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::pick;
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Run) -> Result<ExitCode, Failure> {
    let folder = context.folder(args.cwd.as_deref())?;
    if args.list_runners {
        return list_runners(context, &folder);
    }
    let arguments: Vec<String> =
        args.arguments.iter().cloned().map(secrets::restored).collect::<Result<_, _>>()?;
    let selection = match &args.task {
        Some(task) => select::resolve_words(&folder.project, task, &arguments),
        None => select::resolve_words(&folder.project, &pick::task(&folder)?, &[]),
    }
    .map_err(Failure::new)?;
    let request = request(context, &folder, &selection, args)?;
    if args.is_plan {
        return dry_run(context, &selection, &request);
    }
    if let Some(missing) = folder.missing(&selection) {
        return Err(Failure::new(missing));
    }
    let mode = args.mode.or(context.settings.exec.mode);
    let scripts = folder.scripts_of(&selection);
    let task = selection.task.as_ref();
    let recipe = task.map(|task| Recipe { name: &task.name, scripts: &scripts });
    let keeper = gate::keeper(context, mode)?;
    let permit = match gate::pass(context, &keeper, &request, recipe)? {
        Ok(permit) => permit,
        Err(code) => return Ok(code),
    };
    if args.background {
        return background(context, &request, &permit, args.ready.as_deref());
    }
    if let Some(task) = &selection.task
        && task.lifetime == Lifetime::LongLived
        && context.format == Format::Text
    {
        output::talk(format_args!(
            "umbo: {} looks like a server; `umbo run --background {}` gives you the prompt back",
            task.name, task.name
        ));
    }
    exec::execute(context, &request, context.settings.output, &permit)
}

fn request(
    context: &Context,
    folder: &Folder,
    selection: &Selection,
    args: &Run,
) -> Result<Request, Failure> {
    let settings = &context.settings;
    let mut request = folder.request(selection);
    if let Some(confinement) = &settings.confinement {
        confinement.check(&request.cwd, args.cwd.as_deref().unwrap_or(&request.cwd))?;
    }
    request.env = context.environment();
    start::limits(&mut request, &args.limits, settings.exec.timeout);
    request.terminal = args.pty.then(Size::default);
    // What runs on its own can be given input later.
    request.stdin = if args.background { Stdin::Open } else { Stdin::None };
    Ok(request)
}

/// Starts it, and waits until it is ready if that is asked for.
fn background(
    context: &Context,
    request: &Request,
    permit: &Permit<'_>,
    ready: Option<&str>,
) -> Result<ExitCode, Failure> {
    let pattern = match ready {
        Some(text) => Some(Regex::new(text).map_err(|error| Failure::invalid("--ready", error))?),
        None => None,
    };
    let job = context.engine.start(request)?;
    permit.started(&job);
    if let Some(pattern) = pattern {
        let met = job.wait(&[Condition::Match { pattern, from: 0 }], request.limits.wall)?;
        if matches!(met, Met::Ended | Met::Deadline) {
            let (job, hint) = (job.id(), format!("`umbo output {}` says more", job.id()));
            return Err(Failure::new(format!("job {job} ended before it was ready; {hint}")));
        }
    }
    match context.format {
        Format::Json => output::json(&Started { job: job.id().as_str() })?,
        Format::Text => output::line(job.id())?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Started<'a> {
    job: &'a str,
}

fn dry_run(
    context: &Context,
    selection: &Selection,
    request: &Request,
) -> Result<ExitCode, Failure> {
    let directory = request.cwd.display().to_string();
    match context.format {
        Format::Json => output::json(&Planned {
            runner: &selection.runner,
            command: &selection.command,
            directory,
            task: selection.task.as_ref().map(|task| task.name.as_str()),
        })?,
        Format::Text => output::line(format_args!("cd {directory} && {}", selection.command))?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Planned<'a> {
    runner: &'a str,
    task: Option<&'a str>,
    command: &'a str,
    directory: String,
}

fn list_runners(context: &Context, folder: &Folder) -> Result<ExitCode, Failure> {
    if context.format == Format::Json {
        output::json(&folder.project.runners)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = folder
        .project
        .runners
        .iter()
        .map(|runner| {
            let program = match &runner.program {
                Program::Found(path) => path.clone(),
                Program::Missing { name, get } => format!("{name} is missing; {get}"),
            };
            let count = format!("{} tasks", runner.listed().count());
            vec![runner.id.clone(), count, runner.evidence.join(" "), program]
        })
        .collect();
    output::table(&rows, None)?;
    Ok(ExitCode::SUCCESS)
}
