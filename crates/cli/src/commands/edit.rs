//! `umbo edit`: changes in files, all of them or none.

use std::process::ExitCode;

use umbo_ops::files::{self, EditAnswer, EditRequest, Replacement};
use umbo_ops::{Call, Ticket};

use crate::args::Edit;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Edit) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let given = |name: &str, file: &Option<std::path::PathBuf>| {
        file.as_deref().map(|file| verbs::given_text(name, file)).transpose()
    };
    let edits =
        args.old.as_ref().zip(args.new.as_ref()).map(|(old, new)| {
            vec![Replacement { old: old.clone(), new: new.clone(), all: args.all }]
        });
    let request = EditRequest {
        input: given("--input", &args.input)?,
        patch: given("--patch", &args.patch)?,
        path: args.path.clone(),
        edits,
        dry_run: args.dry_run,
        if_read: false,
    };
    let answer = files::edit(&Call::new(&caller, &ticket), &request)?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(answer: &EditAnswer) -> Result<(), Failure> {
    for file in &answer.files {
        verbs::print_diff(&file.diff)?;
        let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let (op, path) = (file.op, &file.path);
        output::talk(format_args!("umbo: {op} {path}{from} +{} -{}", file.added, file.removed));
    }
    if answer.dry_run {
        output::talk("umbo: nothing was changed");
    }
    verbs::tell_change(answer.change.as_deref(), &answer.warnings);
    Ok(())
}
