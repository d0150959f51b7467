//! `umbo wait`: until one thing is true.

use std::process::ExitCode;
use std::time::Instant;

use umbo_ops::{Call, Count, Port, Seconds, Ticket, WaitAnswer, WaitReason, WaitRequest};

use super::{ended, exit_code};
use crate::args::Wait;
use crate::context::{CallerWords, Context};
use crate::failure::{Failure, TIMED_OUT};
use crate::output::{self, Format};
use crate::secrets;
use crate::spinner::Spinner;

pub(crate) fn run(context: &Context, args: &Wait) -> Result<ExitCode, Failure> {
    let caller = context.observer(&CallerWords::default())?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    // All are found before any is waited for.
    let jobs = args.jobs.iter().map(|name| call.job(name)).collect::<Result<Vec<_>, _>>()?;
    let deadline = args.timeout.map(|timeout| Instant::now() + timeout);
    let mut code = ExitCode::SUCCESS;
    for job in jobs {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let request = WaitRequest {
            job: job.id().to_string(),
            pattern: args.pattern.clone(),
            from: Some(Count(args.from)),
            port: args.port.clone().map(Port::Text),
            file: args.file.clone(),
            quiet: args.quiet.map(Seconds),
            timeout: left.map(Seconds),
            without_output: context.format == Format::Text,
            ..WaitRequest::default()
        };
        let answer = {
            let _spinner = Spinner::start(&job);
            umbo_ops::wait(&call, &request)?
        };
        report(context, &answer)?;
        // The first that failed is told; what follows is waited for all the same.
        if code == ExitCode::SUCCESS {
            code = code_of(&answer, &request);
        }
        if answer.met == WaitReason::Timeout {
            break;
        }
    }
    Ok(code)
}

/// The exit code that says which condition was met.
fn code_of(answer: &WaitAnswer, request: &WaitRequest) -> ExitCode {
    let outcome = answer.job.outcome.as_ref();
    match answer.met {
        WaitReason::Exit => match outcome.map(|outcome| exit_code(outcome)) {
            // It waited for something that will not come: the job ended first.
            None | Some(ExitCode::SUCCESS) if !request.is_for_the_end() => ExitCode::FAILURE,
            None => ExitCode::SUCCESS,
            Some(code) => code,
        },
        WaitReason::Timeout => ExitCode::from(TIMED_OUT),
        WaitReason::Match | WaitReason::Port | WaitReason::File | WaitReason::Quiet => {
            ExitCode::SUCCESS
        }
    }
}

/// Says which condition was met.
fn report(context: &Context, answer: &WaitAnswer) -> Result<(), Failure> {
    if context.format == Format::Json {
        return output::json(answer);
    }
    let detail = answer.text.as_ref().map(|text| format!(": {}", secrets::hidden(text)));
    let detail = detail.unwrap_or_default();
    let job = &answer.job;
    let state = job.outcome.as_ref().map_or_else(|| job.state.to_owned(), |outcome| ended(outcome));
    output::line(format_args!("{} {} ({state}){detail}", job.job, answer.met.as_str()))
}
