//! `umbo write`: a file with a content.

use std::process::ExitCode;

use umbo_ops::files::{self, WantedOverwrite, WriteRequest};
use umbo_ops::{Call, Ticket};

use crate::args::Write;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Write) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = WriteRequest {
        path: args.path.clone(),
        content: verbs::given_text("--from", &args.from)?,
        // Whoever types this has read nothing here.
        overwrite: Some(if args.force { WantedOverwrite::Always } else { WantedOverwrite::Never }),
        executable: args.executable.then_some(true),
        dry_run: args.dry_run,
        no_parents: false,
    };
    let answer = files::write(&Call::new(&caller, &ticket), &request).map_err(|error| {
        let hint = matches!(error.code, umbo_ops::ErrorCode::Exists);
        let mut error = error;
        if hint {
            error.message = format!("{} already exists; --force replaces it", args.path);
        }
        error
    })?;
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => {
            verbs::print_diff(&answer.diff)?;
            let verb = match (answer.dry_run, answer.op) {
                (true, _) => "would write",
                (false, "create") => "created",
                (false, _) => "replaced",
            };
            let (path, bytes) = (&answer.path, answer.bytes);
            output::talk(format_args!("umbo: {verb} {path}, {bytes} bytes"));
            verbs::tell_change(answer.change.as_deref(), &answer.warnings);
        }
    }
    Ok(ExitCode::SUCCESS)
}
