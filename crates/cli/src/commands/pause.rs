//! `umbo pause`, `umbo resume`, `umbo signal`: what is done to a job that goes on.

use std::process::ExitCode;

use umbo_engine::Reach;
use umbo_ops::{Call, Control, ControlRequest, Ticket, parse_signal};

use crate::args::{Pause, Signal, SignalTo};
use crate::context::{CallerWords, Context, Masking};
use crate::failure::{Failure, OWN_FAILURE};
use crate::output::{self, Format};

pub(crate) fn pause(context: &Context, args: &Pause) -> Result<ExitCode, Failure> {
    control(context, args.jobs.clone(), Control::Pause, "paused")
}

pub(crate) fn resume(context: &Context, args: &Pause) -> Result<ExitCode, Failure> {
    control(context, args.jobs.clone(), Control::Resume, "resumed")
}

pub(crate) fn signal(context: &Context, args: &Signal) -> Result<ExitCode, Failure> {
    let reach = match args.to {
        SignalTo::Group => Reach::Group,
        SignalTo::First => Reach::First,
        SignalTo::All => Reach::All,
    };
    let number =
        parse_signal(&args.name).map_err(|error| Failure::about(error, "signal", "SIGNAL"))?;
    control(context, vec![args.job.clone()], Control::Signal(number, reach), "signalled")
}

fn control(
    context: &Context,
    jobs: Vec<String>,
    control: Control,
    done: &str,
) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    let answer = umbo_ops::control(&call, &ControlRequest { jobs, control })?;
    let is_whole = answer.failed.is_empty();
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => {
            for job in &answer.jobs {
                output::line(format_args!("{job} {done}"))?;
            }
            for error in answer.failed {
                Failure::from(error).report(context.format);
            }
        }
    }
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::from(OWN_FAILURE) })
}
