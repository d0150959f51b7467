//! `umbo tree`: a directory and what is below it.

use std::process::ExitCode;

use umbo_ops::files::{self, TreeRequest};
use umbo_ops::{Call, Count, Ticket};

use crate::args::Tree;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Tree) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = TreeRequest {
        path: args.path.clone(),
        depth: args.depth.map(Count),
        per_directory: args.per_directory.map(Count),
        order: args.order.map(verbs::order_of),
        no_hidden: args.no_hidden,
        ignored: args.ignored,
        limit: args.limit.map(Count),
    };
    let answer = {
        let _working = Working::on("looking");
        files::tree(&Call::new(&caller, &ticket), &request)?
    };
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => {
            let width = output::width().unwrap_or(usize::MAX);
            for line in answer.text.lines() {
                output::line(output::cut(line, width))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
