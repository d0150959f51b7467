//! `umbo stop`: the whole tree, to the last process.

use std::process::ExitCode;

use umbo_ops::{Call, OneOrMore, Seconds, StopRequest, StoppedJob, Ticket};

use super::ended;
use crate::args::Stop;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Stop) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    let mut code = ExitCode::SUCCESS;
    let mut jobs = Vec::new();
    for name in &args.jobs {
        match call.job(name) {
            Ok(job) => jobs.push(job),
            // Whatever else is named is to be stopped all the same.
            Err(error) => code = Failure::from(error).report(context.format),
        }
    }
    let request = StopRequest {
        job: OneOrMore::Several(args.jobs.clone()),
        grace: Some(Seconds(args.grace)),
        kill: args.kill,
        interrupt: args.interrupt,
    };
    for stopped in umbo_ops::stop_each(&call, jobs, &request) {
        match stopped {
            Ok(stopped) => tell(context, &stopped)?,
            Err(error) => {
                Failure::from(error).report(context.format);
                code = ExitCode::from(OWN_FAILURE);
            }
        }
    }
    Ok(code)
}

fn tell(context: &Context, stopped: &StoppedJob) -> Result<(), Failure> {
    if context.format == Format::Json {
        return output::json(stopped);
    }
    let job = &stopped.job;
    match &job.outcome {
        Some(outcome) if stopped.already_ended == Some(true) => {
            output::line(format_args!("{} had ended ({})", job.job, ended(outcome)))
        }
        _ => {
            let proof = match job.contained_by {
                Some(proof) => format!("nothing left, by {proof}"),
                None => "processes may be left".into(),
            };
            output::line(format_args!("{} {}: {proof}", job.job, job.state))
        }
    }
}
