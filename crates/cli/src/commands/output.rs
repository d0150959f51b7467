//! `umbo output`: what a job wrote, sanitised and masked: all of it for a program; for a person a pager
//! where it is more than a screen, or else a bounded view. What is missing is told on standard error,
//! so that standard output is nothing but output.

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{Followed, JobHandle};
use umbo_ops::{
    Call, Count, OutputAnswer, OutputOptions, OutputRequest, Read, Ticket, output as read_output,
    reader,
};
use umbo_view::{Budget, Page, Part, Regex};
use unicode_width::UnicodeWidthStr;

use crate::args::{OnlyStream, Output};
use crate::budget::BudgetArg;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::pager::{self, Pager};
use crate::spinner::Working;

/// A log up to this length is read at once; a longer one in steps, so that it need not fit into memory.
const READ_AT_ONCE: u64 = 64 << 20;
const STEP: Budget = Budget { bytes: 16 << 20, ..Budget::UNLIMITED };

pub(crate) fn run(context: &Context, args: &Output) -> Result<ExitCode, Failure> {
    let words = CallerWords { budget: budget(context, args), ..CallerWords::default() };
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
    match context.format {
        Format::Json => {
            let answer = read_output(&call, &request)?;
            if args.unmask { output::json_unmasked(&answer) } else { output::json(&answer) }?;
        }
        Format::Text => show(context, &call, &request, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How much is shown. A program gets all of it, and so does a person who says which part, unless the
/// settings or the words say how much.
fn budget(context: &Context, args: &Output) -> Option<BudgetArg> {
    let is_bounded = context.format == Format::Json
        || args.errors
        || args.compare_to.is_some()
        || context.settings.output != Budget::default();
    let is_whole = !is_bounded && (!is_plain(args) || !output::is_terminal());
    args.budget.or(is_whole.then_some(BudgetArg::Unlimited))
}

/// Whether nothing says which part is wanted.
fn is_plain(args: &Output) -> bool {
    args.tail.is_none()
        && args.lines.is_none()
        && args.grep.is_none()
        && args.from.is_none()
        && !args.errors
        && args.compare_to.is_none()
}

/// Shows the part that is wanted: to a program, to a person, or to a person's pager where it is more
/// than a screen.
fn show(
    context: &Context,
    call: &Call<'_>,
    request: &OutputRequest,
    args: &Output,
) -> Result<(), Failure> {
    let is_configured = context.settings.minimize || context.settings.output != Budget::default();
    let is_whole = args.budget.is_none() && args.minimize.is_none() && !is_configured;
    let is_streamed = is_whole && (is_plain(args) || args.from.is_some()) && args.grep.is_none();
    if is_streamed && !output::is_terminal() {
        return stream(call, request, args, &mut Sink::Streams);
    }
    let answer = {
        let _working = Working::on("reading");
        read_output(call, request)?
    };
    let is_paged = !args.no_pager && args.budget.is_none() && is_long(&answer);
    if let Some(command) = pager::command().filter(|_| is_paged) {
        let mut sink = Sink::Pager(Pager::start(&command)?);
        let written = if is_streamed {
            stream(call, request, args, &mut sink)
        } else {
            print(&answer, args, &mut sink)
        };
        match written {
            Ok(()) | Err(Failure::BrokenPipe) => {}
            Err(failure) => return Err(failure),
        }
        if sink.finish()? {
            return Ok(());
        }
    }
    print(&answer, args, &mut Sink::Streams)
}

/// Whether it is more than a screen, or not all of what there is.
fn is_long(answer: &OutputAnswer) -> bool {
    let Some((columns, rows)) = output::size(output::Stream::Output) else { return false };
    let texts = parts(&answer.read).iter().filter_map(|part| match part {
        Part::Text { text, .. } => Some(text),
        _ => None,
    });
    let drawn = |line: &str| line.width().div_ceil(columns).max(1);
    let height: usize = texts.flat_map(|text| text.lines()).map(drawn).sum();
    answer.truncated == Some(true) || height >= rows
}

/// Where what is shown goes.
enum Sink {
    /// Text to standard output, what is said about it to standard error.
    Streams,
    Pager(Pager),
}

impl Sink {
    fn text(&mut self, text: &str) -> Result<(), Failure> {
        match self {
            Self::Streams => output::text(text),
            Self::Pager(pager) => pager.text(text),
        }
    }

    fn say(&mut self, notice: &str) -> Result<(), Failure> {
        match self {
            Self::Streams => output::talk(format_args!("umbo: {notice}")),
            Self::Pager(pager) => pager.text(&format!("[umbo: {notice}]\n"))?,
        }
        Ok(())
    }

    /// Whether somebody could read it.
    fn finish(self) -> Result<bool, Failure> {
        match self {
            Self::Streams => Ok(true),
            Self::Pager(pager) => pager.finish(),
        }
    }
}

/// Gives all of a log from an offset on, in steps.
fn stream(
    call: &Call<'_>,
    request: &OutputRequest,
    args: &Output,
    sink: &mut Sink,
) -> Result<(), Failure> {
    let job = call.job(&args.job)?;
    let reader = reader(call, &job, request)?;
    let length = job.log()?.length()?;
    let mut from = args.from.unwrap_or(0);
    let budget = if length.saturating_sub(from) <= READ_AT_ONCE { Budget::UNLIMITED } else { STEP };
    loop {
        let page = reader.page(from, &budget)?;
        give(&page.parts, sink)?;
        if page.at_end || page.next_offset <= from {
            break;
        }
        from = page.next_offset;
    }
    // While the job runs, pages stop before a line that has no end yet.
    if job.outcome()?.is_some() {
        call.told(&job);
    } else if let Some(begun) = reader.partial_line(&budget)? {
        sink.text(&begun)?;
    }
    Ok(())
}

fn give(parts: &[Part], sink: &mut Sink) -> Result<(), Failure> {
    for part in parts {
        match part {
            Part::Text { text, .. } => sink.text(text)?,
            notice => sink.say(&tell(notice))?,
        }
    }
    Ok(())
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

fn print(answer: &OutputAnswer, args: &Output, sink: &mut Sink) -> Result<(), Failure> {
    let read = &answer.read;
    if let Read::Text = read {
        return sink.text(&answer.output);
    }
    for part in parts(read) {
        match part {
            Part::Text { text, .. } => sink.text(text)?,
            Part::Omitted { .. } if !matches!(read, Read::View(_)) => {}
            notice => sink.say(&tell(notice))?,
        }
    }
    if let Read::Found(page) = read
        && page.matches == 0
        && let text = page.to_text()
        && !text.is_empty()
    {
        output::talk_lines(text.trim_end());
    }
    match missing(answer, args) {
        Some(said) => sink.say(&said),
        None => Ok(()),
    }
}

/// The last line: how much of what was asked for is not here, and how to get it.
fn missing(answer: &OutputAnswer, args: &Output) -> Option<String> {
    match &answer.read {
        Read::Page(page) | Read::Found(page) if !page.at_end => Some(format!(
            "there is more; go on with --from {}, or give a larger --budget",
            page.next_offset
        )),
        Read::Lines(page) => {
            let shown = page.counts.shown_lines;
            let wanted = args.tail.filter(|wanted| shown < *wanted)?;
            if answer.truncated == Some(true) {
                return Some(format!(
                    "{shown} of the {wanted} lines are shown: the budget is full; --budget none has \
                     all"
                ));
            }
            output::is_error_terminal()
                .then(|| format!("{shown} lines are shown, not {wanted}: there are no more"))
        }
        Read::View(view) if view.truncated => {
            let counts = &view.counts;
            let all =
                if let (Some(total), Some(omitted)) = (counts.total_lines, counts.omitted_lines) {
                    let folded = match counts.folded_lines {
                        0 => String::new(),
                        folded => format!(", {folded} folded"),
                    };
                    let shown = counts.shown_lines;
                    format!("{shown} of {total} lines are shown, {omitted} left out{folded}")
                } else {
                    let (shown, total) = (counts.shown_bytes, counts.total_bytes);
                    format!("{shown} of {total} bytes are shown")
                };
            Some(format!("{all}; --budget none prints all"))
        }
        _ => None,
    }
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
    give(&page.parts, &mut Sink::Streams)
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
