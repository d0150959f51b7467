//! `umbo agent --mode rpc`: commands in, responses and events out, one JSON object a line. The
//! protocol is the one that hosts of oh-my-pi speak; `handoff`, `get_tree`, `navigate_tree` and
//! `list_sessions` are beside it.
//!
//! One task does all: while a prompt is worked on, what needs the agent waits for its turn, and what
//! does not is answered at once.

mod dialogs;
mod frames;
mod host;
mod shell;
mod state;

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use umbo_agent::{
    AgentEvent, AgentMessage, Asker, Delivery, InterruptMode, Outcome, QueueMode, Queues, Tools,
};
use umbo_model::Part;

use self::frames::Frames;
use self::host::{AskHost, Host, RpcTools};
use self::shell::{Finished, Shell};
use self::state::State;
use super::setup::Prepared;
use super::{hear_lines, outcome_words, runtime};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::log;
use crate::output;

pub(super) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let host = Arc::new(Host::default());
    let approver = Arc::new(AskHost(Arc::clone(&host)));
    let mut prepared = Prepared::new(context, words, Some(approver))?;
    prepared.set_asker(Arc::clone(&host) as Arc<dyn Asker>);
    let lender = Arc::clone(&host);
    prepared.set_outer_tools(Box::new(move |own, jobs| {
        Arc::new(RpcTools { own, jobs, host: Arc::clone(&lender) }) as Arc<dyn Tools>
    }));
    output::message(&json!({"type": "ready"}));
    let told = Arc::clone(&host);
    prepared.notices.show_with(move |text| {
        output::message(&json!({
            "type": "extension_ui_request", "id": format!("ui_{}", told.number()),
            "method": "notify", "message": text, "notifyType": "warning",
        }));
    });
    let (sender, lines) = unbounded_channel();
    let closing = Arc::clone(&host);
    std::thread::spawn(move || {
        hear_lines(|line| sender.send(line).is_ok());
        closing.close();
    });
    let runtime = runtime()?;
    let state = State::new(context.clone(), prepared);
    let mut server = Server {
        queues: state.queues(),
        host,
        waiting: VecDeque::new(),
        shell: Shell::default(),
        unrecorded: Vec::new(),
    };
    runtime.block_on(server.serve(state, lines));
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// What is heard and answered without the agent.
struct Server {
    host: Arc<Host>,
    queues: Arc<Queues>,
    /// Commands that need the agent, which works.
    waiting: VecDeque<Waiting>,
    /// Commands of the host's own that run.
    shell: Shell,
    /// What the session shall have of them, as soon as the agent does not work on it.
    unrecorded: Vec<AgentMessage>,
}

/// A command that waits.
struct Waiting {
    command: Value,
    /// It was answered when it came.
    is_acknowledged: bool,
}

type Answered = Result<Option<Value>, String>;

impl Server {
    async fn serve(&mut self, mut state: State, mut lines: UnboundedReceiver<Vec<u8>>) {
        loop {
            let next = if let Some(waiting) = self.waiting.pop_front() {
                Some(waiting)
            } else {
                tokio::select! {
                    line = lines.recv() => match line {
                        None => break,
                        Some(line) => parse(&line)
                            .map(|command| Waiting { command, is_acknowledged: false }),
                    },
                    Some(Ok(finished)) = self.shell.next(), if !self.shell.is_idle() => {
                        let Finished { command, answered, message } = finished;
                        self.unrecorded.extend(message);
                        respond(&command, self.record(&mut state).and(answered));
                        None
                    }
                }
            };
            let Some(Waiting { command, is_acknowledged }) = next else { continue };
            if self.answer_alone(&command, false) {
                continue;
            }
            let word = command["type"].as_str().unwrap_or_default().to_owned();
            if matches!(word.as_str(), "prompt" | "abort_and_prompt" | "steer" | "follow_up") {
                // Before the host can know of it.
                self.queues.announce_run();
                if !is_acknowledged {
                    respond(&command, Ok(None));
                }
                self.prompt(&mut state, &command, &mut lines).await;
                continue;
            }
            if word == "bash" {
                let (tools, directory) = state.shell_tools();
                self.shell.start(command, tools, &self.host, directory);
                continue;
            }
            let answered = state.obey(&word, &command).await;
            match answered {
                Some(answered) => respond(&command, answered),
                // As hosts know it, without the id.
                None => output::message(&json!({
                    "type": "response", "command": word, "success": false,
                    "error": format!("Unknown command: {word}"),
                })),
            }
        }
        self.interrupt();
        self.shell.abort();
        state.close().await;
    }

    /// Ends what the agent is doing. What it asked the host about is not asked any more.
    fn interrupt(&self) {
        self.queues.interrupt();
        self.host.take_back_questions();
    }

    /// Writes down what the host ran.
    fn record(&mut self, state: &mut State) -> Answered {
        for message in self.unrecorded.drain(..) {
            state.record(message)?;
        }
        Ok(None)
    }

    /// Answers what needs no agent; whether that was all.
    fn answer_alone(&mut self, command: &Value, is_working: bool) -> bool {
        let word = command["type"].as_str().unwrap_or_default();
        let answered: Answered = match word {
            "host_tool_result"
            | "host_tool_update"
            | "host_uri_result"
            | "extension_ui_response" => {
                self.host.answer(command.clone());
                return true;
            }
            // Heard first, then obeyed: the frames that it causes come after its answer.
            "abort" => {
                respond(command, Ok(None));
                self.waiting.retain(|waiting| !waiting.is_acknowledged);
                self.interrupt();
                return true;
            }
            // What is over cannot be stopped, and that is no error.
            "abort_bash" => {
                self.shell.abort();
                Ok(None)
            }
            "abort_retry" => {
                self.queues.abort_retry();
                Ok(None)
            }
            "steer" | "follow_up" if is_working => {
                let delivery = if word == "steer" { Delivery::Steer } else { Delivery::FollowUp };
                content(command).map(|content| {
                    self.queues.push(delivery, content);
                    None
                })
            }
            "prompt" if is_working => match command["streamingBehavior"].as_str() {
                Some("steer") => content(command).map(|said| {
                    self.queues.push(Delivery::Steer, said);
                    None
                }),
                Some("followUp") => content(command).map(|said| {
                    self.queues.push(Delivery::FollowUp, said);
                    None
                }),
                _ => Err("Agent is already processing. Specify streamingBehavior ('steer' or \
                          'followUp') to queue the message."
                    .to_owned()),
            },
            "abort_and_prompt" if is_working => content(command).map(|_| {
                self.interrupt();
                let waiting = Waiting { command: command.clone(), is_acknowledged: true };
                self.waiting.push_back(waiting);
                None
            }),
            "set_host_tools" => field::<Vec<host::HostTool>>(command, "tools").map(|tools| {
                let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
                self.host.set_tools(tools);
                Some(json!({"toolNames": names}))
            }),
            "set_host_uri_schemes" => field::<Vec<host::HostScheme>>(command, "schemes")
                .map(|schemes| Some(json!({"schemes": self.host.set_schemes(schemes)}))),
            "set_steering_mode" | "set_follow_up_mode" | "set_interrupt_mode" => {
                self.set_mode(word, command["mode"].as_str().unwrap_or_default())
            }
            _ => return false,
        };
        respond(command, answered);
        true
    }

    fn set_mode(&self, word: &str, mode: &str) -> Answered {
        let (mut steering, mut follow_up, mut interrupt) = self.queues.modes();
        let queue = match mode {
            "all" => Some(QueueMode::All),
            "one-at-a-time" => Some(QueueMode::OneAtATime),
            _ => None,
        };
        let when = match mode {
            "immediate" => Some(InterruptMode::Immediate),
            "wait" => Some(InterruptMode::Wait),
            _ => None,
        };
        match (word, queue, when) {
            ("set_steering_mode", Some(mode), _) => steering = mode,
            ("set_follow_up_mode", Some(mode), _) => follow_up = mode,
            ("set_interrupt_mode", _, Some(mode)) => interrupt = mode,
            _ => return Err(format!("{word}: there is no mode {mode:?}")),
        }
        self.queues.set_modes(steering, follow_up, interrupt);
        Ok(None)
    }

    /// Works on a prompt, and hears commands meanwhile.
    async fn prompt(
        &mut self,
        state: &mut State,
        command: &Value,
        lines: &mut UnboundedReceiver<Vec<u8>>,
    ) {
        let content = match content(command) {
            Ok(content) => content,
            Err(error) => return respond(command, Err(error)),
        };
        let mut frames = Frames::new(state.most_retries());
        for frame in frames.begin() {
            output::message(&frame);
        }
        let before = state.message_count();
        let mut observer = |event: AgentEvent| {
            for frame in frames.take(&event) {
                output::message(&frame);
            }
        };
        let glimpse = state.glimpse();
        let outcome = {
            let work = state.prepared.agent.prompt(content, &mut observer);
            tokio::pin!(work);
            let mut is_open = true;
            loop {
                tokio::select! {
                    outcome = &mut work => break outcome,
                    line = lines.recv(), if is_open => match line {
                        None => {
                            is_open = false;
                            self.interrupt();
                        }
                        Some(line) => self.hear(&line, &glimpse),
                    },
                    Some(Ok(Finished { command, answered, message })) = self.shell.next(),
                        if !self.shell.is_idle() =>
                    {
                        self.unrecorded.extend(message);
                        respond(&command, answered);
                    }
                }
            }
        };
        if let Err(error) = self.record(state) {
            respond(command, Err(error));
        }
        let failed = match &outcome {
            Ok(outcome) => outcome_words(outcome).1,
            Err(error) => Some(error.to_string()),
        };
        for frame in frames.end(&state.messages_since(before), failed.as_deref()) {
            output::message(&frame);
        }
        match outcome {
            Ok(Outcome::Done | Outcome::Interrupted) => {}
            Ok(outcome) => {
                let (word, reason) = outcome_words(&outcome);
                let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                respond(command, Err(format!("{word}{why}")));
            }
            Err(error) => respond(command, Err(error.to_string())),
        }
    }

    /// A command while the agent works.
    fn hear(&mut self, line: &[u8], glimpse: &state::Glimpse) {
        let Some(command) = parse(line) else { return };
        if self.answer_alone(&command, true) {
            return;
        }
        let word = command["type"].as_str().unwrap_or_default();
        if word == "bash" {
            let (tools, directory) = glimpse.shell_tools();
            self.shell.start(command, tools, &self.host, directory);
        } else if let Some(answered) = glimpse.answer(&command, &self.queues) {
            respond(&command, answered);
        } else {
            // These end what is under way, as a person would.
            if matches!(word, "compact" | "new_session" | "switch_session" | "branch" | "handoff") {
                self.interrupt();
            }
            self.waiting.push_back(Waiting { command, is_acknowledged: false });
        }
    }
}

/// What a command says: a text, and images.
fn content(command: &Value) -> Result<Vec<Part>, String> {
    let Some(text) = command["message"].as_str() else {
        return Err("message: a text is needed".to_owned());
    };
    let mut parts = vec![Part::text(text)];
    for image in command["images"].as_array().into_iter().flatten() {
        let part = serde_json::from_value(image.clone());
        parts.push(part.map_err(|error| format!("images: {error}"))?);
    }
    Ok(parts)
}

/// A field of a command.
fn field<T: DeserializeOwned>(command: &Value, name: &str) -> Result<T, String> {
    serde_json::from_value(command[name].clone()).map_err(|error| format!("{name}: {error}"))
}

/// A command of the host; what is none is answered here.
fn parse(line: &[u8]) -> Option<Value> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(command) if command.is_object() => Some(command),
        other => {
            let why = other.map_or_else(|error| error.to_string(), |_| "no object".to_owned());
            output::message(&json!({
                "type": "response", "command": "parse", "success": false,
                "error": format!("Failed to parse command: {why}"),
            }));
            None
        }
    }
}

/// Answers a command.
fn respond(command: &Value, answered: Answered) {
    let mut frame = json!({"type": "response", "command": command["type"]});
    if let Some(id) = command.get("id") {
        frame["id"] = id.clone();
    }
    match answered {
        Ok(data) => {
            frame["success"] = json!(true);
            if let Some(data) = data {
                frame["data"] = data;
            }
        }
        Err(error) => {
            frame["success"] = json!(false);
            frame["error"] = json!(error);
        }
    }
    output::message(&frame);
}
