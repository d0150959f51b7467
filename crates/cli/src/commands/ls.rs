//! `umbo ls`: the entries of a directory.

use std::path::Path;
use std::process::ExitCode;

use umbo_ops::files::{self, EntryKind, ListAnswer, ListRequest, render};
use umbo_ops::{Call, Count, Ticket};

use crate::args::Ls;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Cell, Format};

pub(crate) fn run(context: &Context, args: &Ls) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = ListRequest {
        path: args.path.clone(),
        order: args.order.map(verbs::order_of),
        no_hidden: args.no_hidden,
        no_ignored: args.no_ignored,
        limit: args.limit.map(Count),
        skip: args.skip.map(Count),
    };
    let answer = files::list(&Call::new(&caller, &ticket), &request)?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(args.path.as_deref().map(Path::new), &answer)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(path: Option<&Path>, answer: &ListAnswer) -> Result<(), Failure> {
    let directory = path.unwrap_or_else(|| Path::new("."));
    let rows: Vec<Vec<Cell>> = answer
        .entries
        .iter()
        .map(|entry| {
            let (size, end) = match entry.kind {
                EntryKind::Directory => ("-".to_owned(), "/".to_owned()),
                EntryKind::File => (render::size(entry.size), String::new()),
                EntryKind::Link => {
                    ("-".to_owned(), format!(" -> {}", entry.target.as_deref().unwrap_or("?")))
                }
                EntryKind::Pipe => ("-".to_owned(), " (pipe)".to_owned()),
                EntryKind::Socket => ("-".to_owned(), " (socket)".to_owned()),
                EntryKind::Device => ("-".to_owned(), " (device)".to_owned()),
            };
            let name = format!("{}{end}", entry.name);
            let file = Cell::file(name, &directory.join(&entry.name));
            vec![size.into(), verbs::short_time(&entry.modified).into(), file]
        })
        .collect();
    output::table(&rows, output::width())?;
    if answer.left_out > 0 {
        output::talk(format_args!(
            "umbo: {} more of {}; go on with --skip",
            answer.left_out, answer.total
        ));
    }
    Ok(())
}
