//! `umbo output`: what a job wrote, as a view of its log: sanitised, masked, bounded. What is
//! missing is told on standard error, so that standard output is nothing but output.

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{Followed, JobHandle};
use umbo_ops::{
    Call, Count, OutputAnswer, OutputOptions, OutputRequest, Read, Ticket, output as read_output,
    reader,
};
use umbo_view::{Budget, Page, Part, Regex};

use crate::args::{OnlyStream, Output};
use crate::budget::BudgetArg;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Output) -> Result<ExitCode, Failure> {
    let words = CallerWords { budget: args.budget, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let call = Call::new(&caller, &ticket);
    if args.raw {
        return raw(&call.job(&args.job)?, args);
    }
    if args.rendered {
        return rendered(context, &call, args);
    }
    let request = request(args);
    if args.follow {
        return follow(&call, &request, args);
    }
    let answer = read_output(&call, &request)?;
    match context.format {
        Format::Json if args.unmask => output::json_unmasked(&answer)?,
        Format::Json => output::json(&answer)?,
        Format::Text => print(&answer)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The request that the words make.
fn request(args: &Output) -> OutputRequest {
    OutputRequest {
        job: args.job.clone(),
        from: args.from.map(Count),
        lines: args.lines.clone(),
        tail: args.tail.map(Count),
        grep: args.grep.clone(),
        errors: args.errors,
        compare_to: args.compare_to.clone(),
        minimize: args.minimize,
        context: args.context.map(|lines| Count(lines as u64)),
        stream: args.stream.map(|stream| match stream {
            OnlyStream::Stdout => umbo_ops::OnlyStream::Stdout,
            OnlyStream::Stderr => umbo_ops::OnlyStream::Stderr,
        }),
        options: OutputOptions { since: args.since, until: args.until, unmask: args.unmask },
        ..OutputRequest::default()
    }
}

fn parts(read: &Read) -> &[Part] {
    match read {
        Read::Text => &[],
        Read::View(view) => &view.parts,
        Read::Page(page) | Read::Lines(page) | Read::Found(page) | Read::Last(page) => &page.parts,
    }
}

fn print(answer: &OutputAnswer) -> Result<(), Failure> {
    let read = &answer.read;
    if let Read::Text = read {
        return output::text(&answer.output);
    }
    for part in parts(read) {
        match part {
            Part::Text { text, .. } => output::text(text)?,
            Part::Omitted { .. } if !matches!(read, Read::View(_)) => {}
            notice => output::talk(format_args!("umbo: {}", tell(notice))),
        }
    }
    if let Read::Found(page) = read
        && page.matches == 0
        && let text = page.to_text()
        && !text.is_empty()
    {
        output::talk_lines(text.trim_end());
    }
    if let Read::Page(page) | Read::Found(page) = read
        && !page.at_end
    {
        output::talk(format_args!(
            "umbo: there is more; go on with --from {}, or give a larger --budget",
            page.next_offset
        ));
    }
    Ok(())
}

/// What a part that is not text says.
fn tell(part: &Part) -> String {
    let counted = |lines: Option<u64>| match lines {
        Some(lines) => format!(" in {lines} lines"),
        None => String::new(),
    };
    match part {
        Part::Text { .. } => String::new(),
        Part::Clamped { bytes, offset } => {
            format!(
                "a line was cut here by {bytes} bytes; --from {} --budget none has it",
                offset.start
            )
        }
        Part::Omitted { offset, bytes, lines } => {
            format!(
                "{bytes} bytes{} are not shown here; --from {} has them",
                counted(*lines),
                offset.start
            )
        }
        Part::Lost { bytes, offset } => {
            format!("{bytes} bytes were not kept (offsets {} to {})", offset.start, offset.end)
        }
        Part::Folded { lines, rule, offset, .. } => {
            format!("{lines} lines of {rule} are folded here; --from {} has them", offset.start)
        }
    }
}

/// Prints a log as it grows.
fn follow(call: &Call<'_>, request: &OutputRequest, args: &Output) -> Result<ExitCode, Failure> {
    let job = &call.job(&args.job)?;
    let pattern = match &args.grep {
        Some(text) => Some(Regex::new(text).map_err(|error| Failure::invalid("--grep", error))?),
        None => None,
    };
    let start = match (args.tail, args.from) {
        (Some(lines), _) if pattern.is_none() => {
            let page = reader(call, job, request)?.tail(lines, &Budget::UNLIMITED)?;
            print_text(&page)?;
            page.next_offset
        }
        (None, Some(offset)) if pattern.is_none() => offset,
        _ => 0,
    };
    let mut news = job.follow(start)?;
    let mut follower = umbo_view::Follower::new(start);
    loop {
        let is_over = news.next(None)? == Followed::Ended;
        // Bounded steps, so that a long log does not have to fit into memory.
        let budget = BudgetArg::or(args.budget, Budget { bytes: 1 << 20, ..Budget::UNLIMITED });
        let reader = reader(call, job, request)?;
        loop {
            let before = follower.offset();
            let page = follower.next(&reader, &budget)?;
            match &pattern {
                None => print_text(&page)?,
                Some(pattern) => print_matches(&page, pattern)?,
            }
            if page.at_end || follower.offset() == before {
                break;
            }
        }
        if is_over {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

fn print_text(page: &Page) -> Result<(), Failure> {
    for part in &page.parts {
        match part {
            Part::Text { text, .. } => output::text(text)?,
            notice => output::talk(format_args!("umbo: {}", tell(notice))),
        }
    }
    Ok(())
}

fn print_matches(page: &Page, pattern: &Regex) -> Result<(), Failure> {
    for part in &page.parts {
        if let Part::Text { text, .. } = part {
            for line in text.lines().filter(|line| pattern.is_match(line)) {
                output::line(line)?;
            }
        }
    }
    Ok(())
}

/// Prints what a terminal showed, line by line.
fn rendered(context: &Context, call: &Call<'_>, args: &Output) -> Result<ExitCode, Failure> {
    let job = call.job(&args.job)?;
    let text = job.transcript()?.join("\n");
    let text = if args.unmask { text } else { call.caller.mask(&text) };
    match context.format {
        Format::Json => output::json(&Rendered { job: job.id().as_str(), output: &text })?,
        Format::Text => output::text(format_args!("{text}\n"))?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Rendered<'a> {
    job: &'a str,
    output: &'a str,
}

/// Prints the exact bytes.
fn raw(job: &JobHandle, args: &Output) -> Result<ExitCode, Failure> {
    if output::is_terminal() && !args.unmask {
        let hint = "redirect it to a file, or add --unmask";
        return Err(Failure::invalid(
            "--raw",
            format_args!("it would show secrets on this terminal; {hint}"),
        ));
    }
    if args.tail.is_some() || args.lines.is_some() || args.grep.is_some() {
        return Err(Failure::invalid("--raw", "it takes --from, --stream and --follow, no lines"));
    }
    let timeout = if args.follow { None } else { Some(Duration::ZERO) };
    let end = job.log()?.length()?;
    let mut follower = job.follow(args.from.unwrap_or(0))?;
    while args.follow || follower.position() < end {
        match follower.next(timeout)? {
            Followed::Bytes { stream, bytes, .. } => {
                let is_error = stream == umbo_engine::Stream::Stderr;
                let is_wanted = match args.stream {
                    None => true,
                    Some(OnlyStream::Stdout) => !is_error,
                    Some(OnlyStream::Stderr) => is_error,
                };
                if is_wanted {
                    output::job_bytes(output::Stream::Output, &bytes)?;
                }
            }
            Followed::Omitted(range) => output::talk(format_args!(
                "umbo: {} bytes were not kept (offsets {} to {})",
                range.end - range.start,
                range.start,
                range.end
            )),
            Followed::Nothing | Followed::Ended => break,
        }
    }
    Ok(ExitCode::SUCCESS)
}
