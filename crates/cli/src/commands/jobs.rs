//! `umbo jobs`: what runs, and what ended.

use std::process::ExitCode;
use std::time::Duration;

use umbo_engine::{Status, Summary};
use umbo_ops::{Call, EndedJobs, JobsRequest, Ticket, WhoseJobs, now};

use super::ended;
use crate::args::Jobs;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;
use crate::time::{ordinal, show_duration};

/// A longer name is cut in the table, which has other columns too.
const LONGEST_NAME: usize = 24;

pub(crate) fn run(context: &Context, args: &Jobs) -> Result<ExitCode, Failure> {
    let caller = context.observer(&CallerWords::default())?;
    let ticket = Ticket::alone();
    let request = JobsRequest {
        scope: Some(WhoseJobs::All),
        ended: Some(if args.all { EndedJobs::All } else { EndedJobs::Recent }),
        limit: None,
    };
    let mut answer = umbo_ops::jobs(&Call::new(&caller, &ticket), &request)?;
    // Before anything is cut: half a secret would not be known as one.
    let masker = secrets::shared()?;
    let summaries = &mut answer.summaries;
    for summary in summaries.iter_mut() {
        summary.command = masker.mask_text(&summary.command);
        summary.name = summary.name.as_deref().map(|name| masker.mask_text(name));
    }
    match context.format {
        Format::Json => {
            output::json(&answer)?;
        }
        Format::Text if summaries.is_empty() => {
            let hint = if args.all { "" } else { "; `umbo jobs --all` shows older ones" };
            output::talk(format_args!("no jobs{hint}"));
        }
        Format::Text => {
            let mut rows = vec![
                ["JOB", "STATE", "TIME", "OUTPUT", "NAME", "COMMAND"].map(str::to_owned).to_vec(),
            ];
            rows.extend(summaries.iter().map(row));
            output::table(&rows, output::width())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn row(summary: &Summary) -> Vec<String> {
    let (state, time) = match &summary.status {
        Status::Created => (waiting(summary), since(summary.created_at)),
        Status::Started { at, .. } => ("started".to_owned(), since(*at)),
        Status::Ended(outcome) => (ended(outcome), outcome.duration()),
    };
    let command = summary.command.lines().next().unwrap_or_default();
    let more = if summary.command.lines().count() > 1 { " …" } else { "" };
    vec![
        summary.job.to_string(),
        state,
        show_duration(time),
        size(summary.total_bytes),
        summary.name.as_deref().map_or_else(|| "-".into(), |name| output::cut(name, LONGEST_NAME)),
        format!("{command}{more}"),
    ]
}

/// A state that says what is waited for.
fn waiting(summary: &Summary) -> String {
    match summary.queue_position {
        Some(place) => format!("queued, {} in line", ordinal(place)),
        None => "queued".into(),
    }
}

fn since(micros: u64) -> Duration {
    Duration::from_micros(now().saturating_sub(micros))
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} KiB", bytes >> 10),
        10_000_000..=9_999_999_999 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
