//! How the person in front of a client is asked, in each revision of the protocol.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequest, ElicitResult, InputRequest,
    InputResponses, ProgressNotificationParam, ProgressToken, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::task_manager::TaskContext;
use serde_json::Value;
use umbo_tools::{AccessQuestion, AccessReply, Question, Toolset};

use crate::elicitation::{self, Said};

/// How long a person may take to answer a form. Later, they can answer with `umbo approve`.
const FORM_TIMEOUT: Duration = Duration::from_mins(5);
/// How often a client is reminded that a person is asked.
const REMINDER_INTERVAL: Duration = Duration::from_secs(10);

/// How the person in front of a client is asked.
pub(crate) enum AskVia {
    /// Not at all.
    Nobody,
    /// By a request, which is answered while the call waits.
    Request { peer: Peer<RoleServer>, token: Option<ProgressToken> },
    /// By an answer to the call: the client calls again, with the replies to what it was asked.
    Retry { state: Option<String>, responses: InputResponses },
    /// By the state of a task, which the client updates.
    Task(TaskContext),
}

impl AskVia {
    /// Asks, as far as that can be done while the call waits.
    pub(crate) async fn ask(&mut self, question: &Question, tools: &Toolset) -> Said {
        match self {
            Self::Nobody => Said::Nothing,
            Self::Request { peer, token } => {
                let Some(form) = elicitation::form(question, tools) else { return Said::Nothing };
                let answer = tokio::select! {
                    answer = request(peer, form, FORM_TIMEOUT) => answer,
                    never = remind(peer, token.as_ref()) => match never {},
                };
                answer
                    .map_or(Said::Nothing, |(result, open)| elicitation::said(&result, Some(open)))
            }
            // A question has a name that lasts; the answer is to this one and no other.
            Self::Retry { state, responses } => match state {
                Some(state) if *state == question.id => {
                    responses.remove(&question.id).map_or(Said::Nonsense, said)
                }
                _ => Said::Nonsense,
            },
            Self::Task(task) => {
                let Some(form) = elicitation::form(question, tools) else { return Said::Nothing };
                let form = InputRequest::Elicitation(form);
                match task.request_input(question.id.clone(), form).await {
                    Ok(response) => said(response),
                    Err(_) => Said::Nothing,
                }
            }
        }
    }

    /// Asks what a command that runs may touch, if that can be done while the call waits.
    pub(crate) async fn ask_access(
        &mut self,
        question: &AccessQuestion,
        tools: &Toolset,
    ) -> Option<AccessReply> {
        let Self::Request { peer, .. } = self else { return None };
        let form = elicitation::access_form(question, tools)?;
        let (result, open) = request(peer, form, question.left).await?;
        elicitation::said_access(&result, open)
    }
}

fn said(response: Value) -> Said {
    match serde_json::from_value::<ElicitResult>(response) {
        // How long the form was open only the client knows.
        Ok(result) => elicitation::said(&result, None),
        Err(_) => Said::Nonsense,
    }
}

/// Shows a form; what became of it, and how long it was open.
async fn request(
    peer: &Peer<RoleServer>,
    form: ElicitRequest,
    timeout: Duration,
) -> Option<(ElicitResult, Duration)> {
    let request = ServerRequest::ElicitRequest(form);
    // When the time is over, the client is told to close the form.
    let options = PeerRequestOptions::with_timeout(timeout);
    let handle = peer.send_cancellable_request(request, options).await.ok()?;
    let shown = Instant::now();
    let mut open = OpenForm(Some((peer.clone(), handle.id.clone())));
    let answer = handle.await_response().await;
    open.0 = None;
    match answer {
        Ok(ClientResult::ElicitResult(result)) => Some((result, shown.elapsed())),
        _ => None,
    }
}

/// A form that is shown, and closed if nobody waits for it any more.
struct OpenForm(Option<(Peer<RoleServer>, RequestId)>);

impl Drop for OpenForm {
    fn drop(&mut self) {
        if let Some((peer, id)) = self.0.take() {
            let reason = Some("the call was cancelled".to_owned());
            let cancelled = CancelledNotificationParam::new(Some(id), reason);
            tokio::spawn(async move { peer.notify_cancelled(cancelled).await });
        }
    }
}

/// Says from time to time that a person is being waited for, so that the client does not give up.
async fn remind(peer: &Peer<RoleServer>, token: Option<&ProgressToken>) -> Infallible {
    // Progress must grow, and the command's own begins after this.
    let mut progress = 0.0;
    loop {
        tokio::time::sleep(REMINDER_INTERVAL).await;
        progress += 1e-6;
        if let Some(token) = token {
            let tick = ProgressNotificationParam::new(token.clone(), progress)
                .with_message("waiting for somebody to allow the command");
            let _ = peer.notify_progress(tick).await;
        }
    }
}
