//! `umbo run`: a task of the project, as a job like any other.

use std::process::ExitCode;

use umbo_ops::project::Folder;
use umbo_ops::{
    Call, OnDisconnect, RecipeOptions, RecipeRequest, RunAnswer, Ticket, WaitReason, folder,
};
use umbo_recipes::{Program, select};
use umbo_text::quote;

use super::{exec, start};
use crate::args::Run;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::pick;
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Run) -> Result<ExitCode, Failure> {
    let caller = context.caller(&CallerWords {
        mode: args.mode,
        timeout: args.limits.timeout,
        masking: context.masking(),
        ..CallerWords::default()
    })?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    let mut request = request(args)?;
    if args.list_runners {
        return list_runners(context, &folder(&call, &request)?);
    }
    if args.task.is_none() {
        request.op = Some(quote::word(&pick::task(&folder(&call, &request)?)?));
    }
    if let Some(task) = &args.task
        && pick::can_ask()
        && context.format == Format::Text
    {
        // Several runners have it: a person says which, anybody else is refused with the list.
        let folder = folder(&call, &request)?;
        let found = select::umbo::resolve_words(&folder.project, task, &args.arguments);
        if let Err(umbo_recipes::Error::Ambiguous { choices, .. }) = found {
            request.op = Some(quote::word(&pick::task_of(&folder, &choices)?));
        }
    }
    let plan = umbo_ops::plan(&call, &request)?;
    if let Some(confinement) = &context.settings.confinement {
        let directory = plan.directory.as_ref();
        confinement.check(directory, args.cwd.as_deref().unwrap_or(directory))?;
    }
    if args.is_plan {
        match context.format {
            Format::Json => output::json(&plan)?,
            Format::Text => {
                output::line(format_args!("cd {} && {}", plan.directory, plan.command))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.background {
        return background(context, &umbo_ops::run(&call, &request)?);
    }
    let is_server = plan.long_lived && context.format == Format::Text;
    let server = plan.task.filter(|_| is_server);
    let warn = move |_: &umbo_engine::JobHandle| {
        if let Some(task) = &server {
            output::talk(format_args!(
                "umbo: {task} looks like a server; `umbo run --background {task}` gives you the \
                 prompt back"
            ));
        }
    };
    request.options.output = exec::wanted_output(context);
    exec::foreground(
        context,
        &caller,
        None,
        warn,
        |call| umbo_ops::run(call, &request),
        |answer: &RunAnswer| &answer.job,
    )
}

/// The request that the words make.
fn request(args: &Run) -> Result<RecipeRequest, Failure> {
    let arguments: Vec<String> =
        args.arguments.iter().cloned().map(secrets::restored).collect::<Result<_, _>>()?;
    Ok(RecipeRequest {
        op: args.task.as_deref().map(quote::word),
        args: (!arguments.is_empty()).then_some(arguments),
        cwd: args.cwd.clone(),
        sandbox: args.sandbox.argument(),
        background: args.background.then_some(true),
        ready: args.ready.clone(),
        options: RecipeOptions {
            anywhere: true,
            pty: args.pty,
            limits: Some(start::limits(&args.limits)),
            on_disconnect: Some(OnDisconnect::Detach),
            ..RecipeOptions::default()
        },
        ..RecipeRequest::default()
    })
}

/// Tells of a task that was started, and of one that did not get ready.
fn background(context: &Context, answer: &RunAnswer) -> Result<ExitCode, Failure> {
    let job = &answer.job.job;
    if matches!(answer.ready, Some(WaitReason::Exit | WaitReason::Timeout)) {
        let hint = format!("`umbo output {job}` says more");
        return Err(Failure::new(format!("job {job} ended before it was ready; {hint}")));
    }
    match context.format {
        Format::Json => output::json(answer)?,
        Format::Text => output::line(job)?,
    }
    Ok(ExitCode::SUCCESS)
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
    output::wrapped(&rows)?;
    Ok(ExitCode::SUCCESS)
}
