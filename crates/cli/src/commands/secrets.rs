//! `umbo secrets check`: what is masked, and why.

use std::process::ExitCode;

use serde::Serialize;
use umbo_view::mask::Mode;

use crate::args::{Secrets, SecretsAction};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::secrets;

pub(crate) fn run(context: &Context, args: &Secrets) -> Result<ExitCode, Failure> {
    let SecretsAction::Check = args.action;
    let explanations = secrets::masker(Context::directory().ok().as_deref())?.explain();
    let checked: Vec<_> = explanations
        .iter()
        .map(|known| Checked {
            source: &known.source,
            reason: known.reason,
            mode: match known.mode {
                Mode::Obfuscate => "obfuscate",
                Mode::Replace | Mode::ReplaceWith(_) => "replace",
            },
            placeholder: known.placeholder.as_deref(),
        })
        .collect();
    match context.format {
        Format::Json => output::json(&checked)?,
        Format::Text => {
            let mut rows =
                vec![["SOURCE", "MODE", "PLACEHOLDER", "WHY"].map(str::to_owned).to_vec()];
            rows.extend(checked.iter().map(|known| {
                let placeholder = known.placeholder.unwrap_or("-");
                [known.source, known.mode, placeholder, known.reason].map(str::to_owned).to_vec()
            }));
            output::wrapped(&rows)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Checked<'a> {
    source: &'a str,
    reason: &'a str,
    mode: &'a str,
    placeholder: Option<&'a str>,
}
