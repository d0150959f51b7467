//! `umbo screen`: what a terminal shows.

use std::process::ExitCode;

use umbo_ops::{Call, ScreenRequest, Ticket};

use crate::args::Screen;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Screen) -> Result<ExitCode, Failure> {
    let caller = context.observer(&CallerWords::default())?;
    let ticket = Ticket::alone();
    let request = ScreenRequest { job: args.job.clone() };
    let answer = umbo_ops::screen(&Call::new(&caller, &ticket), &request)?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => {
            output::text(format_args!("{}\n", caller.mask(&answer.lines.join("\n"))))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
