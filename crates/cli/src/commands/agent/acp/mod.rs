//! `umbo agent --mode acp`: the Agent Client Protocol, version 1, by which editors drive agents.
//!
//! One connection has any number of sessions, each in a directory of its own ([`sessions`]). What an
//! agent does becomes updates ([`updates`], [`calls`]), what it did before is replayed ([`replay`]), and
//! what the gate asks becomes a request for permission ([`permission`]). A handler only notes what was
//! asked and leaves the work to a task: while a handler runs, the connection hears nothing else, and a
//! cancellation must be heard at any time.

mod calls;
mod options;
mod patch;
mod permission;
mod prompt;
mod replay;
mod sessions;
mod updates;

use std::future::Future;
use std::process::ExitCode;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthenticateRequest, CancelNotification, CloseSessionRequest,
    CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, Implementation,
    InitializeRequest, InitializeResponse, ListSessionsRequest, LoadSessionRequest,
    McpCapabilities, NewSessionRequest, PromptCapabilities, PromptRequest, ResumeSessionRequest,
    SessionCapabilities, SessionCloseCapabilities, SessionDeleteCapabilities,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionConfigOptionRequest,
    SetSessionModeRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcResponse, Stdio, on_receive_notification, on_receive_request,
};

use self::sessions::Sessions;
use super::runtime;
use crate::args::Agent as Words;
use crate::context::Context;
use crate::failure::Failure;
use crate::log;

pub(super) fn run(context: &Context, words: &Words) -> Result<ExitCode, Failure> {
    log::start(None)?;
    let runtime = runtime()?;
    let sessions = Arc::new(Sessions::new(context.clone(), words.clone()));
    let served = runtime.block_on(async {
        let served = serve(Arc::clone(&sessions)).await;
        sessions.close_all().await;
        served
    });
    runtime.shutdown_background();
    served.map_err(|error| Failure::new(format!("the connection failed: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Answers requests until the editor closes its end.
#[expect(clippy::too_many_lines, reason = "a flat list, a method each")]
async fn serve(sessions: Arc<Sessions>) -> Result<(), Error> {
    let own = || Arc::clone(&sessions);
    let (initialized, new, load, resume) = (own(), own(), own(), own());
    let (list, delete, close) = (own(), own(), own());
    let (prompt, cancel, mode, option) = (own(), own(), own(), own());
    Agent
        .v1()
        .name("umbo")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _: ConnectionTo<Client>| {
                initialized.learn_client(&request);
                responder.respond(capabilities())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |_: AuthenticateRequest, responder, _: ConnectionTo<Client>| {
                let why = "umbo has no way to authenticate: set the key of a model's vendor in \
                           its environment, such as ANTHROPIC_API_KEY";
                responder.respond_with_error(invalid(why))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, client: ConnectionTo<Client>| {
                let sessions = Arc::clone(&new);
                answer(responder, async move { sessions.create(request, client).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, client: ConnectionTo<Client>| {
                let sessions = Arc::clone(&load);
                answer(responder, async move { sessions.load(request, client).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, client: ConnectionTo<Client>| {
                let sessions = Arc::clone(&resume);
                answer(responder, async move { sessions.resume(request, client).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _: ConnectionTo<Client>| {
                responder.respond_with_result(list.list(&request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: DeleteSessionRequest, responder, _: ConnectionTo<Client>| {
                let sessions = Arc::clone(&delete);
                answer(responder, async move {
                    sessions.delete(&request.session_id.0).await?;
                    Ok(DeleteSessionResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _: ConnectionTo<Client>| {
                let sessions = Arc::clone(&close);
                answer(responder, async move {
                    sessions.close(&request.session_id.0).await?;
                    Ok(CloseSessionResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client: ConnectionTo<Client>| {
                match prompt.turn(&request.session_id.0) {
                    Ok(turn) => answer(responder, turn.work(request.prompt, client)),
                    Err(error) => responder.respond_with_error(error),
                }
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _: ConnectionTo<Client>| {
                if let Ok(session) = cancel.find(&notification.session_id.0) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, client: ConnectionTo<Client>| {
                let sessions = Arc::clone(&mode);
                answer(responder, async move { sessions.set_mode(request, client).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest,
                        responder,
                        client: ConnectionTo<Client>| {
                let sessions = Arc::clone(&option);
                answer(responder, async move { sessions.set_option(request, client).await })
            },
            on_receive_request!(),
        )
        .connect_to(Stdio::new())
        .await
}

/// Answers a request when its work is done; the connection goes on meanwhile.
fn answer<T: JsonRpcResponse + Send + 'static>(
    responder: Responder<T>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<(), Error> {
    tokio::spawn(async move {
        // An editor that is gone misses nothing.
        let _ = responder.respond_with_result(work.await);
    });
    Ok(())
}

fn capabilities() -> InitializeResponse {
    let session = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .delete(SessionDeleteCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
        .mcp_capabilities(McpCapabilities::new())
        .session_capabilities(session);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("umbo", env!("CARGO_PKG_VERSION")).title("Umbo".to_owned()))
}

/// A request that cannot be done as it is.
fn invalid(why: impl Into<String>) -> Error {
    Error::new(-32602, why)
}

/// A request that could not be done.
fn failed(failure: impl std::fmt::Display) -> Error {
    Error::new(-32603, failure.to_string())
}
