//! `umbo attach`: a person at a job's terminal.

use std::process::ExitCode;

use umbo_engine::Status;

use super::{exit_code, remark};
use crate::args::Attach;
use crate::attach::{self, Left};
use crate::context::Context;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(context: &Context, args: &Attach) -> Result<ExitCode, Failure> {
    let job = context.job(&args.job)?;
    let detach = umbo_engine::key(&args.detach_key)?;
    if let Status::Ended(_) = job.status()? {
        let hint = format!("`umbo output {}` prints what it wrote", job.id());
        return Err(Failure::new(format!("job {} has ended; {hint}", job.id())));
    }
    let left = attach::sit_down(&job, &detach)?;
    if let (Left::Ended, Some(outcome)) = (left, job.outcome()?) {
        let remark = remark(&outcome).unwrap_or_else(|| outcome.end.name().to_owned());
        output::talk(format_args!("umbo: {remark} (job {})", job.id()));
        return Ok(exit_code(&outcome));
    }
    output::talk(format_args!("umbo: left job {} running", job.id()));
    Ok(ExitCode::SUCCESS)
}
