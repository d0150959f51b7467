//! `umbo stop`: the whole tree, to the last process.

use std::process::ExitCode;

use umbo_ops::{Call, OneOrMore, Seconds, StopRequest, StoppedJob, Ticket, UnknownJobs};

use super::ended;
use super::jobs::age;
use crate::args::Stop;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Stop) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    let request = StopRequest {
        job: OneOrMore::Several(args.jobs.clone()),
        grace: Some(Seconds(args.grace)),
        kill: args.kill,
        interrupt: args.interrupt,
        // Whatever else is named is to be stopped all the same.
        unknown: UnknownJobs::StopOthers,
    };
    let answer = {
        let grace = age(args.grace + args.interrupt.unwrap_or_default());
        let _working = Working::on(format!("stopping; killed after {grace}"));
        umbo_ops::stop(&call, &request)?
    };
    let is_whole = answer.failed.is_empty();
    if context.format == Format::Json {
        output::json(&answer)?;
    } else {
        answer.stopped.iter().try_for_each(tell)?;
        for error in answer.failed {
            Failure::from(error).report(context.format);
        }
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(OWN_FAILURE) })
}

fn tell(stopped: &StoppedJob) -> Result<(), Failure> {
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
