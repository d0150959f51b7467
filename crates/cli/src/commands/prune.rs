//! `umbo prune`: ended jobs leave the disk.

use std::process::ExitCode;

use serde::Serialize;

use crate::args::Prune;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Prune) -> Result<ExitCode, Failure> {
    let removed = context.engine.prune(Some(args.older_than))?;
    match context.format {
        Format::Json => {
            let removed = removed.iter().map(umbo_engine::JobId::as_str).collect();
            output::json(&Pruned { removed })?;
        }
        Format::Text => output::line(format_args!("{} jobs deleted", removed.len()))?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Pruned<'a> {
    removed: Vec<&'a str>,
}
