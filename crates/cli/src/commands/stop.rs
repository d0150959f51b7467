//! `umbo stop`: the whole tree, to the last process.

use std::process::ExitCode;
use std::thread;

use umbo_engine::{Ladder, Status};
use umbo_ops::report::{self, Ended};

use super::ended;
use crate::args::Stop;
use crate::context::Context;
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Stop) -> Result<ExitCode, Failure> {
    let ladder = if args.kill {
        Ladder::KILL
    } else {
        Ladder { interrupt: args.interrupt, terminate: Some(args.grace) }
    };
    let mut code = ExitCode::SUCCESS;
    let mut jobs = Vec::new();
    for name in &args.jobs {
        match context.job(name) {
            Ok(job) => jobs.push(job),
            // Whatever else is named is to be stopped all the same.
            Err(failure) => code = failure.report(context.format),
        }
    }
    // Side by side: the graces of several jobs pass together.
    let climbs: Vec<_> = jobs
        .into_iter()
        .map(|job| {
            thread::spawn(move || {
                let was_over = matches!(job.status(), Ok(Status::Ended(_)));
                (was_over, job.stop(ladder))
            })
        })
        .collect();
    for climb in climbs {
        let (was_over, result) =
            climb.join().map_err(|_| Failure::new("a stop did not come to its end"))?;
        match (result, context.format) {
            (Ok(outcome), Format::Json) => output::json(&Ended::new(&outcome))?,
            (Ok(outcome), Format::Text) if was_over => {
                output::line(format_args!("{} had ended ({})", outcome.job, ended(&outcome)))?;
            }
            (Ok(outcome), Format::Text) => {
                let proof = match outcome.contained_by {
                    Some(proof) => format!("nothing left, by {}", report::containment_name(proof)),
                    None => "processes may be left".into(),
                };
                output::line(format_args!("{} {}: {proof}", outcome.job, outcome.end.name()))?;
            }
            (Err(error), _) => {
                Failure::from(error).report(context.format);
                code = ExitCode::from(OWN_FAILURE);
            }
        }
    }
    Ok(code)
}
