//! `umbo restart`: the same once more, in the place of what runs.

use std::process::ExitCode;

use umbo_engine::{End, Ladder, Stdin};
use umbo_ops::{Call, ErrorCode, RestartAnswer, RestartRequest, Ticket};

use super::start;
use crate::args::Restart;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Restart) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: context.masking(), ..CallerWords::default() };
    let caller = context.caller(&words)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    // All are found before any is stopped.
    let jobs = args.jobs.iter().map(|name| call.job(name)).collect::<Result<Vec<_>, _>>()?;
    let env = start::variables(&args.env)?;
    for job in jobs {
        let request = RestartRequest {
            job: job.id().to_string(),
            env: env.clone(),
            stdin: stdin(args.stdin.as_deref())?,
            ladder: Ladder { interrupt: None, terminate: Some(args.grace) },
        };
        report(context, &umbo_ops::restart(&call, &request)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn stdin(word: Option<&str>) -> Result<Option<Stdin>, Failure> {
    word.map(|text| match text.strip_prefix('@') {
        Some(path) => Ok(Stdin::File(Context::directory()?.join(path))),
        None => Ok(Stdin::Bytes(secrets::restored(text.into())?.into_bytes())),
    })
    .transpose()
}

fn report(context: &Context, answer: &RestartAnswer) -> Result<(), Failure> {
    if let Ok(job) = context.backend.job(&answer.job.job) {
        start::tell_of_queue(&job);
    }
    if let Some(outcome) = &answer.job.outcome
        && let End::FailedToStart { why } = &outcome.end
    {
        let message = format!("job {} failed to start: {why}", answer.job.job);
        return Err(Failure::coded(ErrorCode::FailedToStart, None, message));
    }
    match context.format {
        Format::Json => output::json(answer),
        Format::Text => output::line(&answer.job.job),
    }
}
