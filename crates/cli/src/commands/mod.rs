//! One file per verb.

mod agent;
mod approvals;
mod approve;
mod attach;
mod audit;
mod call;
mod classify;
mod completions;
mod config;
mod deny;
mod doctor;
mod edit;
mod events;
mod exec;
mod find;
mod groups;
mod input;
mod install;
mod jobs;
mod ls;
mod man;
mod mcp;
mod models;
mod order;
mod output;
mod pause;
mod prune;
mod read;
mod recipes;
mod restart;
mod rules;
mod run;
mod sandbox;
mod sandbox_port;
mod screen;
mod search;
mod secrets;
mod sessions;
mod shells;
mod start;
mod stop;
mod tools;
mod top;
mod tour;
mod tree;
mod trust;
mod undo;
mod uninstall;
mod wait;
mod watch;
mod write;

use std::process::ExitCode;
use std::time::Duration;

use umbo_engine::{End, Limit, Outcome};
use umbo_gate::UserFile;

use crate::args::Command;
use crate::context::Context;
use crate::failure::{Failure, OWN_FAILURE, TIMED_OUT};
use crate::time::show_duration;

/// Runs a verb.
pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode, Failure> {
    heed_problems(context, &command)?;
    match command {
        Command::Exec(args) => exec::run(context, args),
        Command::Start(args) => start::run(context, args),
        Command::Recipes(args) => recipes::run(context, &args),
        Command::Run(args) => run::run(context, &args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Jobs(args) => jobs::run(context, &args),
        Command::Top(args) => top::run(context, &args),
        Command::Output(args) => output::run(context, &args),
        Command::Input(args) => input::run(context, &args),
        Command::Wait(args) => wait::run(context, &args),
        Command::Stop(args) => stop::run(context, &args),
        Command::Restart(args) => restart::run(context, &args),
        Command::Pause(args) => pause::pause(context, &args),
        Command::Resume(args) => pause::resume(context, &args),
        Command::Signal(args) => pause::signal(context, &args),
        Command::Watch(args) => watch::run(context, *args),
        Command::Groups(args) => groups::run(context, &args),
        Command::Shells(args) => shells::run(context, &args),
        Command::Screen(args) => screen::run(context, &args),
        Command::Attach(args) => attach::run(context, &args),
        Command::Events(args) => events::run(context, &args),
        Command::Prune(args) => prune::run(context, &args),
        Command::Read(args) => read::run(context, &args),
        Command::Search(args) => search::run(context, &args),
        Command::Find(args) => find::run(context, &args),
        Command::Ls(args) => ls::run(context, &args),
        Command::Tree(args) => tree::run(context, &args),
        Command::Write(args) => write::run(context, &args),
        Command::Edit(args) => edit::run(context, &args),
        Command::Undo(args) => undo::run(context, &args),
        Command::Classify(args) => classify::run(context, &args),
        Command::Rules(args) => rules::run(context, &args),
        Command::Sandbox(verb) => sandbox::run(context, verb),
        Command::Approvals(args) => approvals::run(context, &args),
        Command::Approve(args) => approve::run(context, &args),
        Command::Deny(args) => deny::run(context, args),
        Command::Trust(args) => trust::run(context, &args),
        Command::Audit(args) => audit::run(context, &args),
        Command::Config(args) => config::run(context, &args),
        Command::Secrets(args) => secrets::run(context, &args),
        Command::Mcp(args) => mcp::run(context, &args),
        Command::Call(args) => call::run(context, &args),
        Command::Tools(args) => tools::run(context, &args),
        Command::Agent(args) => agent::run(context, *args),
        Command::Models(args) => models::run(context, &args),
        Command::Sessions(args) => sessions::run(context, &args),
        Command::Install(args) => install::run(context, &args),
        Command::Uninstall(args) => uninstall::run(context, &args),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Tour => tour::run(context),
    }
}

/// With a configuration that is wrong nothing is started; what runs can still be seen and stopped.
fn heed_problems(context: &Context, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Exec(_)
        | Command::Start(_)
        | Command::Run(_)
        | Command::Restart(_)
        | Command::Watch(_)
        | Command::Sandbox(_)
        | Command::Mcp(_)
        | Command::Agent(_)
        | Command::Call(_)
        | Command::Tools(_) => {
            context.config.sound()?;
            warn_of_changed_files(context)
        }
        // They tell it themselves.
        Command::Config(_) | Command::Doctor(_) => Ok(()),
        _ => {
            for problem in &context.config.problems {
                crate::output::talk(format_args!("umbo: {problem}"));
            }
            Ok(())
        }
    }
}

/// Says which of the user's files were changed behind the person's back. Those that are there when the
/// first command runs count as they are.
fn warn_of_changed_files(context: &Context) -> Result<(), Failure> {
    let gate_paths = crate::gate::paths(context)?;
    // Where no key can be made there is nothing to compare with either.
    let _ = gate_paths.guard_user_files();
    for warning in gate_paths.unconfirmed_files()?.iter().filter_map(UserFile::warning) {
        crate::output::talk(format_args!("umbo: {warning}"));
    }
    Ok(())
}

/// The exit code that tells how a job ended: its own, 128 + signal, 124 for a time limit, 125 if
/// umbo could not run it or does not know.
fn exit_code(outcome: &Outcome) -> ExitCode {
    let code = match (&outcome.end, outcome.exit_code(), outcome.signal()) {
        (End::TimedOut { .. }, _, _) => TIMED_OUT,
        (_, Some(code), _) => u8::try_from(code & 0xff).unwrap_or(OWN_FAILURE),
        (_, None, Some(signal)) => u8::try_from(128 + (signal & 0x7f)).unwrap_or(OWN_FAILURE),
        (_, None, None) => OWN_FAILURE,
    };
    ExitCode::from(code)
}

/// The state a job ended in, with its exit code or its signal.
fn ended(outcome: &Outcome) -> String {
    let detail = match (outcome.exit_code(), outcome.signal()) {
        (Some(code), _) => format!(" {code}"),
        (None, Some(signal)) => format!(" by signal {signal}"),
        (None, None) => String::new(),
    };
    format!("{}{detail}", outcome.end.name())
}

/// One sentence on how a job ended, for a person; `None` if there is nothing to remark.
fn remark(outcome: &Outcome) -> Option<String> {
    let mut parts = Vec::new();
    match &outcome.end {
        End::Exited { .. } => {}
        End::Signaled { signal, core } => {
            let core = if *core { ", core dumped" } else { "" };
            parts.push(format!("ended by signal {signal}{core}"));
        }
        End::TimedOut { after_ms, .. } => {
            let limit = match outcome.limit {
                None | Some(Limit::Wall) => "time",
                Some(limit) => limit.name(),
            };
            let after = show_duration(Duration::from_millis(*after_ms));
            parts.push(format!("stopped by its {limit} limit after {after}"));
        }
        End::Stopped { stage, .. } => match outcome.limit {
            Some(limit) => {
                parts.push(format!("stopped by its {} limit", limit.name()));
            }
            None => parts.push(format!("stopped ({})", stage.name())),
        },
        End::Lost { reason } => {
            parts.push(format!("lost: {}", reason.name()));
        }
        End::FailedToStart { why } => parts.push(format!("failed to start: {why}")),
    }
    if let (End::Exited { .. } | End::Signaled { .. }, Some(limit)) = (&outcome.end, outcome.limit)
    {
        let what = match limit {
            Limit::Memory => ": the kernel killed a process of it",
            Limit::Processes => ": a process could not be started",
            _ => "",
        };
        parts.push(format!("its {} limit struck{what}", limit.name()));
    }
    if !outcome.leaked.is_empty() {
        let mut list: Vec<_> = outcome
            .leaked
            .iter()
            .map(|leak| format!("{} {} ({})", leak.pid, leak.command, leak.fate.name()))
            .collect();
        if outcome.more_leaked > 0 {
            list.push(format!("and {} more", outcome.more_leaked));
        }
        parts.push(format!("processes outlived the command: {}", list.join("; ")));
    }
    parts.extend(umbo_ops::denials(outcome));
    parts.extend(outcome.notes.iter().cloned());
    (!parts.is_empty()).then(|| parts.join("; "))
}
