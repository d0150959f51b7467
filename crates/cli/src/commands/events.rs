//! `umbo events`: the journal.

use std::process::ExitCode;

use umbo_ops::{Call, EventAnswer, EventsRequest, Ticket};

use crate::args::Events;
use crate::context::{CallerWords, Context, Masking};
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Events) -> Result<ExitCode, Failure> {
    let words = CallerWords { masking: Masking::Nothing, ..CallerWords::default() };
    let caller = context.observer(&words)?;
    let ticket = Ticket::alone();
    let request = EventsRequest { after: args.after, follow: args.follow };
    for event in umbo_ops::events(&Call::new(&caller, &ticket), &request)? {
        let event = event?;
        match context.format {
            Format::Json => output::json(&event)?,
            Format::Text => print(&event)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(event: &EventAnswer) -> Result<(), Failure> {
    let seq = event.seq;
    if let Some(missed) = event.missed {
        let text = format!("{seq:>8}  {missed} events before this are no longer kept");
        return output::line(text);
    }
    let mut detail = String::new();
    if let Some(offset) = event.offset {
        detail = format!(" up to {offset}");
    }
    if let Some(bytes) = event.bytes {
        let end = if event.end == Some(true) { ", no more" } else { "" };
        detail = format!(" {bytes} bytes{end}");
    }
    if let Some(count) = event.count {
        detail = format!(" {count}");
    }
    if let Some(code) = event.code {
        detail = format!(" {code}");
    }
    // How a job ended says that it did.
    let what = event.state.as_deref().unwrap_or(event.kind);
    let time = event.at.as_deref().unwrap_or_default();
    let job = event.job.as_deref().unwrap_or_default();
    output::line(format_args!("{seq:>8}  {time}  {job}  {what}{detail}"))
}
