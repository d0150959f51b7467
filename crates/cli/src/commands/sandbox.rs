//! `umbo sandbox`: what a command would be allowed, and what it needs.

use std::path::PathBuf;
use std::process::ExitCode;

use umbo_ops::{Call, OutputWanted, SandboxAnswer, SandboxWords, Ticket, TryAnswer};

use super::{exec, sandbox_port, start};
use crate::args::{SandboxVerb, Start};
use crate::context::{CallerWords, Context};
use crate::failure::Failure;
use crate::gate;
use crate::output::{self, Format};

pub(crate) fn run(context: &Context, verb: SandboxVerb) -> Result<ExitCode, Failure> {
    match verb {
        SandboxVerb::Explain(args) => explain(context, *args),
        SandboxVerb::Try(args) => try_out(context, *args),
        SandboxVerb::Port(args) => sandbox_port::run(context, &args),
    }
}

fn words(context: &Context, args: &Start) -> CallerWords {
    CallerWords {
        mode: args.mode,
        budget: args.budget,
        timeout: args.limits.timeout,
        masking: context.masking(),
    }
}

fn explain(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let caller = context.caller(&words(context, &args))?;
    let request = start::request(context, args, false)?;
    let ticket = Ticket::alone();
    let answer = umbo_ops::sandbox_explain(&Call::new(&caller, &ticket), &request)?;
    gate::answer(context.format, &answer, || gate::facts(&facts(&answer)))?;
    Ok(ExitCode::SUCCESS)
}

fn facts(answer: &SandboxAnswer) -> Vec<(&'static str, String)> {
    let paths = |paths: &[PathBuf]| {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        if shown.is_empty() { "nothing".to_owned() } else { shown.join("  ") }
    };
    let needs = format!("{} ({})", in_words(&answer.proposal.words), answer.proposal.because);
    let mut facts = vec![("gate", answer.decision.to_string())];
    let Some(profile) = &answer.profile else {
        facts.push(("sandbox", format!("none, by {}", answer.by)));
        facts.push(("needs", needs));
        return facts;
    };
    facts.extend([
        ("sandbox", format!("{profile}, by {}", answer.by)),
        ("enforced", answer.rung.map_or("not possible here", |rung| rung.name()).to_owned()),
        ("writes", paths(&answer.write)),
        ("protected", paths(&answer.protect)),
        ("hidden", paths(&answer.hide)),
        ("reaches", reaches(answer)),
        ("without", answer.drop_variables.join(" ")),
        ("needs", needs),
    ]);
    facts
}

/// What it could reach: hosts, and the sockets of services.
fn reaches(answer: &SandboxAnswer) -> String {
    let sockets = answer.connect.iter().map(|socket| format!("unix:{}", socket.display()));
    let network =
        (answer.connect.is_empty() || answer.network != "nothing").then(|| answer.network.clone());
    network.into_iter().chain(sockets).collect::<Vec<_>>().join("  ")
}

fn try_out(context: &Context, args: Start) -> Result<ExitCode, Failure> {
    let caller = context.caller(&words(context, &args))?;
    let mut request = start::request(context, args, false)?;
    request.options.output = exec::wanted_output(context);
    let is_text = context.format == Format::Text;
    debug_assert!(is_text == (request.options.output == OutputWanted::Nothing));
    let code = exec::foreground(
        context,
        &caller,
        None,
        |_| {},
        |call| {
            let answer = umbo_ops::sandbox_try(call, &request)?;
            if is_text {
                tell(&answer);
            }
            Ok(answer)
        },
        |answer: &TryAnswer| &answer.job,
    )?;
    Ok(code)
}

fn tell(answer: &TryAnswer) {
    output::talk(format_args!("umbo: it needs {}", in_words(&answer.needs)));
    for what in &answer.cannot {
        output::talk(format_args!("umbo: no sandbox lets it {what}; --sandbox off does"));
    }
    if let Some(rule) = &answer.rule {
        output::talk(format_args!("umbo: as a rule:\n\n{rule}"));
    }
}

/// A sandbox as the options that give it.
pub(super) fn in_words(words: &SandboxWords) -> String {
    let mut shown = vec![format!("--sandbox {}", words.profile.as_deref().unwrap_or("workspace"))];
    shown.extend(words.allow_write.iter().map(|path| format!("--allow-write {}", path.display())));
    shown.extend(words.allow_read.iter().map(|path| format!("--allow-read {}", path.display())));
    shown.extend(words.allow_host.iter().map(|host| format!("--allow-host {host}")));
    shown.join(" ")
}
