//! `umbo agent -p`: one prompt, for scripts. The answer goes to standard output, what happens on the
//! way to standard error; with `--json`, all of it to standard output, a line for each event.

use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use umbo_agent::{AgentEvent, AgentMessage, Outcome, Queues, Tools};
use umbo_gate::{Covers, Lasts, Question, Reply};
use umbo_model::Part;
use umbo_tools::Approver;

use super::event_json::EventLines;
use super::setup::{Prepared, SharedApprover};
use super::{exit_code, outcome_words, runtime};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::{gate, log};

/// How often the model may try to say what a schema wants.
const SCHEMA_TRIES: u32 = 3;
/// The answer is not what the schema says.
const NOT_OF_SCHEMA: u8 = 5;
/// As much of a call is shown on its way.
const SHOWN_ARGUMENTS: usize = 100;

pub(super) fn run(context: &Context, words: &Words, prompt: &str) -> Result<ExitCode, Failure> {
    log::start(None)?;
    if prompt.trim().is_empty() && words.resume.is_none() && !words.is_continued {
        return Err(Failure::invalid("--prompt", "it is empty; accepted: what is to be done"));
    }
    let schema = words.schema.as_deref().map(Schema::read).transpose()?;
    let is_person = std::io::stdin().is_terminal() && output::is_error_terminal();
    let approver = is_person.then(|| Arc::new(AskHere) as SharedApprover);
    let mut prepared = Prepared::new(context, words, approver)?;
    if let Some(schema) = &schema {
        schema.announce(&mut prepared.agent.setup_mut().system);
    }
    prepared.notices.show_with(|text| output::talk(format_args!("umbo: {text}")));
    let queues = prepared.agent.queues();
    stop_on_interrupt(&queues);
    let mut printer = Printer {
        format: context.format,
        lines: EventLines::default(),
        answer: String::new(),
        failure: None,
        queues,
    };
    printer.begin(&prepared);
    let runtime = runtime()?;
    let worked = runtime.block_on(work(&mut prepared, prompt, schema.as_ref(), &mut printer));
    // What it did not leave in the background ends with it.
    prepared.tools.toolset().close();
    runtime.shutdown_background();
    let (outcome, value) = worked?;
    let is_of_schema = outcome != Outcome::Done || schema.is_none() || value.is_some();
    printer.end(&prepared, &outcome, value.as_ref(), is_of_schema)?;
    Ok(if is_of_schema { exit_code(&outcome) } else { ExitCode::from(NOT_OF_SCHEMA) })
}

/// Works until there is an outcome; with a schema, until the answer is of it, a few times.
async fn work(
    prepared: &mut Prepared,
    prompt: &str,
    schema: Option<&Schema>,
    printer: &mut Printer,
) -> Result<(Outcome, Option<Value>), Failure> {
    let agent = &mut prepared.agent;
    let mut observer = |event| printer.show(&event);
    let mut outcome = if prompt.trim().is_empty() {
        agent.resume(&mut observer).await
    } else {
        agent.prompt(vec![Part::text(prompt)], &mut observer).await
    }
    .map_err(Failure::new)?;
    let Some(schema) = schema else { return Ok((outcome, None)) };
    for again in 1..=SCHEMA_TRIES {
        if outcome != Outcome::Done {
            break;
        }
        let problem = match schema.read_answer(&printer.answer) {
            Ok(value) => return Ok((outcome, Some(value))),
            Err(problem) => problem,
        };
        if again < SCHEMA_TRIES {
            let prompt = format!(
                "That is not what was asked for: {problem}. Answer again, with the JSON alone."
            );
            let mut observer = |event| printer.show(&event);
            outcome = agent
                .prompt(vec![Part::text(prompt)], &mut observer)
                .await
                .map_err(Failure::new)?;
        } else {
            output::talk(format_args!("umbo: the answer is not of the schema: {problem}"));
        }
    }
    Ok((outcome, None))
}

/// The first ctrl-c interrupts the agent; the second one ends umbo.
fn stop_on_interrupt(queues: &Arc<Queues>) {
    let queues = Arc::clone(queues);
    let was_heard = AtomicBool::new(false);
    let _ = ctrlc::set_handler(move || {
        if was_heard.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        queues.interrupt();
    });
}

/// Tells what happens.
struct Printer {
    format: Format,
    lines: EventLines,
    /// The last thing the model said.
    answer: String,
    /// The reader went away.
    failure: Option<Failure>,
    queues: Arc<Queues>,
}

impl Printer {
    fn begin(&mut self, prepared: &Prepared) {
        let session = prepared.agent.session();
        let line = json!({
            "type": "session", "id": session.header().id, "path": session.path(),
            "model": prepared.model, "dialect": prepared.dialect,
            "context_files": prepared.context_files,
        });
        for damage in session.damage() {
            let what =
                format!("line {} of the session cannot be read: {}", damage.line, damage.what);
            output::talk(format_args!("umbo: {what}"));
        }
        if self.format == Format::Json {
            self.print(&line);
        }
    }

    fn show(&mut self, event: &AgentEvent) {
        if let AgentEvent::Message { message, .. } = event
            && let AgentMessage::Assistant(answer) = &**message
        {
            self.answer = answer.text();
        }
        match self.format {
            Format::Json => {
                if let Some(line) = self.lines.line(event) {
                    self.print(&line);
                }
            }
            Format::Text => talk_of(event),
        }
    }

    fn print(&mut self, line: &Value) {
        if self.failure.is_none()
            && let Err(failure) = output::json(line)
        {
            // Nobody reads: nothing more is to be done.
            self.failure = Some(failure);
            self.queues.interrupt();
        }
    }

    fn end(
        &mut self,
        prepared: &Prepared,
        outcome: &Outcome,
        value: Option<&Value>,
        is_of_schema: bool,
    ) -> Result<(), Failure> {
        let (word, reason) = outcome_words(outcome);
        let word = if is_of_schema { word } else { "not_of_schema" };
        let agent = &prepared.agent;
        let running = prepared.tools.running();
        match self.format {
            Format::Json => self.print(&json!({
                "type": "end", "outcome": word, "reason": reason, "text": self.answer,
                "value": value, "session": agent.session().header().id, "usage": agent.spent(),
                "cost": agent.cost(), "running_jobs": running,
            })),
            Format::Text => {
                match value {
                    Some(value) => output::line(value)?,
                    None if !self.answer.is_empty() => {
                        output::text(format_args!("{}\n", self.answer))?;
                    }
                    None => {}
                }
                if *outcome != Outcome::Done {
                    let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                    output::talk(format_args!("umbo: {word}{why}"));
                }
                if running > 0 {
                    output::talk(format_args!(
                        "umbo: {running} jobs still run; `umbo jobs` lists them"
                    ));
                }
            }
        }
        self.failure.take().map_or(Ok(()), Err)
    }
}

/// What a person is told on the way.
fn talk_of(event: &AgentEvent) {
    match event {
        AgentEvent::ToolStart { call, .. } => {
            let arguments = Value::Object(call.arguments.clone()).to_string();
            let shown = output::cut(&arguments, SHOWN_ARGUMENTS);
            output::talk(format_args!("· {} {shown}", call.name));
        }
        AgentEvent::Message { message, .. } => match &**message {
            AgentMessage::ToolResult(result) if result.is_error => {
                let text = result.text();
                let first = text.lines().next().unwrap_or_default();
                output::talk(format_args!("  {}", output::cut(first, SHOWN_ARGUMENTS)));
            }
            _ => {}
        },
        AgentEvent::Retry { wait, failure } => {
            let seconds = wait.as_secs_f64();
            output::talk(format_args!("· again in {seconds:.1} s: {}", failure.message));
        }
        AgentEvent::Fallback { model } => output::talk(format_args!("· from now on {model}")),
        AgentEvent::CompactionEnd { before, after } => {
            output::talk(format_args!("· summarised: {before} tokens are now {after}"));
        }
        AgentEvent::CompactionFailed { problem } => {
            output::talk(format_args!("· not summarised: {problem}"));
        }
        AgentEvent::Sleeping { running } => {
            output::talk(format_args!("· waiting for {running} jobs"));
        }
        _ => {}
    }
}

/// Asks the person who started it.
pub(super) struct AskHere;

impl Approver for AskHere {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        output::talk(&question.command);
        let asked = format!("{} ({}); let it run?", question.why, question.risk);
        let reply = if gate::confirm(&asked).ok()? {
            Reply::approve(Covers::Command, Lasts::Once)
        } else {
            Reply::Deny { reason: "the user said no".to_owned() }
        };
        Some((reply, gate::person()))
    }
}

/// What the answer must look like.
struct Schema {
    text: String,
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn read(path: &Path) -> Result<Self, Failure> {
        let wrong = |what: &dyn std::fmt::Display| {
            Failure::invalid("--schema", format!("{}: {what}", path.display()))
        };
        let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| wrong(&error))?;
        let place = "file:///schema.json";
        let mut compiler = boon::Compiler::new();
        compiler.add_resource(place, value).map_err(|error| wrong(&error))?;
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(place, &mut schemas).map_err(|error| wrong(&error))?;
        Ok(Self { text, schemas, index })
    }

    fn announce(&self, system: &mut String) {
        system.push_str(
            "\n\nYour last answer, when all is done, is JSON that fits this JSON Schema, and nothing \
             else:\n",
        );
        system.push_str(self.text.trim());
    }

    /// The value in an answer, or what is wrong with it.
    fn read_answer(&self, answer: &str) -> Result<Value, String> {
        let text = answer.trim();
        let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
        let text = inner.and_then(|text| text.strip_suffix("```")).unwrap_or(text);
        let value: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
        match self.schemas.validate(&value, self.index) {
            Ok(()) => Ok(value),
            Err(error) => Err(error.to_string()),
        }
    }
}
