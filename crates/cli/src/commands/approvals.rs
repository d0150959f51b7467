//! `umbo approvals`: what waits for somebody's yes.

use std::process::ExitCode;

use serde::Serialize;
use umbo_gate::{Approval, ApprovalState, ShownInput};

use umbo_ops::show_time;

use super::jobs::{age, since};
use crate::args::Approvals;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::held::{self, Shown};
use crate::output::{self, Cell, Tone};

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    state: &'static str,
    risk: &'a str,
    command: &'a str,
    cwd: &'a str,
    why: &'a str,
    prefixes: &'a [Vec<String>],
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a ShownInput>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    sets: &'a [String],
    asked_at: String,
    expires_at: String,
}

/// What waits: a command that may not run yet, or a call of one that runs.
#[derive(Serialize)]
#[serde(untagged)]
enum Either<'a> {
    Held(Shown<'a>),
    Command(&'a Listed<'a>),
}

pub(crate) fn run(context: &Context, args: &Approvals) -> Result<ExitCode, Failure> {
    let now = umbo_ops::now();
    let mut approvals = Vec::new();
    for approval in gate::paths(context)?.approvals()?.list(now)? {
        match approval {
            Ok(approval) => approvals.push(approval),
            Err(error) => output::talk(format_args!("umbo: {error}")),
        }
    }
    if !args.all {
        let stands = |approval: &Approval| {
            matches!(approval.state, ApprovalState::Open | ApprovalState::Answered(_))
        };
        approvals.retain(stands);
    }
    let listed: Vec<Listed<'_>> = approvals.iter().map(listed).collect();
    let calls = held::list(context)?;
    let shown: Vec<Either<'_>> = calls
        .iter()
        .map(|held| Either::Held(held.shown()))
        .chain(listed.iter().map(Either::Command))
        .collect();
    gate::answer(context.format, &shown, || {
        if shown.is_empty() {
            let hint = if args.all { "" } else { "; `umbo approvals --all` shows what is over" };
            output::talk(format_args!("nothing waits{hint}"));
            return Ok(());
        }
        let head = ["ID", "STATE", "RISK", "AGE", "COMMAND", "CWD"];
        let head = head.map(|head| Cell::toned(head, Tone::Faint)).to_vec();
        let rows = approvals.iter().zip(&listed).map(|(approval, listed)| {
            let age = age(since(approval.question.asked_at));
            let tone = match approval.state {
                ApprovalState::Open => Tone::Busy,
                ApprovalState::Answered(_) => Tone::Good,
                _ => Tone::Faint,
            };
            vec![
                approval.question.short().to_owned().into(),
                Cell::toned(listed.state, tone),
                Cell::toned(listed.risk, risk_tone(listed.risk)),
                age.into(),
                listed.command.to_owned().into(),
                listed.cwd.to_owned().into(),
            ]
        });
        let held_rows = calls.iter().map(|held| {
            vec![
                held.short_id().into(),
                Cell::toned("held", Tone::Busy),
                "sandbox".to_owned().into(),
                format!("{}s left", held.question.left_ms / 1000).into(),
                format!("{} ({})", held.wants(), held.question.program).into(),
                held.cwd.clone().into(),
            ]
        });
        let rows: Vec<Vec<Cell>> = std::iter::once(head).chain(held_rows).chain(rows).collect();
        output::table(&rows, output::width())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// How a risk is shown.
pub(super) fn risk_tone(risk: &str) -> Tone {
    match risk {
        "dangerous" => Tone::Bad,
        "read_only" => Tone::Good,
        _ => Tone::Plain,
    }
}

fn listed(approval: &Approval) -> Listed<'_> {
    let question = &approval.question;
    Listed {
        id: &question.id,
        state: approval.state.name(),
        risk: question.risk.as_str(),
        command: &question.command,
        cwd: &question.cwd,
        why: &question.why,
        prefixes: &question.prefixes,
        input: question.input.as_ref(),
        sets: &question.sets,
        asked_at: show_time(question.asked_at),
        expires_at: show_time(question.expires_at),
    }
}
