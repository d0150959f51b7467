//! `umbo completions`: a script that lets a shell ask umbo what could come next.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::args::Completions;
use crate::complete;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &Completions) -> Result<ExitCode, Failure> {
    let shell = args.shell.to_possible_value();
    let script = shell.and_then(|shell| complete::script(shell.get_name()));
    let script = script.ok_or_else(|| Failure::new("there is no script for that shell"))?;
    output::text(&script)?;
    Ok(ExitCode::SUCCESS)
}
