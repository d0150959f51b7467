//! `umbo`: runs commands, keeps them, tells the truth about them, and stops them.

mod args;
mod attach;
mod budget;
mod commands;
mod complete;
mod config;
mod context;
mod failure;
mod files;
mod gate;
mod held;
mod help;
mod http;
mod install;
mod keyboard;
mod log;
mod mcp_servers;
mod models;
mod output;
mod pager;
mod pick;
mod sandbox;
mod secrets;
mod sessions;
mod spinner;
mod terminal;
mod time;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use umbo_engine::{Ahead, Warmth};

use crate::args::{Args, Command};
use crate::context::{Context, WorksFor};
use crate::failure::Failure;
use crate::output::Format;

fn main() -> ExitCode {
    // First of all: this process may have been started as a supervisor.
    umbo_engine::init();
    if complete::answer() {
        return ExitCode::SUCCESS;
    }
    let words: Vec<OsString> = std::env::args_os().collect();
    let ahead = begin_ahead(&words);
    let args = match Args::of(&words) {
        Ok(args) => args,
        Err(error) => {
            let error = help::in_groups(error);
            let is_json = std::env::args_os().any(|word| word == "--json");
            return failure::usage(&error, Format::of(is_json));
        }
    };
    let format = Format::of(args.global.json);
    run(args, ahead).unwrap_or_else(|failure| failure.report(format))
}

/// Begins a supervisor for a command line that begins as one that starts a job. It gets ready while this process
/// finds out what is to be done; where the words turn out to mean something else, it was in vain.
fn begin_ahead(words: &[OsString]) -> Option<Ahead> {
    let mut words = words.iter().skip(1);
    let mut named = None;
    loop {
        match words.next()?.to_str()? {
            "exec" | "start" => return Ahead::begin(Context::state_at(named).ok()?),
            "--json" => {}
            "--state-dir" => named = Some(PathBuf::from(words.next()?)),
            word => named = Some(PathBuf::from(word.strip_prefix("--state-dir=")?)),
        }
    }
}

fn run(args: Args, ahead: Option<Ahead>) -> Result<ExitCode, Failure> {
    let works_for = match args.command {
        Command::Agent(_) | Command::Mcp(_) | Command::Call(_) | Command::Tools(_) => {
            WorksFor::Agent
        }
        _ => WorksFor::Person,
    };
    let warmth = match &args.command {
        Command::Agent(_) => Warmth::Warm,
        Command::Mcp(mcp) if mcp.print_config.is_none() => Warmth::Warm,
        _ => Warmth::Cold,
    };
    let ahead = ahead.filter(|_| matches!(args.command, Command::Exec(_) | Command::Start(_)));
    let context = Context::from_environment(args.global, works_for, warmth, ahead)?;
    commands::run(&context, args.command)
}
