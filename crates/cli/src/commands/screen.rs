//! `umbo screen`: what a terminal shows.

use std::process::ExitCode;

use serde::Serialize;

use crate::args::Screen;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Screen) -> Result<ExitCode, Failure> {
    let job = context.job(&args.job)?;
    let screen = job.screen()?;
    match context.format {
        Format::Json => output::json(&Shown {
            job: job.id().as_str(),
            columns: screen.size.columns,
            rows: screen.size.rows,
            cursor: screen.cursor,
            lines: &screen.rows,
        })?,
        Format::Text => {
            output::line(secrets::masker()?.mask_text(&screen.rows.join("\n")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Shown<'a> {
    job: &'a str,
    columns: u16,
    rows: u16,
    cursor: Option<(u16, u16)>,
    lines: &'a [String],
}
