//! `umbo events`: the journal.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use umbo_engine::Item;

use crate::args::Events;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use umbo_ops::show_time;

pub(crate) fn run(context: &Context, args: &Events) -> Result<ExitCode, Failure> {
    let mut subscription = context.engine.subscribe(args.after)?;
    let patience = if args.follow { Duration::from_hours(24) } else { Duration::ZERO };
    loop {
        match subscription.next(patience)? {
            Some(item) => print(context.format, &item)?,
            None if args.follow => {}
            None => return Ok(ExitCode::SUCCESS),
        }
    }
}

/// An item with its time as all answers tell it.
fn dated(item: &Item) -> Result<Value, Failure> {
    let mut value = serde_json::to_value(item).map_err(Failure::new)?;
    if let Item::Event(event) = item {
        value["at"] = show_time(event.at).into();
    }
    Ok(value)
}

fn print(format: Format, item: &Item) -> Result<(), Failure> {
    match (format, item) {
        (Format::Json, item) => output::json(&dated(item)?),
        (Format::Text, Item::Gap { missed, seq, .. }) => {
            output::line(format_args!("{seq:>8}  {missed} events before this are no longer kept"))
        }
        (Format::Text, Item::Event(event)) => {
            let detail = match &event.kind {
                umbo_engine::EventKind::Output { offset } => format!(" up to {offset}"),
                umbo_engine::EventKind::Input { bytes, end } => {
                    format!(" {bytes} bytes{}", if *end { ", no more" } else { "" })
                }
                umbo_engine::EventKind::Leaked { count } => format!(" {count}"),
                umbo_engine::EventKind::Exited { code: Some(code), .. } => format!(" {code}"),
                umbo_engine::EventKind::Exited { code: None, .. }
                | umbo_engine::EventKind::Created
                | umbo_engine::EventKind::Started
                | umbo_engine::EventKind::Stalled
                | umbo_engine::EventKind::Removed => String::new(),
            };
            // How a job ended says that it did.
            let what = match &event.kind {
                umbo_engine::EventKind::Exited { state, .. } => state.as_str(),
                other => other.name(),
            };
            let (seq, time, job) = (event.seq, show_time(event.at), &event.job);
            output::line(format_args!("{seq:>8}  {time}  {job}  {what}{detail}"))
        }
    }
}
