//! `umbo classify`: what a command would do, and why.

use std::process::ExitCode;

use serde_json::json;
use umbo_command::{Effect, Explained, Reading, Word};
use umbo_ops::{ClassifyAnswer, ClassifyRequest, classify};

use super::{order, sandbox};
use crate::args::Classify;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;

pub(crate) fn run(context: &Context, args: &Classify) -> Result<ExitCode, Failure> {
    if let Some(other) = &args.diff {
        return diff(context, args, other);
    }
    order::check(&["classify"], &args.command)?;
    let answer = read_here(args, args.command.join(" "))?;
    let (reading, explained) = (&answer.reading, &answer.explained);
    gate::answer(context.format, &answer, || {
        let yes = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
        let mut facts = vec![
            ("risk", reading.risk.to_string()),
            ("matched", reading.matched.clone()),
            ("common_fs", yes(reading.common_fs)),
            ("reason", reading.reason.clone()),
            ("exact", yes(reading.exact)),
        ];
        facts.extend(reading.effects.iter().map(|effect| ("effect", describe(effect))));
        let needs = &answer.sandbox;
        facts.push(("sandbox", format!("{} ({})", sandbox::in_words(&needs.words), needs.because)));
        for one in explained {
            facts.extend(reasons(one));
        }
        gate::facts(&facts)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a command for the directory this is called in.
fn read_here(args: &Classify, command: String) -> Result<ClassifyAnswer, Failure> {
    let request = ClassifyRequest { command, shell: Some(args.shell.clone()) };
    Ok(classify(&request, &Context::directory()?, Context::home().as_deref())?)
}

/// Two commands side by side: what only one of them does.
fn diff(context: &Context, args: &Classify, one: &str) -> Result<ExitCode, Failure> {
    let one = read_here(args, one.to_owned())?.reading;
    let two = read_here(args, args.command.join(" "))?.reading;
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
