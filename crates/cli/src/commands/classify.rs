//! `umbo classify`: what a command would do.

use std::process::ExitCode;

use umbo_command::{Effect, Word};
use umbo_ops::{ClassifyRequest, classify};

use super::order;
use crate::args::Classify;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;

pub(crate) fn run(context: &Context, args: &Classify) -> Result<ExitCode, Failure> {
    order::check(&["classify"], &args.command)?;
    let command = args.command.join(" ");
    let reading = classify(&ClassifyRequest { command, shell: Some(args.shell.clone()) })?;
    gate::answer(context.format, &reading, || {
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let mut facts = vec![
            ("risk", reading.risk.to_string()),
            ("matched", reading.matched.clone()),
            ("common_fs", yes(reading.common_fs)),
            ("reason", reading.reason.clone()),
            ("exact", yes(reading.exact)),
        ];
        facts.extend(reading.effects.iter().map(|effect| ("effect", describe(effect))));
        facts.extend(reading.commands.iter().map(|command| {
            let words: Vec<&str> = command.argv.iter().map(Word::likely).collect();
            ("command", words.join(" "))
        }));
        gate::facts(&facts)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn describe(effect: &Effect) -> String {
    let kind = serde_json::to_value(effect.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    let target = effect.target.as_deref().map(|target| format!(" {target}")).unwrap_or_default();
    format!("{kind}{target} ({}, {})", effect.program, effect.risk)
}
