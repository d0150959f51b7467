//! `umbo prune`: ended jobs leave the disk.

use std::process::ExitCode;

use serde::Serialize;

use crate::args::Prune;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, args: &Prune) -> Result<ExitCode, Failure> {
    // The audit holds the hash of what a job wrote, which goes with the job.
    if let Ok(audit) = gate::premises(context).and_then(|premises| Ok(premises.audit()?)) {
        let _ = umbo_ops::record_missed_ends(&audit, &context.engine);
    }
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
