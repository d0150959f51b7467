//! `umbo classify`: what a command would do, and why.

use std::process::ExitCode;

use serde_json::json;
use umbo_command::{Effect, Explained, Given, Reading, Shell, Word, explain};

use super::order;
use crate::args::Classify;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;

pub(crate) fn run(context: &Context, args: &Classify) -> Result<ExitCode, Failure> {
    let shell = gate::named_language(&args.shell)?;
    if let Some(other) = &args.diff {
        return diff(context, other, &args.command.join(" "), shell);
    }
    order::check(&["classify"], &args.command)?;
    let line = args.command.join(" ");
    let reading = read_here(&line, shell)?;
    let explained = explain(&line, shell).commands;
    let mut value = serde_json::to_value(&reading).unwrap_or_default();
    value["explained"] = json!(explained);
    gate::answer(context.format, &value, || {
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let mut facts = vec![
            ("risk", reading.risk.to_string()),
            ("matched", reading.matched.clone()),
            ("common_fs", yes(reading.common_fs)),
            ("reason", reading.reason.clone()),
            ("exact", yes(reading.exact)),
        ];
        facts.extend(reading.effects.iter().map(|effect| ("effect", describe(effect))));
        for one in &explained {
            facts.extend(reasons(one));
        }
        gate::facts(&facts)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a command for the directory this is called in.
fn read_here(line: &str, shell: Shell) -> Result<Reading, Failure> {
    let home = Context::home();
    Ok(umbo_gate::read_in(line, shell, Given::default(), &Context::directory()?, home.as_deref()))
}

/// Two commands side by side: what only one of them does.
fn diff(context: &Context, one: &str, two: &str, shell: Shell) -> Result<ExitCode, Failure> {
    let (one, two) = (read_here(one, shell)?, read_here(two, shell)?);
    let only = |here: &Reading, there: &Reading| -> Vec<String> {
        let effects = here.effects.iter().filter(|effect| !there.effects.contains(effect));
        effects.map(describe).collect()
    };
    let (first, second) = (only(&one, &two), only(&two, &one));
    let value = json!({
        "risk": [one.risk, two.risk],
        "reason": [one.reason, two.reason],
        "only_first": first,
        "only_second": second,
    });
    gate::answer(context.format, &value, || {
        let mut facts = vec![
            ("risk", format!("{} → {}", one.risk, two.risk)),
            ("first", one.reason.clone()),
            ("second", two.reason.clone()),
        ];
        facts.extend(first.iter().map(|effect| ("-", effect.clone())));
        facts.extend(second.iter().map(|effect| ("+", effect.clone())));
        gate::facts(&facts)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// One command with the row that it was looked up in, what decided, and what would make it less.
fn reasons(one: &Explained) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = one.command.argv.iter().map(Word::likely).collect();
    let row = one.row.as_deref().map_or("no row".to_owned(), |row| format!("row {row}"));
    let mut facts = vec![("command", format!("{} ({}, {row})", words.join(" "), one.risk))];
    let because = one.because.iter();
    facts.extend(because.map(|it| ("  because", format!("{} {} ({})", it.what, it.does, it.risk))));
    let less = one.less.iter();
    facts.extend(less.map(|it| ("  less", format!("without {} it is {}", it.without, it.risk))));
    facts
}

fn describe(effect: &Effect) -> String {
    let kind = serde_json::to_value(effect.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default();
    let target = effect.target.as_deref().map(|target| format!(" {target}")).unwrap_or_default();
    format!("{kind}{target} ({}, {})", effect.program, effect.risk)
}
