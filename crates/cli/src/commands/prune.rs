//! `umbo prune`: ended jobs leave the disk.

use std::process::ExitCode;
use std::time::Duration;

use umbo_ops::{Call, PruneRequest, Seconds, Ticket};

use super::jobs::age as shown_age;
use crate::args::Prune;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Prune) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    // Jobs are deleted also where there is no place for rules.
    let caller = context.caller(&words).or_else(|_| context.observer(&words))?;
    let ticket = Ticket::alone();
    let age = if args.all { Duration::ZERO } else { args.older_than };
    let request = PruneRequest { older_than: Some(Seconds(age)), dry_run: args.is_plan };
    let answer = {
        let _working = Working::on("deleting jobs");
        umbo_ops::prune(&Call::new(&caller, &ticket), &request)?
    };
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text if args.is_plan => {
            answer.removed.iter().try_for_each(output::line)?;
            let count = answer.removed.len();
            output::talk(format_args!("{count} jobs would be deleted"));
        }
        Format::Text => output::line(format_args!("{} jobs deleted", answer.removed.len()))?,
    }
    if answer.removed.is_empty() && !args.all && output::is_error_terminal() {
        let age = shown_age(age);
        output::talk(format_args!("none ended more than {age} ago; --all takes all that ended"));
    }
    Ok(ExitCode::SUCCESS)
}
