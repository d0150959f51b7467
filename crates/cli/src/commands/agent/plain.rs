//! `umbo agent --plain`: a conversation that is only ever written below, with who speaks in words. For
//! screen readers, logs and terminals that cannot move their cursor.

use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::Arc;

use umbo_agent::{
    AgentEvent, AgentMessage, AskOutcome, AskRequest, Asker, BoxFuture, Chosen, UserQuestion,
};
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
    prepared.set_asker(Arc::new(AskInLines));
    prepared.notices.show_with(|text| output::talk(format_args!("umbo: {text}")));
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

/// Asks with numbered lines; whoever is asked has all the time they want.
struct AskInLines;

impl Asker for AskInLines {
    fn ask(self: Arc<Self>, request: AskRequest) -> BoxFuture<AskOutcome> {
        Box::pin(async move {
            let asked =
                tokio::task::spawn_blocking(move || request.questions.iter().map(ask).collect());
            asked.await.ok().flatten().into()
        })
    }
}

fn ask(question: &UserQuestion) -> Option<Chosen> {
    output::line(format_args!("question: {}", question.question)).ok()?;
    for (at, option) in question.options.iter().enumerate() {
        let hint = if question.recommended == Some(at) { " (Recommended)" } else { "" };
        output::line(format_args!("{}: {option}{hint}", at + 1)).ok()?;
    }
    let words = if question.multi {
        "numbers with spaces between them, or words of your own: "
    } else {
        "a number, or words of your own: "
    };
    output::prompt(words).ok()?;
    let mut text = String::new();
    if io::stdin().lock().read_line(&mut text).ok()? == 0 || text.trim().is_empty() {
        return None;
    }
    Some(read_answer(question, text.trim()))
}

/// Numbers are options; anything else is an answer of its own.
fn read_answer(question: &UserQuestion, text: &str) -> Chosen {
    let option = |word: &str| {
        let number = word.parse::<usize>().ok()?.checked_sub(1)?;
        question.options.get(number).cloned()
    };
    let most = if question.multi { usize::MAX } else { 1 };
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let options: Option<Vec<String>> = words.iter().map(|word| option(word)).collect();
    match options.filter(|options| options.len() <= most) {
        Some(options) => Chosen { options, text: None },
        None => Chosen { options: Vec::new(), text: Some(text.to_owned()) },
    }
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
        AgentEvent::Rewound { report } => {
            line("umbo", &format!("back at the checkpoint: {report}"));
        }
        AgentEvent::Sleeping { running } => line("umbo", &format!("waiting for {running} jobs")),
        AgentEvent::Retry { failure, .. } => line("umbo", &format!("again: {}", failure.message)),
        _ => {}
    }
}
