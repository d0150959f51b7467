//! A call of a tool that the thread which read it answers.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ProgressToken, ProtocolVersion, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::runtime::Handle;
use umbo_tools::{
    AccessQuestion, AccessReply, Approver, Beside, Question, Reply, Ticket, ToolResult,
};

use super::Reading;
use super::input::Line;
use super::output::Output;
use crate::answer::{Catalogue, answer};
use crate::asking::AskVia;
use crate::caller::Caller;
use crate::cancellation::{Cancellations, Cancelling, Fate};
use crate::client::{self, Client, ClientOptions};
use crate::elicitation::{self, Said};
use crate::handler::McpHandler;
use crate::invocation::span;
use crate::threads::{self, Panic};
use crate::{progress, wire};

/// What there is to know of a client, from its handshake to its end.
pub(crate) struct Session {
    pub(crate) caller: Arc<Caller>,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) cancellations: Arc<Cancellations>,
    pub(crate) options: ClientOptions,
    pub(crate) client: Client,
    pub(crate) revision: ProtocolVersion,
    /// Who answers its forms, if it can show some.
    pub(crate) who: Option<String>,
    /// What questions and progress go through.
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) runtime: Handle,
}

/// A call that is answered here.
pub(super) struct ToolCall {
    id: RequestId,
    params: CallToolRequestParams,
}

impl Session {
    /// What is known of a client after its handshake; none if its calls may need more than an answer.
    pub(crate) fn of(peer: &Peer<RoleServer>, handler: &McpHandler) -> Option<Self> {
        let info = peer.peer_info()?;
        let revision = info.protocol_version.clone();
        if revision >= ProtocolVersion::V_2026_07_28 || info.capabilities.supports_tasks() {
            return None;
        }
        let (catalogue, cancellations, options) = handler.parts();
        let asks = options.elicitation && elicitation::can_ask(Some(&info.capabilities));
        Some(Self {
            caller: handler.caller().ok()?,
            catalogue,
            cancellations,
            options,
            client: client::named(&info.client_info.name).with(options),
            revision,
            who: asks.then(|| elicitation::person(&info.client_info.name)),
            peer: peer.clone(),
            runtime: Handle::current(),
        })
    }

    /// A line as a call, if it is one that says nothing of itself but what it wants to hear.
    pub(super) fn call(&self, line: &Line) -> Option<ToolCall> {
        let Line::Whole(line) = line else { return None };
        let (id, params) = wire::read_call(wire::text(line))?;
        let says_more = params.meta.as_ref().is_some_and(|meta| {
            meta.protocol_version().is_some()
                || meta.client_info().is_some()
                || meta.client_capabilities().is_some()
        });
        let is_retry = params.input_responses.is_some() || params.request_state.is_some();
        let is_known = self.catalogue.tool(&params.name).is_some();
        (is_known && !says_more && !is_retry).then_some(ToolCall { id, params })
    }

    /// Answers a call.
    pub(super) fn answer(&self, call: ToolCall, reading: &Arc<Reading>, output: &Arc<Output>) {
        let ToolCall { id, params } = call;
        let meta = params.meta.unwrap_or_default();
        let token = meta.get_progress_token();
        let beside: Arc<dyn Beside> = Arc::clone(reading) as _;
        let mut ticket =
            Ticket::builder().longest_wait(self.client.longest_wait()).beside(Arc::clone(&beside));
        if token.is_some() {
            let tell = progress::teller(&self.peer, token.clone(), None, self.runtime.clone());
            ticket = ticket.progress(tell);
        }
        let cancelling = Arc::new(Cancelling::default());
        if let Some(who) = &self.who {
            ticket = ticket.approver(Form {
                beside,
                peer: self.peer.clone(),
                token,
                caller: Arc::clone(&self.caller),
                runtime: self.runtime.clone(),
                cancelling: Arc::clone(&cancelling),
                who: who.clone(),
            });
        }
        let ticket = ticket.build();
        let expected = self.cancellations.expect_stop(
            id.clone(),
            ticket.clone(),
            self.options.on_cancel,
            &cancelling,
        );
        let entered = self.caller.calls.enter(ticket.clone());
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let tools = &self.caller.tools;
        let run = || span(&meta).in_scope(|| tools.call(&params.name, arguments, &ticket));
        let result = catch_unwind(AssertUnwindSafe(run));
        drop(expected);
        let sent = match (cancelling.fate(), result) {
            (None, result) => self.response(id, result).and_then(|line| output.send(line)),
            (Some(Fate::RunsOn), Ok(result)) => {
                self.caller.keep_answer(&result);
                Ok(())
            }
            (Some(_), _) => Ok(()),
        };
        if let Err(error) = sent {
            tracing::error!(%error, "cannot answer");
        }
        drop(entered);
    }

    /// The line that answers a call.
    fn response(&self, id: RequestId, result: Result<ToolResult, Panic>) -> io::Result<Vec<u8>> {
        let message = match result {
            Ok(result) => {
                let answer =
                    self.caller.with_unheard(answer(result, Some(&self.revision), self.client));
                let mut answer = ServerResult::CallToolResult(answer);
                answer.strip_result_type_for_legacy_peer();
                ServerJsonRpcMessage::response(answer, id)
            }
            Err(panic) => {
                ServerJsonRpcMessage::error(threads::broken(threads::said(&panic)), Some(id))
            }
        };
        wire::line(&message)
    }
}

/// Asks the person in front of the client, by forms.
struct Form {
    /// Who waits for a person listens to nothing else: the answer comes where it would listen.
    beside: Arc<dyn Beside>,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    caller: Arc<Caller>,
    runtime: Handle,
    cancelling: Arc<Cancelling>,
    who: String,
}

impl Form {
    /// Waits for what a form says; for nothing any more when the call is cancelled.
    fn wait<T>(&self, said: impl Future<Output = Option<T>>) -> Option<T> {
        self.beside.ready();
        self.runtime.block_on(async {
            tokio::select! {
                said = said => said,
                () = self.cancelling.cancelled() => None,
            }
        })
    }

    fn via(&self) -> AskVia {
        AskVia::Request { peer: self.peer.clone(), token: self.token.clone() }
    }
}

impl Approver for Form {
    fn ask(&self, question: &Question) -> Option<(Reply, String)> {
        let mut via = self.via();
        let reply = self.wait(async {
            match via.ask(question, &self.caller.tools).await {
                Said::Reply(reply) => Some(reply),
                Said::Nothing | Said::Nonsense => None,
            }
        })?;
        Some((reply, self.who.clone()))
    }

    fn ask_access(&self, question: &AccessQuestion) -> Option<AccessReply> {
        let mut via = self.via();
        self.wait(via.ask_access(question, &self.caller.tools))
    }
}
