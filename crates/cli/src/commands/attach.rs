//! `umbo attach`: a person at a job's terminal.

use std::process::ExitCode;
use std::sync::Arc;

use umbo_ops::{Attachment, ScreenRequest, Ticket};

use super::{exit_code, remark};
use crate::args::Attach;
use crate::attach::{self, Left};
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(context: &Context, args: &Attach) -> Result<ExitCode, Failure> {
    let words =
        CallerWords { mode: args.mode, masking: Masking::Nothing, ..CallerWords::default() };
    let caller = Arc::new(context.caller(&words)?);
    let detach = umbo_engine::key(&args.detach_key)?;
    let request = ScreenRequest { job: args.job.clone() };
    let attachment = Arc::new(umbo_ops::attach(caller, Ticket::alone(), &request)?);
    let left = attach::sit_down(&attachment, &detach)?;
    told(&attachment, left)
}

fn told(attachment: &Attachment, left: Left) -> Result<ExitCode, Failure> {
    let job = attachment.job();
    if let (Left::Ended, Some(outcome)) = (left, job.outcome()?) {
        let remark = remark(&outcome).unwrap_or_else(|| outcome.end.name().to_owned());
        output::talk(format_args!("umbo: {remark} (job {})", job.id()));
        return Ok(exit_code(&outcome));
    }
    output::talk(format_args!("umbo: left job {} running", job.id()));
    Ok(ExitCode::SUCCESS)
}
