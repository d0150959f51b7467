//! `umbo run`: a task of the project, as a job like any other.

use std::io::{self, BufRead, IsTerminal};
use std::process::ExitCode;

use regex::bytes::Regex;
use serde::Serialize;
use umbo_engine::{Command, Condition, Login, Met, Request, Shell, Size};
use umbo_recipes::select::{Selection, umbo as select};
use umbo_recipes::{Lifetime, Program, Task, Visibility};
use umbo_tools::Passage;

use super::exec;
use crate::args::Run;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};
use crate::project::{Folder, job_name};
use crate::time::TimeLimit;

pub(crate) fn run(context: &Context, args: &Run) -> Result<ExitCode, Failure> {
    let folder = Folder::find(context, args.cwd.as_deref())?;
    if args.list_runners {
        return list_runners(context, &folder);
    }
    let selection = match &args.task {
        Some(task) => select::resolve_words(&folder.project, task, &args.arguments),
        None => select::resolve(&folder.project, &pick(&folder)?),
    }
    .map_err(Failure::new)?;
    let request = request(context, &folder, &selection, args)?;
    if args.is_plan {
        return dry_run(context, &selection, &request);
    }
    let mode = args.mode.or(context.settings.exec.mode);
    let recipe = selection.task.as_ref().map(|task| task.name.as_str());
    let keeper = gate::keeper(context, mode)?;
    let passage = match gate::pass(context, &keeper, &request, recipe)? {
        Ok(passage) => passage,
        Err(code) => return Ok(code),
    };
    if args.background {
        return background(context, &request, &passage, args.ready.as_deref());
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
    exec::execute(context, &request, context.settings.output, &passage)
}

fn request(
    context: &Context,
    folder: &Folder,
    selection: &Selection,
    args: &Run,
) -> Result<Request, Failure> {
    let settings = &context.settings;
    let directory = folder.place(&selection.directory);
    if let Some(confinement) = &settings.confinement {
        confinement.check(&directory, args.cwd.as_deref().unwrap_or(&directory))?;
    }
    let command = match &selection.argv {
        Some(words) => Command::Argv(words.iter().map(Into::into).collect()),
        None => {
            Command::Shell { text: selection.command.clone(), shell: Shell::Sh, login: Login::No }
        }
    };
    let mut request = Request::new(command, directory);
    request.env = context.environment();
    request.limits.wall = TimeLimit::or(args.timeout, settings.exec.timeout);
    request.terminal = args.pty.then(Size::default);
    request.name = selection.task.as_ref().map(job_name);
    Ok(request)
}

/// Starts it, and waits until it is ready if that is asked for.
fn background(
    context: &Context,
    request: &Request,
    passage: &Passage<'_>,
    ready: Option<&str>,
) -> Result<ExitCode, Failure> {
    let pattern = match ready {
        Some(text) => {
            Some(Regex::new(text).map_err(|error| Failure::new(format!("--ready: {error}")))?)
        }
        None => None,
    };
    let job = context.engine.start(request)?;
    passage.started(&job);
    if let Some(pattern) = pattern {
        let met = job.wait(&[Condition::Match { pattern, from: 0 }], request.limits.wall)?;
        if matches!(met, Met::Ended | Met::Deadline) {
            let hint = format!("`umbo output {}` says more", job.id());
            return Err(Failure::new(format!(
                "job {} ended before it was ready; {hint}",
                job.id()
            )));
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

/// Asks a person which task, by any part of its name.
fn pick(folder: &Folder) -> Result<String, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        let hint = "`umbo recipes` lists them";
        return Err(Failure::new(format!("name a task; {hint}")));
    }
    let all: Vec<&Task> =
        folder.project.tasks().filter(|task| task.visibility == Visibility::Listed).collect();
    let mut shown = all.clone();
    loop {
        for (number, task) in shown.iter().enumerate().take(30) {
            let doc = task.doc.as_deref().unwrap_or_default();
            output::talk(format_args!("{:>3}  {}:{}  {doc}", number + 1, task.runner, task.name));
        }
        output::talk("which? (a number, or some letters of its name; nothing to leave)");
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        let word = line.trim();
        if word.is_empty() {
            return Err(Failure::new("no task was chosen"));
        }
        let chosen =
            word.parse::<usize>().ok().and_then(|number| shown.get(number.wrapping_sub(1)));
        if let Some(task) = chosen {
            return Ok(format!("{}:{}", task.runner, task.name));
        }
        let fitting: Vec<&Task> = all.iter().copied().filter(|task| fits(word, task)).collect();
        match fitting[..] {
            [only] => return Ok(format!("{}:{}", only.runner, only.name)),
            [] => output::talk(format_args!("nothing has {word:?} in its name")),
            _ => shown = fitting,
        }
    }
}

/// Whether the letters of `word` occur in the task's name in this order.
fn fits(word: &str, task: &Task) -> bool {
    let name = format!("{}:{}", task.runner, task.name).to_lowercase();
    let mut letters = name.chars();
    word.to_lowercase().chars().all(|wanted| letters.any(|letter| letter == wanted))
}
