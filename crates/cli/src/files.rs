//! What the verbs about files have in common.

use std::path::Path;

use umbo_gate::Mode;
use umbo_ops::Caller;
use umbo_ops::files::WantedOrder;

use crate::args::EntryOrder;
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::output;

/// The person at the command line, for verbs about files.
pub(crate) fn caller(context: &Context, mode: Option<Mode>) -> Result<Caller, Failure> {
    context.caller(&CallerWords { mode, ..CallerWords::default() })
}

/// The order of entries that a word means.
pub(crate) fn order_of(order: EntryOrder) -> WantedOrder {
    match order {
        EntryOrder::Name => WantedOrder::Name,
        EntryOrder::Newest => WantedOrder::Newest,
        EntryOrder::Largest => WantedOrder::Largest,
    }
}

/// A time without its seconds: `2026-01-31 12:00`.
pub(crate) fn short_time(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn given_text(option: &str, file: &Path) -> Result<String, Failure> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| Failure::invalid(option, format_args!("{}: {error}", file.display())))
}

/// Prints a diff; nothing if there is none.
pub(crate) fn print_diff(diff: &str) -> Result<(), Failure> {
    output::content(diff)
}

/// Says how a change is undone, and what else there is to know.
pub(crate) fn tell_change(change: Option<&str>, warnings: &[String]) {
    for warning in warnings {
        output::talk(format_args!("umbo: {warning}"));
    }
    if let Some(change) = change {
        output::talk(format_args!("umbo: `umbo undo {change}` takes it back"));
    }
}

/// Says what was not looked at.
pub(crate) fn tell_unfinished(missing: &[String], stopped: Option<&str>) {
    if !missing.is_empty() {
        output::talk(format_args!("umbo: not found: {}", missing.join(", ")));
    }
    if let Some(why) = stopped {
        output::talk(format_args!("umbo: not everything was looked at: {why}"));
    }
}
