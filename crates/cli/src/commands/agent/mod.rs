//! `umbo agent`: a model and the tools take turns on what the user wants.
//!
//! [`setup`] makes the agent; the front ends are [`mod@print`] (a script), [`terminal`] (a person),
//! [`rpc`] (a program) and [`acp`] (an editor). All of them show the same events and add nothing.

mod acp;
mod event_json;
mod mcp_tools;
mod plain;
mod print;
mod rpc;
mod server_questions;
mod setup;
mod system;
mod terminal;

use std::io::{BufRead, IsTerminal, Read};
use std::process::ExitCode;

use tokio::runtime::{Builder, Runtime};
use umbo_agent::{Limit, Outcome};

use crate::args::{Agent, Interface};
use crate::context::Context;
use crate::failure::{Failure, TIMED_OUT};

pub(crate) fn run(context: &Context, mut words: Agent) -> Result<ExitCode, Failure> {
    match words.mode {
        Some(Interface::Rpc) => return rpc::run(context, &words),
        Some(Interface::Acp) => return acp::run(context, &words),
        None => {}
    }
    let is_piped = !std::io::stdin().is_terminal();
    match words.prompt.as_deref() {
        Some("-") => words.prompt = Some(read_prompt()?),
        None if is_piped => words.prompt = Some(read_prompt()?),
        _ => {}
    }
    match words.prompt.clone() {
        Some(prompt) => print::run(context, &words, &prompt),
        None if words.plain || is_accessible() => plain::run(context, &words),
        None => terminal::run(context, &words),
    }
}

/// Whether nothing may be drawn over again: the person said so, or the terminal cannot do it.
fn is_accessible() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    is_set("ACCESSIBLE") || std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

fn read_prompt() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    Ok(text.trim_end().to_owned())
}

/// Hears the lines of standard input until there are no more or nobody wants them. They are bytes: whoever
/// reads them says what is wrong with one, and the next is heard.
fn hear_lines(mut heard: impl FnMut(Vec<u8>) -> bool) {
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        if !heard(std::mem::take(&mut line)) {
            return;
        }
    }
}

/// What agents run on.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(Failure::new)
}

/// The word for an outcome, and what else there is to say.
fn outcome_words(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Length => ("length", Some("the answer was cut at the limit of output".to_owned())),
        Outcome::Refused(why) => ("refused", why.clone()),
        Outcome::Interrupted => ("interrupted", None),
        Outcome::Limit(limit) => {
            let which = match limit {
                Limit::Turns => "the limit of answers was reached",
                Limit::Tokens => "the limit of tokens was reached",
                Limit::Cost => "the limit of cost was reached",
                Limit::Time => "the time limit was reached",
            };
            ("limit", Some(which.to_owned()))
        }
        Outcome::Failed(failure) => ("failed", Some(failure.message.clone())),
        Outcome::TooLong(what) => ("too_long", Some(what.clone())),
    }
}

/// The exit status that says the outcome.
fn exit_code(outcome: &Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Done => 0,
        Outcome::Failed(_) => 1,
        Outcome::Refused(_) => 2,
        Outcome::Limit(Limit::Time) => TIMED_OUT,
        Outcome::Limit(_) | Outcome::Length => 3,
        Outcome::TooLong(_) => 4,
        Outcome::Interrupted => 130,
    })
}
