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

use std::process::ExitCode;

use umbo_engine::Warmth;

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
    let args = match Args::of(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(args) => args,
        Err(error) => {
            let error = help::in_groups(error);
            let is_json = std::env::args_os().any(|word| word == "--json");
            return failure::usage(&error, Format::of(is_json));
        }
    };
    let format = Format::of(args.global.json);
    run(args).unwrap_or_else(|failure| failure.report(format))
}

fn run(args: Args) -> Result<ExitCode, Failure> {
    let works_for = match args.command {
        Command::Agent(_) | Command::Mcp(_) | Command::Call(_) | Command::Tools(_) => {
            WorksFor::Agent
        }
        _ => WorksFor::Person,
    };
    let warmth = match &args.command {
        Command::Agent(_) => Warmth::Warm,
        Command::Mcp(mcp) if mcp.print_config.is_none() => Warmth::Warm,
        Command::Exec(_) | Command::Start(_) => Warmth::Ahead,
        _ => Warmth::Cold,
    };
    let context = Context::from_environment(args.global, works_for, warmth)?;
    commands::run(&context, args.command)
}
