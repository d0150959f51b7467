//! `umbo approvals`: what waits for somebody's yes.

use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use umbo_gate::{Approval, ApprovalState, ShownInput};

use umbo_ops::show_time;

use crate::args::Approvals;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::held::{self, Shown};
use crate::output;
use crate::time::show_duration;

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
        let head = ["ID", "STATE", "RISK", "AGE", "CWD", "COMMAND"].map(str::to_owned).to_vec();
        let rows = approvals.iter().zip(&listed).map(|(approval, listed)| {
            let age = now.saturating_sub(approval.question.asked_at);
            vec![
                listed.id.to_owned(),
                listed.state.to_owned(),
                listed.risk.to_owned(),
                show_duration(Duration::from_micros(age)),
                listed.cwd.to_owned(),
                listed.command.to_owned(),
            ]
        });
        let held_rows = calls.iter().map(|held| {
            vec![
                held.id(),
                "held".to_owned(),
                "sandbox".to_owned(),
                format!("{} s left", held.question.left_ms / 1000),
                held.cwd.clone(),
                format!("{} ({})", held.wants(), held.question.program),
            ]
        });
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(held_rows).chain(rows).collect();
        output::table(&rows, output::width())
    })?;
    Ok(ExitCode::SUCCESS)
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
