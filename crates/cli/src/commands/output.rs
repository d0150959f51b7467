//! `umbo output`: what a job wrote, as a view of its log: sanitised, masked, bounded. What is
//! missing is told on standard error, so that standard output is nothing but output.

use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_engine::{Followed, Job};
use umbo_tools::JobLog;
use umbo_view::mask::Masker;
use umbo_view::{Budget, Find, Page, Part, Reader, Regex, Stream, View, ViewOptions, compare};

use crate::args::{OnlyStream, Output};
use crate::budget::Room;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Output) -> Result<ExitCode, Failure> {
    let job = context.job(&args.job)?;
    if args.raw {
        return raw(&job, args);
    }
    let masker = if args.unmask { None } else { Some(secrets::masker()?) };
    if args.rendered {
        return rendered(context, &job, masker.as_ref());
    }
    let budget = Room::or(args.budget, context.settings.output);
    if args.follow {
        return follow(&job, args, masker.as_ref());
    }
    let reader = reader(&job, args, masker.as_ref())?;
    if let Some(earlier) = &args.compare_to {
        return compared(context, earlier, &reader, masker.as_ref(), &budget);
    }
    let read = match selection(args)? {
        Selection::All => Read::View(Box::new(reader.view(&ViewOptions {
            budget,
            minimize: args.minimize.unwrap_or(context.settings.minimize),
            fold: args.minimize != Some(false),
            ..ViewOptions::default()
        })?)),
        Selection::From(offset) => Read::Page(reader.page(offset, &budget)?),
        Selection::Tail(lines) => {
            let page = reader.tail(lines, &budget)?;
            let cut = page.counts.shown_lines < lines && page.offset.start > 0;
            Read::Lines(page, Cut::of(cut))
        }
        Selection::Lines(range) => {
            let lines = (range.end() - range.start()).saturating_add(1);
            let page = reader.lines(range, &budget)?;
            let cut = page.counts.shown_lines < lines && !page.at_end;
            Read::Lines(page, Cut::of(cut))
        }
        Selection::Grep(pattern) if args.tail.is_some() => {
            let page = reader.grep(&pattern, &find(args, Budget::UNLIMITED))?;
            Read::Last(page, args.tail.unwrap_or_default())
        }
        Selection::Grep(pattern) => Read::Found(reader.grep(&pattern, &find(args, budget))?),
        Selection::Errors => Read::Found(reader.errors(&find(args, budget))?),
    };
    match context.format {
        Format::Json if args.unmask => output::json_unmasked(&Printed::new(&job, &read)?)?,
        Format::Json => output::json(&Printed::new(&job, &read)?)?,
        Format::Text => print(&read)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what changed since another run.
fn compared(
    context: &Context,
    earlier: &str,
    now: &Reader<'_, JobLog>,
    masker: Option<&Masker>,
    budget: &Budget,
) -> Result<ExitCode, Failure> {
    let mut before = Reader::new(JobLog::open(&context.job(earlier)?)?);
    if let Some(masker) = masker {
        before = before.mask(masker);
    }
    let changes = compare(&before, now, ViewOptions::default().scan_bytes)?;
    let texts = |failures: &[umbo_view::Failure]| -> Vec<String> {
        failures.iter().map(|failure| failure.text.clone()).collect()
    };
    match context.format {
        Format::Json => output::json(&Changed {
            new: texts(&changes.new),
            fixed: texts(&changes.fixed),
            still_failing: texts(&changes.still),
        })?,
        Format::Text => output::bytes(changes.to_text(budget).as_bytes())?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Changed {
    new: Vec<String>,
    fixed: Vec<String>,
    still_failing: Vec<String>,
}

/// Which part is wanted.
enum Selection {
    All,
    From(u64),
    Tail(u64),
    Lines(RangeInclusive<u64>),
    Grep(Regex),
    Errors,
}

fn selection(args: &Output) -> Result<Selection, Failure> {
    Ok(if let Some(pattern) = &args.grep {
        Selection::Grep(Regex::new(pattern).map_err(|error| Failure::invalid("--grep", error))?)
    } else if args.errors {
        Selection::Errors
    } else if let Some(lines) = &args.lines {
        Selection::Lines(parse_lines(lines)?)
    } else if let Some(lines) = args.tail {
        Selection::Tail(lines)
    } else if let Some(offset) = args.from {
        Selection::From(offset)
    } else {
        Selection::All
    })
}

fn find(args: &Output, budget: Budget) -> Find {
    // `grep` shows no context unless asked; an error is rarely one line.
    let context = args.context.unwrap_or(if args.errors { 2 } else { 0 });
    let from = args.from.unwrap_or(0);
    Find { from, before: context, after: context, budget, ..Find::default() }
}

fn parse_lines(text: &str) -> Result<RangeInclusive<u64>, Failure> {
    let wrong =
        || Failure::invalid("--lines", format_args!("{text:?} is no range; write A-B, as 10-20"));
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str, default| match text {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| wrong()),
    };
    let (first, last) = (number(first, 1)?, number(last, u64::MAX)?);
    if first == 0 || first > last || text == "-" {
        return Err(wrong());
    }
    Ok(first..=last)
}

/// A reader of what is asked for.
fn reader<'m>(
    job: &Job,
    args: &Output,
    masker: Option<&'m Masker>,
) -> Result<Reader<'m, JobLog>, Failure> {
    let mut reader = Reader::new(JobLog::open(job)?);
    if let Some(masker) = masker {
        reader = reader.mask(masker);
    }
    reader = match (args.stream, has_terminal(job)) {
        // A terminal merges both; what it shows is its standard output.
        (None, _) | (Some(OnlyStream::Stdout), true) => reader,
        (Some(OnlyStream::Stdout), false) => reader.stream(Stream::Stdout),
        (Some(OnlyStream::Stderr), _) => reader.stream(Stream::Stderr),
    };
    if let Some(since) = args.since {
        reader = reader.since(since)?;
    }
    if let Some(until) = args.until {
        reader = reader.until(until)?;
    }
    Ok(reader)
}

fn has_terminal(job: &Job) -> bool {
    job.summary().is_some_and(|summary| summary.terminal.is_some())
}

/// What was read.
enum Read {
    View(Box<View>),
    /// What comes from an offset on.
    Page(Page),
    /// Lines that were asked for; what lies before, between and behind them was not.
    Lines(Page, Cut),
    /// Lines that matched.
    Found(Page),
    /// So many of the last of the lines that matched.
    Last(Page, u64),
}

/// Whether there was no room for some of the lines that were asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    Yes,
}

impl Cut {
    fn of(cut: bool) -> Self {
        if cut { Self::Yes } else { Self::No }
    }
}

impl Read {
    fn parts(&self) -> &[Part] {
        match self {
            Self::View(view) => &view.parts,
            Self::Page(page) | Self::Lines(page, _) | Self::Found(page) | Self::Last(page, _) => {
                &page.parts
            }
        }
    }

    /// All of it as one text.
    fn to_text(&self) -> String {
        match self {
            Self::View(view) => view.to_text(),
            Self::Page(page) | Self::Lines(page, _) | Self::Found(page) => page.to_text(),
            Self::Last(page, most) => last_matches(page, *most),
        }
    }

    /// Whether something of what was asked for is missing.
    fn is_cut(&self) -> bool {
        match self {
            Self::View(view) => view.truncated,
            Self::Page(page) | Self::Found(page) | Self::Last(page, _) => !page.at_end,
            Self::Lines(page, cut) => page.counts.clamped_bytes > 0 || *cut == Cut::Yes,
        }
    }
}

fn print(read: &Read) -> Result<(), Failure> {
    if let Read::Last(page, most) = read {
        return output::bytes(last_matches(page, *most).as_bytes());
    }
    for part in read.parts() {
        match part {
            Part::Text { text, .. } => output::bytes(text.as_bytes())?,
            Part::Omitted { .. } if !matches!(read, Read::View(_)) => {}
            notice => output::talk(format_args!("umbo: {}", tell(notice))),
        }
    }
    if let Read::Found(page) = read
        && page.matches == 0
        && let text = page.to_text()
        && !text.is_empty()
    {
        output::talk(text.trim_end());
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

#[derive(Serialize)]
struct Printed {
    job: String,
    state: &'static str,
    output: String,
    next_offset: u64,
    at_end: bool,
    truncated: bool,
    /// What the job has written, whatever part of it this is.
    total_bytes: u64,
    /// Lines of all that was asked for, if they were counted.
    total_lines: Option<u64>,
    omitted_bytes: u64,
    lost_bytes: u64,
    matches: Option<u64>,
    /// Where all of it can be read, if this is not all.
    artifact: Option<String>,
    full_output_path: String,
}

impl Printed {
    fn new(job: &Job, read: &Read) -> Result<Self, Failure> {
        let (counts, next_offset, at_end) = match read {
            Read::View(view) => {
                (view.counts, view.parts.last().map_or(0, |part| part.offset().end), true)
            }
            Read::Page(page) | Read::Lines(page, _) | Read::Found(page) | Read::Last(page, _) => {
                (page.counts, page.next_offset, page.at_end)
            }
        };
        let is_view = matches!(read, Read::View(_));
        let total_bytes = job.log()?.length()?;
        let is_all = counts.shown_bytes == total_bytes && counts.clamped_bytes == 0;
        Ok(Self {
            job: job.id().to_string(),
            state: job.status()?.name(),
            output: if counts.total_bytes == 0 { String::new() } else { read.to_text() },
            next_offset,
            at_end,
            truncated: read.is_cut(),
            total_bytes,
            total_lines: counts.total_lines.filter(|_| is_view),
            // What does not match, or was not asked for, is not left out.
            omitted_bytes: if is_view { counts.omitted_bytes } else { 0 },
            lost_bytes: counts.lost_bytes,
            matches: match read {
                Read::Found(page) | Read::Last(page, _) => Some(page.matches),
                Read::View(_) | Read::Page(_) | Read::Lines(..) => None,
            },
            artifact: (!is_all).then(|| format!("artifact://{}", job.id())),
            full_output_path: job.output_path().display().to_string(),
        })
    }
}

/// The last of the lines that matched.
fn last_matches(page: &Page, most: u64) -> String {
    let lines: Vec<&str> = page
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.split_inclusive('\n')),
            _ => None,
        })
        .flatten()
        .collect();
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    lines[lines.len().saturating_sub(most)..].concat()
}

/// Prints a log as it grows.
fn follow(job: &Job, args: &Output, masker: Option<&Masker>) -> Result<ExitCode, Failure> {
    let pattern = match selection(args)? {
        Selection::Grep(pattern) => Some(pattern),
        _ => None,
    };
    let start = match selection(args)? {
        Selection::Tail(lines) => {
            let page = reader(job, args, masker)?.tail(lines, &Budget::UNLIMITED)?;
            print(&Read::Lines(page.clone(), Cut::No))?;
            page.next_offset
        }
        Selection::From(offset) => offset,
        _ => 0,
    };
    let mut news = job.follow(start)?;
    let mut follower = umbo_view::Follower::new(start);
    loop {
        let is_over = news.next(None)? == Followed::Ended;
        // Bounded steps, so that a long log does not have to fit into memory.
        let budget = Room::or(args.budget, Budget { bytes: 1 << 20, ..Budget::UNLIMITED });
        let reader = reader(job, args, masker)?;
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
            Part::Text { text, .. } => output::bytes(text.as_bytes())?,
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
fn rendered(context: &Context, job: &Job, masker: Option<&Masker>) -> Result<ExitCode, Failure> {
    let text = job.transcript()?.join("\n");
    let text = masker.map_or_else(|| text.clone(), |masker| masker.mask_text(&text));
    match context.format {
        Format::Json => output::json(&Rendered { job: job.id().as_str(), output: &text })?,
        Format::Text => output::line(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Rendered<'a> {
    job: &'a str,
    output: &'a str,
}

/// Prints the exact bytes.
fn raw(job: &Job, args: &Output) -> Result<ExitCode, Failure> {
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
    let patience = if args.follow { None } else { Some(Duration::ZERO) };
    let end = job.log()?.length()?;
    let mut follower = job.follow(args.from.unwrap_or(0))?;
    while args.follow || follower.position() < end {
        match follower.next(patience)? {
            Followed::Bytes { stream, bytes, .. } => {
                let is_error = stream == umbo_engine::Stream::Stderr;
                let is_wanted = match args.stream {
                    None => true,
                    Some(OnlyStream::Stdout) => !is_error,
                    Some(OnlyStream::Stderr) => is_error,
                };
                if is_wanted {
                    output::bytes(&bytes)?;
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
