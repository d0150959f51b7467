//! `output`: what a job wrote, read again.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use umbo_engine::{Job, Status};
use umbo_view::{Budget, Find, Page, Reader, Regex, Stream, ViewOptions, compare};

use super::closed;
use crate::answer::{Answer, ToolError, compact};
use crate::arguments::Arguments;
use crate::call::{Call, text};
use crate::source::JobLog;

pub(super) fn run(call: &Call<'_>, arguments: &Arguments) -> Result<Answer, ToolError> {
    let job = call.job(arguments.text("job").unwrap_or_default())?;
    let selection = selection(arguments)?;
    let status = job.status()?;
    if matches!(status, Status::Ended(_)) {
        call.told(&job);
    }
    let budget = call.budget(arguments.count("max_output_tokens"));
    let stream = stream(arguments, &job);
    let mut value = json!({"job": job.id().as_str(), "state": status.name()});
    if let Status::Ended(outcome) = &status {
        value["exit_code"] = json!(outcome.exit_code());
    }
    let mut has_cut_lines = false;
    let output = match selection {
        Selection::Screen => {
            let screen = job.screen()?;
            value["at_end"] = json!(true);
            // Blank rows below the last text carry nothing.
            let written = screen.rows.iter().rposition(|row| !row.is_empty());
            screen.rows[..written.map_or(0, |last| last + 1)].join("\n")
        }
        Selection::Compare(earlier) => {
            let masked = |job: &Job| -> Result<_, ToolError> {
                Ok(Reader::new(JobLog::open(job)?).mask(&call.tools.masker))
            };
            let (before, now) = (masked(&call.job(&earlier)?)?, masked(&job)?);
            let changes = compare(&before, &now, ViewOptions::default().scan_bytes)?;
            value["at_end"] = json!(true);
            value["new"] = json!(changes.new.len());
            value["fixed"] = json!(changes.fixed.len());
            value["still_failing"] = json!(changes.still.len());
            changes.to_text(&budget)
        }
        Selection::All => {
            let view = call.view(&job, 0, stream, budget)?;
            value["next_offset"] = json!(view.parts.last().map_or(0, |part| part.offset().end));
            value["at_end"] = json!(true);
            value["truncated"] = json!(view.truncated);
            value["total_bytes"] = json!(view.counts.total_bytes);
            value["total_lines"] = json!(view.counts.total_lines);
            value["omitted_bytes"] = json!(view.counts.omitted_bytes);
            has_cut_lines = view.counts.clamped_lines > 0;
            text(&view)
        }
        part => {
            let mut reader = Reader::new(JobLog::open(&job)?).mask(&call.tools.masker);
            if let Some(stream) = stream {
                reader = reader.stream(stream);
            }
            let page = page(&reader, &part, arguments, budget)?;
            value["offset"] = json!(page.offset.start);
            value["next_offset"] = json!(page.next_offset);
            value["at_end"] = json!(page.at_end);
            has_cut_lines = page.counts.clamped_lines > 0;
            value["truncated"] = json!(!page.at_end || has_cut_lines);
            if matches!(part, Selection::Grep(_) | Selection::Errors) {
                value["matches"] = json!(page.matches);
            }
            page.to_text()
        }
    };
    value["output"] = json!(output);
    value["full_output_path"] = json!(job.output_path().display().to_string());
    let mut line = match (value["at_end"] == true, value["next_offset"].as_u64()) {
        (false, Some(next)) => {
            format!("{}: {}; there is more from {next}", job.id(), status.name())
        }
        _ => format!("{}: {}", job.id(), status.name()),
    };
    if has_cut_lines {
        line.push_str("; more of a long line with max_output_tokens, all of it in the file");
    }
    Ok(Answer::new(compact(value), closed(output, &line)))
}

/// Which part is wanted.
enum Selection {
    All,
    Screen,
    From(u64),
    Tail(u64),
    Lines(RangeInclusive<u64>),
    Grep(Regex),
    Errors,
    /// What changed since this other job.
    Compare(String),
}

fn selection(arguments: &Arguments) -> Result<Selection, ToolError> {
    let given: Vec<&str> = ["lines", "tail", "grep", "errors", "screen", "compare_to"]
        .into_iter()
        .filter(|name| !matches!(arguments.get(name), None | Some(Value::Bool(false))))
        .collect();
    if let [first, second, ..] = given[..] {
        return Err(ToolError::argument(
            second,
            format!(
                "it was given beside {first}; accepted: one of lines, tail, grep, errors, screen, compare_to"
            ),
        ));
    }
    Ok(match given.first().copied() {
        Some("grep") => {
            let pattern = arguments.text("grep").unwrap_or_default();
            Selection::Grep(Regex::new(pattern).map_err(|error| {
                ToolError::argument("grep", format!("{pattern:?} is no pattern: {error}"))
            })?)
        }
        Some("errors") => Selection::Errors,
        Some("screen") => Selection::Screen,
        Some("compare_to") => {
            Selection::Compare(arguments.text("compare_to").unwrap_or_default().to_owned())
        }
        Some("lines") => Selection::Lines(lines(arguments.text("lines").unwrap_or_default())?),
        Some("tail") => Selection::Tail(arguments.count("tail").unwrap_or(0)),
        _ => match arguments.count("from") {
            Some(offset) => Selection::From(offset),
            None => Selection::All,
        },
    })
}

fn lines(given: &str) -> Result<RangeInclusive<u64>, ToolError> {
    let wrong =
        || ToolError::argument("lines", format!("{given:?} was given; accepted: A-B, as 10-20"));
    let (first, last) = given.split_once('-').unwrap_or((given, given));
    let number = |digits: &str, default| match digits {
        "" => Ok(default),
        digits => digits.parse::<u64>().map_err(|_| wrong()),
    };
    let (first, last) = (number(first, 1)?, number(last, u64::MAX)?);
    if first == 0 || first > last || given == "-" || given.is_empty() {
        return Err(wrong());
    }
    Ok(first..=last)
}

fn stream(arguments: &Arguments, job: &Job) -> Option<Stream> {
    // A terminal merges the two; what it shows is its standard output.
    let has_terminal = || job.summary().is_some_and(|summary| summary.terminal.is_some());
    match arguments.text("stream")? {
        "stderr" => Some(Stream::Stderr),
        _ if has_terminal() => None,
        _ => Some(Stream::Stdout),
    }
}

fn page(
    reader: &Reader<'_, JobLog>,
    selection: &Selection,
    arguments: &Arguments,
    budget: Budget,
) -> Result<Page, ToolError> {
    let context = arguments.count("context").and_then(|lines| usize::try_from(lines).ok());
    let find = |default: usize| Find {
        from: arguments.count("from").unwrap_or(0),
        before: context.unwrap_or(default),
        after: context.unwrap_or(default),
        budget,
        ..Find::default()
    };
    Ok(match selection {
        Selection::From(offset) => reader.page(*offset, &budget)?,
        Selection::Tail(lines) => reader.tail(*lines, &budget)?,
        Selection::Lines(range) => reader.lines(range.clone(), &budget)?,
        Selection::Grep(pattern) => reader.grep(pattern, &find(0))?,
        Selection::Errors => reader.errors(&find(2))?,
        Selection::All | Selection::Screen | Selection::Compare(_) => reader.page(0, &budget)?,
    })
}
