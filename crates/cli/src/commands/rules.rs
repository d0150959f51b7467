//! `umbo rules`: whether the rule files are right, and which rule decides about a command.

use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::{Explanation, Matched, Policy, Subject, Verdict, decide};

use super::order;
use crate::args::{Explain, Rules};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output;

pub(crate) fn run(context: &Context, args: &Rules) -> Result<ExitCode, Failure> {
    gate::only_outside_jobs("rules")?;
    match args {
        Rules::Check => check(context),
        Rules::Explain(args) => explain(context, args),
    }
}

#[derive(Serialize)]
pub(super) struct Checked {
    ok: bool,
    pub(super) files: Vec<RuleFile>,
    pub(super) errors: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct RuleFile {
    pub(super) layer: String,
    pub(super) path: String,
    pub(super) rules: usize,
    pub(super) ignored: usize,
}

fn check(context: &Context) -> Result<ExitCode, Failure> {
    let checked = examine(context)?;
    gate::answer(context.format, &checked, || show(&checked))?;
    Ok(if checked.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads the rules that hold for the caller, and finds what is wrong with them.
pub(super) fn examine(context: &Context) -> Result<Checked, Failure> {
    let directory = Context::directory()?;
    let gate_paths = gate::paths(context)?;
    let sources = gate_paths.rule_sources(&directory, &directory)?;
    let mut policy = Policy::new(gate_paths.roots(&sources.project))?;
    let mut errors = Vec::new();
    for rules in sources.user {
        match policy.clone().user(&rules.path, &rules.text, rules.trust) {
            Ok(with) => policy = with,
            Err(error) => errors.push(error.to_string()),
        }
    }
    for rules in sources.directories {
        match policy.clone().project(&rules.path, &rules.text, rules.trust) {
            Ok(with) => policy = with,
            Err(error) => errors.push(error.to_string()),
        }
    }
    let files: Vec<RuleFile> = policy
        .files()
        .map(|(layer, path, rules, ignored)| RuleFile {
            layer: layer.to_string(),
            path: path.display().to_string(),
            rules,
            ignored,
        })
        .collect();
    Ok(Checked { ok: errors.is_empty(), files, errors })
}

fn show(checked: &Checked) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = checked
        .files
        .iter()
        .map(|file| {
            let ignored = match file.ignored {
                0 => String::new(),
                count => format!("{count} that allow are ignored: `umbo trust` makes them count"),
            };
            vec![file.layer.clone(), file.path.clone(), format!("{} rules", file.rules), ignored]
        })
        .collect();
    output::table(&rows, None)?;
    for error in &checked.errors {
        output::talk(format_args!("umbo: {error}"));
    }
    Ok(())
}

fn explain(context: &Context, args: &Explain) -> Result<ExitCode, Failure> {
    order::check(&["rules", "explain"], &args.command)?;
    let directory = Context::directory()?;
    let policy = gate::paths(context)?.policy(&directory)?;
    let command = args.command.join(" ");
    let reading = umbo_command::read(&command, umbo_ops::language(&args.shell)?);
    let subject = Subject::new(&command, &reading, &directory, policy.roots());
    // Rules are for agents first: theirs is the mode that nobody has to name.
    let mode = args.mode.unwrap_or(context.settings.tools.mode);
    let explained = decide(&subject, &policy, mode, &[]);
    let whose = if args.mode.is_some() { "" } else { ", which agents get (tools.mode)" };
    gate::answer(context.format, &explained, || tell(&explained, whose))?;
    Ok(ExitCode::SUCCESS)
}

fn tell(explained: &Explanation, whose: &str) -> Result<(), Failure> {
    let (verdict, why) = match &explained.verdict {
        Verdict::Allow { why } => ("allow", why),
        Verdict::Ask { why, .. } => ("ask", why),
        Verdict::Deny { reason, .. } => ("deny", reason),
    };
    let mode = || format!("mode {}", explained.mode);
    let mut facts = vec![
        ("verdict", verdict.to_owned()),
        ("why", why.clone()),
        ("mode", format!("{}{whose}", explained.mode)),
        ("decided by", explained.decided_by.as_ref().map_or_else(mode, Matched::source)),
        ("risk", explained.risk.to_string()),
    ];
    facts.extend(
        explained
            .matched
            .iter()
            .map(|rule| ("matched", format!("{}: {}", rule.decision, rule.source()))),
    );
    if let Verdict::Ask { suggestion: Some(suggestion), .. } = &explained.verdict {
        let words: Vec<String> = suggestion.prefixes.iter().map(|words| words.join(" ")).collect();
        facts.push(("a rule could allow", words.join(", ")));
    }
    gate::facts(&facts)
}
