//! `umbo input`: typing into a job.

use std::process::ExitCode;

use umbo_ops::{Call, InputRequest, Ticket};

use crate::args::Input;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Input) -> Result<ExitCode, Failure> {
    if args.text.is_none() && args.keys.is_empty() && !args.eof && args.resize.is_none() {
        return Err(Failure::new("input: nothing to send; give TEXT, --key, --eof or --resize"));
    }
    let words =
        CallerWords { mode: args.mode, masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.caller(&words)?;
    let ticket = Ticket::alone();
    let request = InputRequest {
        job: args.job.clone(),
        text: args.text.clone().map(secrets::restored).transpose()?,
        keys: Some(args.keys.clone()),
        eof: args.eof,
        resize: args.resize,
        ..InputRequest::default()
    };
    let answer = umbo_ops::input(&Call::new(&caller, &ticket), &request)?;
    if context.format == Format::Json {
        output::json(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}
