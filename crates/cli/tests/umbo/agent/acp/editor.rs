//! An editor: the official client, over the pipes of the real binary.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, InitializeRequest, NewSessionRequest, PromptRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
    SelectedPermissionOutcome, SessionId, SessionNotification, SessionUpdate, StopReason, ToolCall,
    ToolCallId, ToolCallStatus,
};
use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request,
};
use futures_io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::super::{Case, DEADLINE, Scene};

/// What the person at the editor says to a question.
#[derive(Clone, Copy)]
pub(super) enum Chooses {
    Option(&'static str),
    /// Nothing, until the turn is cancelled.
    Nothing,
}

/// What the editor has seen.
#[derive(Default)]
struct Seen {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    updates: Vec<SessionUpdate>,
    asked: Vec<RequestPermissionRequest>,
    choices: VecDeque<Chooses>,
}

/// An editor that is connected to an agent.
pub(super) struct Editor {
    pub(super) agent: ConnectionTo<Agent>,
    seen: Arc<Seen>,
    process: u32,
}

/// Starts an agent, connects an editor to it and does something with it. The agent ends with status 0,
/// unless it was killed.
pub(super) fn drive<T>(
    scene: &Scene,
    case: Case,
    words: &[&str],
    choices: Vec<Chooses>,
    script: impl AsyncFnOnce(&Editor) -> T,
) -> T {
    let words = [&["agent", "--mode", "acp", "--model", case.model], words].concat();
    let mut command = scene.call(&words).into_command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let seen = Arc::new(Seen::default());
    seen.state.lock().unwrap().choices = choices.into();
    let done = runtime.block_on(async {
        tokio::time::timeout(DEADLINE, connect(&mut child, seen, script)).await
    });
    let status = child.wait().unwrap();
    let done = done.expect("the agent answered in time").unwrap();
    assert!(status.success() || status.code().is_none(), "{status}");
    done
}

async fn connect<T>(
    child: &mut Child,
    seen: Arc<Seen>,
    script: impl AsyncFnOnce(&Editor) -> T,
) -> Result<T, Error> {
    let stdin = OwnedFd::from(child.stdin.take().unwrap());
    let stdout = OwnedFd::from(child.stdout.take().unwrap());
    let outgoing = Output(Sender::from_owned_fd(stdin).unwrap());
    let incoming = Input(Receiver::from_owned_fd(stdout).unwrap());
    let (updated, asked, process) = (Arc::clone(&seen), Arc::clone(&seen), child.id());
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                updated.state.lock().unwrap().updates.push(notification.update);
                updated.changed.notify_waiters();
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _| {
                let choice = {
                    let mut state = asked.state.lock().unwrap();
                    state.asked.push(request);
                    state.choices.pop_front()
                };
                asked.changed.notify_waiters();
                match choice {
                    Some(Chooses::Option(option)) => responder.respond(selected(option)),
                    Some(Chooses::Nothing) => {
                        // It is never answered: the agent must not wait for it.
                        std::mem::forget(responder);
                        Ok(())
                    }
                    None => responder.respond(RequestPermissionResponse::new(
                        RequestPermissionOutcome::Cancelled,
                    )),
                }
            },
            on_receive_request!(),
        )
        .connect_with(
            ByteStreams::new(outgoing, incoming),
            async move |agent: ConnectionTo<Agent>| {
                let hello = InitializeRequest::new(ProtocolVersion::V1);
                let known = agent.send_request(hello).block_task().await?;
                assert_eq!(known.protocol_version, ProtocolVersion::V1);
                assert!(known.agent_capabilities.load_session);
                assert!(known.auth_methods.is_empty());
                Ok(script(&Editor { agent, seen, process }).await)
            },
        )
        .await
}

fn selected(option: &str) -> RequestPermissionResponse {
    let chosen = SelectedPermissionOutcome::new(option.to_owned());
    RequestPermissionResponse::new(RequestPermissionOutcome::Selected(chosen))
}

impl Editor {
    pub(super) async fn new_session(&self, directory: &Path) -> SessionId {
        let request = NewSessionRequest::new(directory);
        self.agent.send_request(request).block_task().await.unwrap().session_id
    }

    /// Prompts and waits for the end of the turn.
    pub(super) async fn prompt(&self, session: &SessionId, text: &str) -> StopReason {
        self.start_prompt(session, text).await.unwrap().unwrap()
    }

    /// Prompts, and goes on.
    pub(super) fn start_prompt(
        &self,
        session: &SessionId,
        text: &str,
    ) -> JoinHandle<Option<StopReason>> {
        let request = PromptRequest::new(session.clone(), vec![text.into()]);
        let sent = self.agent.send_request(request);
        tokio::spawn(async move { Some(sent.block_task().await.ok()?.stop_reason) })
    }

    /// `kill -9`.
    pub(super) fn kill(&self) {
        let process = rustix::process::Pid::from_raw(self.process.try_into().unwrap()).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    }

    pub(super) fn updates(&self) -> Vec<SessionUpdate> {
        self.seen.state.lock().unwrap().updates.clone()
    }

    pub(super) fn asked(&self) -> Vec<RequestPermissionRequest> {
        self.seen.state.lock().unwrap().asked.clone()
    }

    /// Waits until something is there; what the test waits for must not keep the connection waiting.
    async fn wait(&self, is_there: impl Fn(&State) -> bool) {
        loop {
            let changed = self.seen.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_there(&self.seen.state.lock().unwrap()) {
                return;
            }
            changed.await;
        }
    }

    /// Waits for an update.
    pub(super) async fn until(&self, is_it: impl Fn(&SessionUpdate) -> bool) {
        self.wait(|state| state.updates.iter().any(&is_it)).await;
    }

    /// Waits for so many questions.
    pub(super) async fn until_asked(&self, count: usize) {
        self.wait(|state| state.asked.len() >= count).await;
    }

    /// What the agent said, in one text.
    pub(super) fn said(&self) -> String {
        texts(&self.updates(), |update| match update {
            SessionUpdate::AgentMessageChunk(chunk) => Some(chunk),
            _ => None,
        })
    }

    /// What it thought.
    pub(super) fn thought(&self) -> String {
        texts(&self.updates(), |update| match update {
            SessionUpdate::AgentThoughtChunk(chunk) => Some(chunk),
            _ => None,
        })
    }

    /// The calls, each as all updates together make it.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let mut calls: Vec<ToolCall> = Vec::new();
        for update in self.updates() {
            match update {
                SessionUpdate::ToolCall(call) => {
                    assert!(!calls.iter().any(|known| known.tool_call_id == call.tool_call_id));
                    calls.push(call);
                }
                SessionUpdate::ToolCallUpdate(update) => {
                    let call =
                        calls.iter_mut().find(|call| call.tool_call_id == update.tool_call_id);
                    call.expect("a call is told before its updates").update(update.fields);
                }
                _ => {}
            }
        }
        calls
    }

    pub(super) fn call(&self, id: &ToolCallId) -> ToolCall {
        self.calls().into_iter().find(|call| call.tool_call_id == *id).unwrap()
    }

    /// The states that a call went through.
    pub(super) fn states(&self, id: &ToolCallId) -> Vec<ToolCallStatus> {
        let updates = self.updates();
        let states = updates.iter().filter_map(|update| match update {
            SessionUpdate::ToolCall(call) if call.tool_call_id == *id => Some(call.status),
            SessionUpdate::ToolCallUpdate(update) if update.tool_call_id == *id => {
                update.fields.status
            }
            _ => None,
        });
        states.collect()
    }
}

fn texts(
    updates: &[SessionUpdate],
    chunk: impl Fn(&SessionUpdate) -> Option<&ContentChunk>,
) -> String {
    let text = |update| match &chunk(update)?.content {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    };
    updates.iter().filter_map(text).collect()
}

/// The word of an update on the wire.
pub(super) fn kind(update: &SessionUpdate) -> &'static str {
    match update {
        SessionUpdate::UserMessageChunk(_) => "user_message_chunk",
        SessionUpdate::AgentMessageChunk(_) => "agent_message_chunk",
        SessionUpdate::AgentThoughtChunk(_) => "agent_thought_chunk",
        SessionUpdate::ToolCall(_) => "tool_call",
        SessionUpdate::ToolCallUpdate(_) => "tool_call_update",
        _ => "other",
    }
}

/// The agent's standard output.
struct Input(Receiver);

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_read_ready(context))?;
            match self.0.try_read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return Poll::Ready(read),
            }
        }
    }
}

/// Its standard input.
struct Output(Sender);

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(context))?;
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
