//! `umbo call`: one call of a tool by a person, whom nothing but deny rules holds unless a mode is said.

use std::process::ExitCode;

use serde_json::Value;
use umbo_tools::{Owner, Ticket};

use super::tools;
use crate::args::Call;
use crate::context::Context;
use crate::failure::Failure;
use crate::log;
use crate::output;

pub(crate) fn run(context: &Context, args: &Call) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let arguments: Value = serde_json::from_str(&args.arguments).map_err(|error| {
        Failure::invalid("JSON", format_args!("{error}; write an object, as '{{}}'"))
    })?;
    // Every call is a caller of its own; what one starts, the next one must find.
    let owner = args.owner.clone().map_or(Owner::Everybody, Owner::Named);
    let mode = args.mode.or(context.settings.exec.mode);
    let toolset = tools::toolset(context, args.dialect.as_deref(), owner, mode)?;
    let ticket = Ticket::default();
    let cancelling = ticket.clone();
    let _ = ctrlc::set_handler(move || {
        let ticket = cancelling.clone();
        std::thread::spawn(move || ticket.cancel());
    });
    let result = toolset.call(&args.tool, arguments, &ticket);
    // What is still running was promised to the caller.
    toolset.detach();
    output::json(&result.structured)?;
    Ok(if result.is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
