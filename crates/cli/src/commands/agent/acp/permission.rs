//! The gate's questions, put to the person at the editor.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use umbo_agent::CallApprover;
use umbo_gate::{Covers, Lasts, Question, Reply, ShownInput};

use super::calls::{CallNames, ToolKind};
use super::updates::fenced;
use super::wire::Editor;

const ONCE: &str = "allow_once";
const COMMAND: &str = "allow_command";
const PREFIX: &str = "allow_prefix";
const REJECT: &str = "reject_once";

/// Asks the editor for permissions of one session.
pub(super) struct AskEditor {
    pub(super) editor: Arc<Editor>,
    /// Whether the editor shows forms.
    pub(super) shows_forms: bool,
    /// Known as soon as there is a session.
    session: Mutex<Option<String>>,
    pub(super) names: Arc<CallNames>,
    /// Who the audit says has answered.
    person: String,
    /// The questions that nobody has answered yet.
    open: Mutex<HashMap<u64, Sender<Option<Reply>>>>,
    count: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AskEditor {
    pub(super) fn new(editor: Arc<Editor>, person: String, shows_forms: bool) -> Self {
        Self {
            editor,
            shows_forms,
            session: Mutex::default(),
            names: Arc::default(),
            person,
            open: Mutex::default(),
            count: AtomicU64::new(0),
        }
    }

    /// The session that questions belong to, once there is one.
    pub(super) fn session(&self) -> Option<String> {
        locked(&self.session).clone()
    }

    /// A number that no question of this session has had.
    pub(super) fn number(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn set_session(&self, id: &str) {
        *locked(&self.session) = Some(id.to_owned());
    }

    /// Nobody waits for an answer any more.
    pub(super) fn give_up(&self) {
        for (_, sender) in locked(&self.open).drain() {
            let _ = sender.send(None);
        }
    }
}

impl CallApprover for AskEditor {
    fn ask_for(&self, call_id: &str, question: &Question) -> Option<(Reply, String)> {
        let session = self.session()?;
        let mut why = format!("{}\n\nin {}, {}", question.why, question.cwd, question.risk);
        let mut kind = ToolKind::Execute;
        match &question.input {
            None => {}
            Some(ShownInput::Typed { job }) => {
                let _ = write!(why, "\n\ntyped into job {job}");
            }
            Some(ShownInput::Change { diff }) => {
                kind = ToolKind::Edit;
                let _ = write!(why, "\n\n{}", fenced("diff", diff));
            }
            Some(ShownInput::Input { bytes, text }) => {
                let _ = write!(why, "\n\ngiven {bytes} bytes on its standard input");
                if let Some(text) = text {
                    let _ = write!(why, ", which it runs:\n\n{}", fenced("", text));
                }
            }
        }
        let request = json!({
            "sessionId": session,
            "toolCall": {
                "toolCallId": self.names.name(call_id),
                "kind": kind,
                "title": format!("`{}`", question.command),
                "content": [{"type": "content", "content": {"type": "text", "text": why}}],
            },
            "options": choices(question),
        });
        let (sender, answer) = channel();
        let number = self.number();
        locked(&self.open).insert(number, sender.clone());
        self.editor.ask("session/request_permission", &request, move |result| {
            let chosen = result.and_then(|result| {
                let outcome = &result["outcome"];
                reply(outcome["optionId"].as_str().filter(|_| outcome["outcome"] == "selected")?)
            });
            // Who has given up does not want it any more.
            let _ = sender.send(chosen);
        });
        let replied = answer.recv().ok();
        locked(&self.open).remove(&number);
        Some((replied??, self.person.clone()))
    }
}

/// What a person can say to a question.
fn choices(question: &Question) -> Vec<Value> {
    let choice =
        |id: &str, name: String, kind: &str| json!({"optionId": id, "name": name, "kind": kind});
    let mut choices = vec![
        choice(ONCE, "Allow once".to_owned(), "allow_once"),
        choice(COMMAND, "Allow this command for the session".to_owned(), "allow_always"),
    ];
    if !question.prefixes.is_empty() {
        let prefixes: Vec<String> =
            question.prefixes.iter().map(|prefix| format!("`{}`", prefix.join(" "))).collect();
        let name = format!("Allow what begins with {} for the session", prefixes.join(" or "));
        choices.push(choice(PREFIX, name, "allow_always"));
    }
    choices.push(choice(REJECT, "Reject".to_owned(), "reject_once"));
    choices
}

fn reply(chosen: &str) -> Option<Reply> {
    Some(match chosen {
        ONCE => Reply::approve(Covers::Command, Lasts::Once),
        COMMAND => Reply::approve(Covers::Command, Lasts::Run),
        PREFIX => Reply::approve(Covers::Prefix, Lasts::Run),
        REJECT => Reply::Deny { reason: "the user said no".to_owned() },
        _ => return None,
    })
}
