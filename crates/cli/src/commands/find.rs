//! `umbo find`: files by their names, newest first.

use std::path::Path;
use std::process::ExitCode;

use umbo_ops::files::{self, FindAnswer, FindRequest, Paths, WantedKind, render};
use umbo_ops::{Call, Count, Seconds, Ticket};

use crate::args::Find;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Cell, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Find) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = FindRequest {
        paths: Paths(args.paths.clone()),
        kind: match (args.directories, args.any) {
            (true, _) => Some(WantedKind::Directories),
            (_, true) => Some(WantedKind::Any),
            _ => None,
        },
        no_hidden: args.no_hidden,
        ignored: args.ignored,
        limit: args.limit.map(Count),
        timeout: args.timeout.map(Seconds),
    };
    let answer = {
        let _working = Working::on("looking");
        files::find(&Call::new(&caller, &ticket), &request)?
    };
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer, args.long)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(answer: &FindAnswer, long: bool) -> Result<(), Failure> {
    if long {
        let row = |file: &files::FoundFile| {
            vec![
                render::size(file.size).into(),
                verbs::short_time(&files::time(file.modified)).into(),
                Cell::file(&file.path, Path::new(&file.path)),
            ]
        };
        let rows: Vec<Vec<Cell>> = answer.found.iter().map(row).collect();
        output::table(&rows, None)?;
    } else {
        for path in &answer.files {
            output::file(path, Path::new(path))?;
        }
    }
    let shown = answer.files.len() as u64;
    if shown == 0 {
        output::talk("umbo: no files found");
    } else if answer.total > shown {
        output::talk(format_args!(
            "umbo: the newest {shown} of {}; --limit has more",
            answer.total
        ));
    }
    verbs::tell_unfinished(&answer.missing, answer.stopped);
    Ok(())
}
