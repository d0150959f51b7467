//! `umbo undo`: what `write` and `edit` changed, listed and taken back.

use std::process::ExitCode;

use umbo_ops::files::{self, ChangeKind, UndoAnswer, UndoRequest};
use umbo_ops::{Call, Count, Ticket};

use crate::args::Undo;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Undo) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = UndoRequest {
        list: args.list,
        change: args.change.clone(),
        call: args.call.clone(),
        job: args.job.clone(),
        path: args.path.clone(),
        limit: args.limit.map(Count),
        force: args.force,
        dry_run: args.dry_run,
    };
    let answer = files::undo(&Call::new(&caller, &ticket), &request).map_err(|mut error| {
        if error.code == umbo_ops::ErrorCode::UnknownChange {
            let message = if args.change.is_some() {
                "there is no such change; `umbo undo --list` lists them"
            } else {
                "nothing was changed here by `umbo write` or `umbo edit` that could be taken back"
            };
            message.clone_into(&mut error.message);
        }
        error
    })?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(answer: &UndoAnswer) -> Result<(), Failure> {
    if let Some(changes) = &answer.changes {
        let mut rows = vec![["CHANGE", "TIME", "WHAT", "FILES"].map(str::to_owned).to_vec()];
        let directory = Context::directory().unwrap_or_default();
        rows.extend(changes.iter().map(|change| {
            let kind = match change.kind {
                ChangeKind::Write => "write",
                ChangeKind::Edit => "edit",
                ChangeKind::Undo => "undo",
            };
            let short = |path: &String| {
                let path = std::path::Path::new(path);
                path.strip_prefix(&directory).unwrap_or(path).display().to_string()
            };
            let files: Vec<String> = change.files.iter().map(short).collect();
            let time = verbs::short_time(&change.time);
            vec![change.change.clone(), time, kind.to_owned(), files.join(" ")]
        }));
        if changes.is_empty() {
            output::talk("umbo: no changes");
            return Ok(());
        }
        return output::table(&rows, output::width());
    }
    for file in &answer.files {
        verbs::print_diff(&file.diff)?;
        let verb = if file.deleted { "deleted" } else { "restored" };
        output::talk(format_args!("umbo: {verb} {}", file.path));
    }
    if answer.dry_run {
        output::talk("umbo: nothing was changed");
    } else if answer.files.is_empty() {
        output::talk("umbo: nothing had to be changed");
    }
    Ok(())
}
