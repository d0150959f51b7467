//! `umbo doctor`: what this machine allows.

use std::process::ExitCode;

use serde::Serialize;
use umbo_engine::doctor;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failure> {
    let findings = doctor::examine(&Context::search_path());
    match context.format {
        Format::Json => {
            let all: Vec<_> = findings
                .iter()
                .map(|finding| Found {
                    name: finding.name,
                    works: finding.works,
                    detail: &finding.detail,
                    meaning: &finding.meaning,
                })
                .collect();
            output::json(&all)?;
        }
        Format::Text => {
            let state = context.engine.state_directory().display();
            output::line(format_args!("state in {state}\n"))?;
            let rows: Vec<Vec<String>> = findings
                .into_iter()
                .map(|finding| {
                    let mark = if finding.works { "yes" } else { "no" };
                    vec![mark.into(), finding.name.into(), finding.detail, finding.meaning]
                })
                .collect();
            output::table(&rows, None)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    works: bool,
    detail: &'a str,
    meaning: &'a str,
}
