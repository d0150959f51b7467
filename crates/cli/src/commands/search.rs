//! `umbo search`: text in files. Each file's matches come under its name, with their line numbers.

use std::path::Path;
use std::process::ExitCode;

use umbo_ops::files::{self, Paths, SearchAnswer, SearchOptions, SearchRequest, WantedOutput};
use umbo_ops::{Call, Count, Ticket};
use umbo_view::visible_line;

use crate::args::Search;
use crate::context::Context;
use crate::failure::Failure;
use crate::files as verbs;
use crate::output::{self, Format};
use crate::spinner::Working;

pub(crate) fn run(context: &Context, args: &Search) -> Result<ExitCode, Failure> {
    let (caller, ticket) = (verbs::caller(context, args.mode)?, Ticket::alone());
    let request = SearchRequest {
        pattern: args.pattern.clone(),
        paths: Paths(args.paths.clone()),
        ignore_case: args.ignore_case,
        literal: args.literal,
        word: args.word,
        multiline: args.multiline.then_some(true),
        context: args.context.map(Count),
        output: match (args.files, args.counts) {
            (true, _) => Some(WantedOutput::Files),
            (_, true) => Some(WantedOutput::Counts),
            _ => None,
        },
        ignored: args.ignored,
        limit: args.limit.map(Count),
        skip: args.skip.map(Count),
        options: SearchOptions {
            globs: args.glob.clone(),
            file_type: args.file_type.clone(),
            no_hidden: args.no_hidden,
            ..SearchOptions::default()
        },
    };
    let answer = {
        let _working = Working::on("searching");
        files::search(&Call::new(&caller, &ticket), &request)?
    };
    match context.format {
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer, request.output)?,
    }
    // As `grep` says it: 1 is that nothing was found.
    Ok(if answer.total_matches == 0 { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn print(answer: &SearchAnswer, wanted: Option<WantedOutput>) -> Result<(), Failure> {
    let has_lines = matches!(wanted, None | Some(WantedOutput::Lines));
    if answer.files.is_empty() {
        output::talk("umbo: no matches");
    } else if has_lines {
        let width = output::width().unwrap_or(usize::MAX);
        for (at, file) in answer.files.iter().enumerate() {
            if at > 0 {
                output::line("")?;
            }
            output::file(&file.path, Path::new(&file.path))?;
            let mut last = None;
            for line in &file.lines {
                if last.is_some_and(|last| line.number > last + 1) {
                    output::line("--")?;
                }
                last = Some(line.number);
                let mark = if line.is_match { ':' } else { '-' };
                let text = format!("{}{mark}{}", line.number, visible_line(&line.text));
                output::line(output::cut(&text, width))?;
            }
        }
    } else {
        output::content(&answer.text)?;
    }
    if let Some(next) = answer.next_skip {
        output::talk(format_args!(
            "umbo: {} of {} matches in {} files; go on with --skip {next}",
            answer.shown, answer.total_matches, answer.total_files
        ));
    }
    if let Some(pattern) = &answer.repaired_pattern {
        output::talk(format_args!("umbo: searched for {pattern}"));
    }
    verbs::tell_unfinished(&answer.missing, answer.stopped);
    Ok(())
}
