//! `umbo rules`: whether the rule files are right, and which rule decides about a command.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::{Decision, Explanation, Layer, Matched, Policy, Subject, Verdict, decide};

use super::order;
use crate::args::{Explain, Rules};
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Cell, Tone};

pub(crate) fn run(context: &Context, args: &Rules) -> Result<ExitCode, Failure> {
    gate::only_outside_jobs("rules")?;
    match args {
        Rules::List => list(context),
        Rules::Check => check(context),
        Rules::Explain(args) => explain(context, args),
    }
}

fn list(context: &Context) -> Result<ExitCode, Failure> {
    let policy = gate::paths(context)?.policy(&Context::directory()?)?;
    let rules = policy.rules();
    gate::answer(context.format, &rules, || {
        let head = ["DECISION", "FROM", "RULE", "WHY"];
        let mut rows = vec![head.map(|head| Cell::toned(head, Tone::Faint)).to_vec()];
        rows.extend(rules.iter().map(row));
        output::wrapped(&rows)?;
        let ignored: usize = policy.files().map(|(_, _, _, ignored)| ignored).sum();
        if ignored > 0 {
            output::talk(format_args!(
                "{ignored} rules that allow are ignored; `umbo trust` makes them count"
            ));
        }
        let mode = context.settings.tools.mode;
        output::talk(format_args!(
            "what no rule decides, the mode does: {mode} for agents (tools.mode)"
        ));
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn row(rule: &Matched) -> Vec<Cell> {
    let tone = match rule.decision {
        Decision::Deny => Tone::Bad,
        Decision::Ask => Tone::Busy,
        Decision::Allow => Tone::Good,
    };
    let decision = Cell::toned(rule.decision.to_string(), tone);
    let from = match rule.layer {
        Layer::User | Layer::Project => {
            let name = Path::new(&rule.file).file_name().unwrap_or_default().to_string_lossy();
            Cell::file(format!("{} {name}:{}", rule.layer, rule.line), Path::new(&rule.file))
        }
        layer => layer.to_string().into(),
    };
    vec![decision, from, rule.rule.clone().into(), rule.reason.clone().into()]
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
    let mut policy = Policy::new(gate_paths.roots(&sources.project));
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
    output::wrapped(&rows)?;
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
