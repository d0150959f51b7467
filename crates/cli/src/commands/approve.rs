//! `umbo approve`: a person lets a command run.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;
use umbo_engine::sandbox::{Decision, Grant};
use umbo_gate::{
    Answer, Approval, ApprovalState, Covers, Lasts, Question, Reply, ShownInput, UsableBy,
};
use umbo_ops::show_time;

use super::config;
use crate::args::Approve;
use crate::config::FILE;
use crate::context::Context;
use crate::failure::Failure;
use crate::gate;
use crate::held::{self, HeldCall};
use crate::output;
use crate::time::parse_duration;

#[derive(Serialize)]
struct Approved<'a> {
    id: &'a str,
    state: &'static str,
    covers: Covers,
    holds_until: String,
}

pub(crate) fn run(context: &Context, args: &Approve) -> Result<ExitCode, Failure> {
    gate::only_for_a_person("approve")?;
    if let Some(held) = held::find(context, &args.id)? {
        return let_through(context, args, &held);
    }
    let now = umbo_ops::now();
    let approvals = gate::paths(context)?.approvals()?;
    let Approval { question, state } = approvals.find(&args.id, now)?;
    let covers = if args.prefix { Covers::Prefix } else { Covers::Command };
    show(&question, covers);
    if let ApprovalState::Answered(Answer { reply: Reply::Deny { reason }, by, .. }) = &state {
        if !args.overturn {
            return Err(umbo_gate::Error::Declined(question.id).into());
        }
        output::talk(format_args!("denied    by {}: {}", indented(by), indented(reason)));
    }
    if !gate::confirm("Let it run?")? {
        let left = if state == ApprovalState::Open { "open" } else { "as it is" };
        return Err(Failure::new(format!("approval {} is left {left}", question.id)));
    }
    let now = umbo_ops::now();
    let usable_by = if args.any_caller { UsableBy::Anyone } else { UsableBy::Asker };
    let reply = Reply::Approve { covers, lasts: lasts(&args.lasts, now)?, usable_by };
    let audit = gate::paths(context)?.audit()?;
    let give = if args.overturn { umbo_gate::overturn } else { umbo_gate::answer };
    let answer = give(&approvals, &audit, &question.id, reply, &gate::person(), now)?;
    let holds_until = show_time(answer.holds_until);
    let approved =
        Approved { id: &question.id, state: "approved", covers, holds_until: holds_until.clone() };
    gate::answer(context.format, &approved, || {
        output::line(format_args!("approved {} until {holds_until}", question.id))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Lets a call go on that a sandbox holds.
fn let_through(context: &Context, args: &Approve, held: &HeldCall) -> Result<ExitCode, Failure> {
    let grant = held.grant(&args.lasts, args.prefix)?;
    if args.lasts == "always" {
        config::refuse_unconfirmed(context)?;
    }
    output::talk(format_args!("wants     {}", indented(&held.wants())));
    output::talk(format_args!("program   {}", indented(&held.question.program)));
    output::talk(format_args!("command   {}", indented(&held.command)));
    output::talk(format_args!("in        {}", indented(&held.cwd)));
    output::talk(format_args!("allowed   {}", indented(&grant.to_string())));
    if !gate::confirm("Let it?")? {
        return Err(Failure::new(format!("{} is left open", held.id())));
    }
    held.decide(context, Decision::Allow(grant.clone()))?;
    if args.lasts == "always" {
        keep(context, &grant)?;
    }
    let answered = json!({ "id": held.id(), "state": "allowed", "grant": grant });
    gate::answer(context.format, &answered, || {
        output::line(format_args!("allowed {}: {grant}", held.id()))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Keeps a grant in the user's settings.
fn keep(context: &Context, grant: &Grant) -> Result<(), Failure> {
    let file = Context::configuration()?.join(FILE);
    if let Some((changed, what)) = held::kept(grant, &config::own_text(&file)?)? {
        config::save(context, &file, &changed)?;
        output::talk(format_args!("umbo: {what}, in {}", file.display()));
    }
    Ok(())
}

/// Shows what is asked, escaped: the text comes from whoever wants the yes.
fn show(question: &Question, covers: Covers) {
    output::talk(format_args!("command  {}", indented(&question.command)));
    if covers == Covers::Prefix {
        for words in &question.prefixes {
            output::talk(format_args!("and all   {} …", indented(&words.join(" "))));
        }
    }
    match &question.input {
        None => {}
        Some(ShownInput::Typed { job }) => output::talk(format_args!("typed to  job {job}")),
        Some(ShownInput::Change { diff }) => {
            output::talk(format_args!("changes   {}", indented(diff.trim_end())));
        }
        Some(ShownInput::Input { bytes, text: None }) => {
            output::talk(format_args!("given     {bytes} bytes on its standard input"));
        }
        Some(ShownInput::Input { bytes, text: Some(text) }) => {
            output::talk(format_args!("which runs what it is given, {bytes} bytes:"));
            output::talk(format_args!("          {}", indented(text.trim_end())));
            if (text.len() as u64) < *bytes {
                output::talk(format_args!("          … and more that is not shown"));
            }
        }
    }
    if !question.sets.is_empty() {
        output::talk(format_args!("setting   {}", indented(&question.sets.join(" "))));
    }
    output::talk(format_args!("in        {}", indented(&question.cwd)));
    output::talk(format_args!("risk      {}", question.risk));
    output::talk(format_args!("because   {}", indented(&question.why)));
}

/// The text without anything that could repaint the question, further lines below the first: beside the
/// indent of every message.
fn indented(text: &str) -> String {
    umbo_view::visible(text).replace('\n', "\n        ")
}

fn lasts(text: &str, now: u64) -> Result<Lasts, Failure> {
    match text {
        "once" => Ok(Lasts::Once),
        "run" => Ok(Lasts::Run),
        time => {
            let span = parse_duration(time).map_err(|error| {
                Failure::invalid("--for", format_args!("{error}, or once, or run"))
            })?;
            let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
            Ok(Lasts::Until(now.saturating_add(micros)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::indented;

    #[test]
    fn a_command_cannot_repaint_the_question() {
        assert_eq!(indented("a\u{1b}[2Kb\rc"), "a\\u{1b}[2Kb\\u{d}c");
        assert_eq!(indented("x\u{202e}y"), "x\\u{202e}y");
        assert_eq!(indented("größe ✓"), "größe ✓");
    }
}
