//! `umbo input`: typing into a job.

use std::process::ExitCode;

use serde::Serialize;

use crate::args::Input;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Input) -> Result<ExitCode, Failure> {
    if args.text.is_none() && args.keys.is_empty() && !args.eof && args.resize.is_none() {
        return Err(Failure::new("input: nothing to send; give TEXT, --key, --eof or --resize"));
    }
    let job = context.job(&args.job)?;
    let mut bytes = secrets::restored(args.text.clone().unwrap_or_default())?.into_bytes();
    for name in &args.keys {
        bytes.extend(umbo_engine::key(name)?);
    }
    if let Some(size) = args.resize {
        job.resize(size)?;
    }
    if !bytes.is_empty() {
        job.input(&bytes)?;
    }
    if args.eof {
        job.end_input()?;
    }
    if context.format == Format::Json {
        output::json(&Sent { job: job.id().as_str(), bytes: bytes.len(), eof: args.eof })?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Sent<'a> {
    job: &'a str,
    bytes: usize,
    eof: bool,
}
