//! `umbo agent --plain`: a conversation that is only ever written below, with who speaks in words. For
//! screen readers, logs and terminals that cannot move their cursor.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::Arc;

use umbo_agent::{AgentEvent, AgentMessage};
use umbo_model::Part;

use super::print::AskHere;
use super::setup::Prepared;
use super::{outcome_words, runtime};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::{log, output};

pub(super) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let mut prepared = Prepared::new(context, words, Some(Arc::new(AskHere)))?;
    let runtime = runtime()?;
    output::line(format_args!("umbo agent, {}. An empty line or ctrl-d leaves.", prepared.model))?;
    loop {
        output::prompt("you: ")?;
        let mut text = String::new();
        if io::stdin().lock().read_line(&mut text)? == 0 || text.trim().is_empty() {
            break;
        }
        let prompt = vec![Part::text(text.trim_end())];
        let mut observer = |event| tell(&event);
        let outcome =
            runtime.block_on(prepared.agent.prompt(prompt, &mut observer)).map_err(Failure::new)?;
        if let (word, Some(reason)) = outcome_words(&outcome) {
            output::line(format_args!("umbo: {word}: {reason}"))?;
        }
    }
    prepared.tools.toolset().close();
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Whole messages, each with who says it: what comes in pieces is read out in pieces.
fn tell(event: &AgentEvent) {
    let line = |who: &str, text: &str| {
        // A reader that is gone is noticed by who reads the next line.
        let _ = output::text(format_args!("{who}: {}\n", text.trim_end()));
    };
    match event {
        AgentEvent::ToolStart { call, .. } => {
            let words = serde_json::Value::Object(call.arguments.clone()).to_string();
            line("tool", &format!("{} {}", call.name, output::cut(&words, 200)));
        }
        AgentEvent::Message { message, .. } => match &**message {
            AgentMessage::Assistant(answer) if !answer.text().is_empty() => {
                line("agent", &answer.text());
            }
            AgentMessage::ToolResult(result) => {
                let what = if result.is_error { "failed" } else { "result" };
                line(what, &output::cut(&result.text(), 1000));
            }
            AgentMessage::Custom { content, .. } => {
                for part in content.clone().into_parts() {
                    line("note", part.as_text().unwrap_or_default());
                }
            }
            _ => {}
        },
        AgentEvent::Sleeping { running } => line("umbo", &format!("waiting for {running} jobs")),
        AgentEvent::Retry { failure, .. } => line("umbo", &format!("again: {}", failure.message)),
        _ => {}
    }
}
