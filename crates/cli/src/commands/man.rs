//! `umbo man`: the manual, from the words of the command line itself.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Args, Man};
use crate::failure::Failure;

pub(crate) fn run(args: &Man) -> Result<ExitCode, Failure> {
    let directory = &args.directory;
    std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Args::command(), directory))
        .map_err(|error| Failure::new(format!("{}: {error}", directory.display())))?;
    Ok(ExitCode::SUCCESS)
}
