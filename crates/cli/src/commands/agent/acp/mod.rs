//! `umbo agent --mode acp`: the Agent Client Protocol, version 1, by which editors drive agents.
//!
//! One connection ([`wire`]) has any number of sessions, each in a directory of its own ([`sessions`]).
//! What an agent does becomes updates ([`updates`], [`calls`]), what it did before is told again
//! ([`replay`]), what the gate asks becomes a request for permission ([`permission`]), and so do questions of
//! the model and of MCP servers where the editor has no forms ([`questions`]). Whatever takes time is left
//! to a task: a cancellation must be heard at any time.
//!
//! The types of the protocol's own crate are not used: it changes how every JSON object of the program
//! is ordered. The tests drive this with the official client library instead.

mod calls;
mod options;
mod patch;
mod permission;
mod prompt;
mod questions;
mod replay;
mod servers;
mod sessions;
mod updates;
mod wire;

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use self::sessions::Sessions;
use self::wire::{Answered, Editor, Message, invalid, params, refuse, respond};
use super::{hear_lines, runtime};
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::log;

/// The version of the protocol.
const VERSION: u16 = 1;

pub(super) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let runtime = runtime()?;
    let editor = Arc::new(Editor::default());
    let sessions = Arc::new(Sessions::new(context.clone(), words.clone(), Arc::clone(&editor)));
    let (sender, lines) = unbounded_channel();
    std::thread::spawn(move || hear_lines(|line| sender.send(line).is_ok()));
    runtime.block_on(async {
        serve(&sessions, &editor, lines).await;
        editor.close();
        sessions.close_all().await;
    });
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Hears messages until the editor closes its end.
async fn serve(
    sessions: &Arc<Sessions>,
    editor: &Arc<Editor>,
    mut lines: UnboundedReceiver<Vec<u8>>,
) {
    while let Some(line) = lines.recv().await {
        match editor.read(&line) {
            Some(Message::Request { id, method, params }) => {
                obey(sessions, id, &method, params);
            }
            Some(Message::Notification { method, params }) => match method.as_str() {
                "session/cancel" => {
                    let session = params["sessionId"].as_str().unwrap_or_default();
                    if let Ok(session) = sessions.find(session) {
                        session.cancel();
                    }
                }
                "$/cancel_request" => sessions.cancel_request(&params["requestId"]),
                // Notifications that nobody knows are ignored, as the protocol wants it.
                _ => {}
            },
            None => {}
        }
    }
}

/// Does what a request says, and answers it.
fn obey(sessions: &Arc<Sessions>, id: Value, method: &str, said: Value) {
    let own = Arc::clone(sessions);
    let answer = Answer(id);
    match method {
        "initialize" => answer.now(params(said).map(|request| {
            sessions.learn_editor(&request);
            capabilities()
        })),
        "authenticate" => answer.now(Err(invalid(
            "umbo has no way to authenticate: set the key of a model's vendor in its environment, \
             such as ANTHROPIC_API_KEY",
        ))),
        "session/new" => answer.later(async move { own.create(params(said)?).await }),
        "session/load" => answer.later(async move { own.load(params(said)?).await }),
        "session/resume" => answer.later(async move { own.resume(params(said)?).await }),
        "session/list" => answer.now(params(said).and_then(|request| sessions.list(&request))),
        "session/delete" => answer.later(async move { own.delete(params(said)?).await }),
        "session/close" => answer.later(async move { own.close(params(said)?).await }),
        "session/set_mode" => answer.later(async move { own.set_mode(params(said)?).await }),
        "session/set_config_option" => {
            answer.later(async move { own.set_option(params(said)?).await });
        }
        // Its place in the line is taken before the next message is read.
        "session/prompt" => match params(said).and_then(|request| own.turn(request, &answer.0)) {
            Ok(turn) => answer.later(turn.work()),
            Err(error) => answer.now(Err(error)),
        },
        _ => refuse(&answer.0, method),
    }
}

/// A request that waits for its answer.
struct Answer(Value);

impl Answer {
    fn now(self, answered: Answered) {
        respond(&self.0, answered);
    }

    fn later(self, work: impl Future<Output = Answered> + Send + 'static) {
        tokio::spawn(async move {
            let answered = work.await;
            self.now(answered);
        });
    }
}

/// What this agent can do. Only what is there is announced.
fn capabilities() -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentInfo": {"name": "umbo", "title": "Umbo", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": [],
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": false},
            "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
        },
    })
}
