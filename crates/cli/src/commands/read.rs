//! `umbo read`: what is at a path, whatever it is.

use std::process::ExitCode;

use umbo_ops::files::{self, LineStyle, ReadAnswer, ReadOptions, ReadRequest};
use umbo_ops::{Call, Count, Ticket};

use crate::args::Read;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Read) -> Result<ExitCode, Failure> {
    let masking = if args.unmask { Masking::Nothing } else { Masking::Secrets };
    let words = CallerWords { mode: args.mode, masking, ..CallerWords::default() };
    let (caller, ticket) = (context.caller(&words)?, Ticket::alone());
    let style = match context.format {
        Format::Json => LineStyle::Anchors,
        Format::Text if args.anchors => LineStyle::Anchors,
        // Whoever pipes it on wants the lines.
        Format::Text if args.plain || !output::is_terminal() => LineStyle::Plain,
        Format::Text => LineStyle::Numbers,
    };
    let request = ReadRequest {
        path: args.path.clone(),
        summary: args.summary,
        hex: args.hex,
        max_lines: args.max_lines.map(Count),
        options: ReadOptions { style, ..ReadOptions::default() },
    };
    let answer = files::read(&Call::new(&caller, &ticket), &request)?;
    match context.format {
        Format::Json if args.unmask => output::json_unmasked(&answer)?,
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(answer: &ReadAnswer) -> Result<(), Failure> {
    output::content(&answer.text)?;
    if answer.found_by.is_some() {
        output::talk(format_args!("umbo: this is {}", answer.path));
    }
    if let Some(next) = answer.next_line {
        let total = answer.total_lines.map(|lines| format!(" of {lines}")).unwrap_or_default();
        let path = &answer.path;
        output::talk(format_args!("umbo: {} lines{total}; go on with {path}:{next}", next - 1));
    }
    for note in &answer.notes {
        output::talk(format_args!("umbo: {}", note.trim_matches(['[', ']'])));
    }
    Ok(())
}
