//! `umbo prune`: ended jobs leave the disk.

use std::process::ExitCode;

use umbo_ops::{Call, PruneRequest, Seconds, Ticket};

use crate::args::Prune;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Prune) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    // Jobs are deleted also where there is no place for rules.
    let caller = context.caller(&words).or_else(|_| context.observer(&words))?;
    let ticket = Ticket::alone();
    let request = PruneRequest { older_than: Some(Seconds(args.older_than)) };
    let answer = umbo_ops::prune(&Call::new(&caller, &ticket), &request)?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => output::line(format_args!("{} jobs deleted", answer.removed.len()))?,
    }
    Ok(ExitCode::SUCCESS)
}
