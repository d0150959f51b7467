//! The gate's questions, put to the person at the editor.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use umbo_agent::CallApprover;
use umbo_gate::{Covers, Lasts, Question, Reply};

use super::calls::CallNames;

const ONCE: &str = "allow_once";
const COMMAND: &str = "allow_command";
const PREFIX: &str = "allow_prefix";
const REJECT: &str = "reject_once";

/// Asks the editor for permissions of one session.
pub(super) struct AskEditor {
    pub(super) client: ConnectionTo<Client>,
    /// Known as soon as there is a session.
    pub(super) session: Mutex<Option<SessionId>>,
    pub(super) names: Arc<CallNames>,
    /// Who the audit says has answered.
    pub(super) person: String,
    /// The questions that nobody has answered yet.
    open: Mutex<Vec<Sender<Option<Reply>>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AskEditor {
    pub(super) fn new(client: ConnectionTo<Client>, person: String) -> Self {
        let (session, open) = (Mutex::default(), Mutex::default());
        Self { client, session, names: Arc::default(), person, open }
    }

    pub(super) fn set_session(&self, id: SessionId) {
        *locked(&self.session) = Some(id);
    }

    /// Nobody waits for an answer any more.
    pub(super) fn give_up(&self) {
        for sender in locked(&self.open).drain(..) {
            let _ = sender.send(None);
        }
    }
}

impl CallApprover for AskEditor {
    fn ask_for(&self, call_id: &str, question: &Question) -> Option<(Reply, String)> {
        let session = locked(&self.session).clone()?;
        let fields = ToolCallUpdateFields::new()
            .kind(ToolKind::Execute)
            .title(format!("`{}`", question.command))
            .content(vec![
                format!("{}\n\nin {}, {}", question.why, question.cwd, question.risk).into(),
            ]);
        let call = ToolCallUpdate::new(self.names.name(call_id), fields);
        let request = RequestPermissionRequest::new(session, call, choices(question));
        let (sender, answer) = channel();
        locked(&self.open).push(sender.clone());
        let sent = self.client.send_request(request).on_receiving_result(async move |result| {
            let reply = result.ok().and_then(|response| match response.outcome {
                RequestPermissionOutcome::Selected(chosen) => reply(&chosen.option_id.0),
                _ => None,
            });
            // Who has given up does not want it any more.
            let _ = sender.send(reply);
            Ok(())
        });
        sent.ok()?;
        Some((answer.recv().ok()??, self.person.clone()))
    }
}

/// What a person can say to a question.
fn choices(question: &Question) -> Vec<PermissionOption> {
    let mut choices = vec![
        PermissionOption::new(ONCE, "Allow once", PermissionOptionKind::AllowOnce),
        PermissionOption::new(
            COMMAND,
            "Allow this command for the session",
            PermissionOptionKind::AllowAlways,
        ),
    ];
    if !question.prefixes.is_empty() {
        let prefixes: Vec<String> =
            question.prefixes.iter().map(|prefix| format!("`{}`", prefix.join(" "))).collect();
        choices.push(PermissionOption::new(
            PREFIX,
            format!("Allow what begins with {} for the session", prefixes.join(" or ")),
            PermissionOptionKind::AllowAlways,
        ));
    }
    choices.push(PermissionOption::new(REJECT, "Reject", PermissionOptionKind::RejectOnce));
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
