//! One `tools/call`: the tool runs on a thread that may block, while here its caller is told how it
//! stands, is asked what it must be asked, and may change its mind.

use std::convert::Infallible;
use std::future::{self, Future};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ElicitRequest,
    ElicitResult, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestMetaObject, ServerRequest,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::task_manager::TaskContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};
use tracing::{Span, field, info_span};
use umbo_tools::{Question, Reply, Tick, Ticket, ToolResult};

use crate::answer::answer;
use crate::caller::Caller;
use crate::elicitation::{self, Asked, Desk, Said};
use crate::tasks;

/// How often a client is reminded that a person is asked.
const REMINDER: Duration = Duration::from_secs(10);

/// Answers a call, now or as a task.
pub(crate) async fn call(
    caller: Arc<Caller>,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let capabilities = context.client_capabilities();
    let way = if !elicitation::can_ask(capabilities.as_ref()) {
        Way::Nobody
    } else if is_newest(&context) {
        let state = request.request_state.take();
        Way::Retry { state, responses: request.input_responses.take().unwrap_or_default() }
    } else {
        let token = context.meta.get_progress_token();
        Way::Request { peer: context.peer.clone(), token }
    };
    let invocation = Invocation::start(caller, request, &context, way);
    if capabilities.is_some_and(|capabilities| capabilities.supports_tasks()) {
        return tasks::call(invocation, context).await;
    }
    invocation.finish(context.ct.cancelled()).await
}

/// How the person in front of a client is asked.
pub(crate) enum Way {
    /// Not at all.
    Nobody,
    /// By a request, which is answered while the call waits.
    Request { peer: Peer<RoleServer>, token: Option<ProgressToken> },
    /// By an answer to the call: the client calls again, with the replies to what it was asked.
    Retry { state: Option<String>, responses: InputResponses },
    /// By the state of a task, which the client updates.
    Task(TaskContext),
}

/// A call in progress.
pub(crate) struct Invocation {
    caller: Arc<Caller>,
    call: JoinHandle<ToolResult>,
    ticket: Ticket,
    asked: mpsc::UnboundedReceiver<Asked>,
    way: Way,
    revision: Option<ProtocolVersion>,
    /// The task it has become.
    task: Arc<OnceLock<TaskContext>>,
    /// What the client is to be asked before it calls again.
    question: Option<Question>,
}

impl Invocation {
    fn start(
        caller: Arc<Caller>,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        way: Way,
    ) -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        let task = Arc::new(OnceLock::new());
        let mut ticket = Ticket::builder();
        if let Some(tell) = progress(context, &task) {
            ticket = ticket.progress(tell);
        }
        if !matches!(way, Way::Nobody) {
            let who = context.client_info().map_or_else(String::new, |client| client.name);
            ticket = ticket.approver(Desk { asked: sender, who: format!("a person at {who:?}") });
        }
        let ticket = ticket.build();
        let entered = caller.calls.enter(ticket.clone());
        let tools = Arc::clone(&caller.tools);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let calling = ticket.clone();
        let span = span(&context.meta);
        let call = tokio::task::spawn_blocking(move || {
            let _entered = entered;
            span.in_scope(|| tools.call(&request.name, arguments, &calling))
        });
        let revision = context.protocol_version();
        Self { caller, call, ticket, asked, way, revision, task, question: None }
    }

    /// Its caller, for whom it may become a task.
    pub(crate) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.caller)
    }

    /// From here on it is a task.
    pub(crate) fn become_task(&mut self, task: TaskContext) {
        let _ = self.task.set(task.clone());
        if !matches!(self.way, Way::Nobody) {
            self.way = Way::Task(task);
        }
    }

    /// Waits for the end, until it is late or nobody wants the result any more.
    pub(crate) async fn wait(
        &mut self,
        late: impl Future<Output = ()>,
        cancelled: impl Future<Output = ()>,
    ) -> Waited {
        tokio::pin!(late, cancelled);
        loop {
            tokio::select! {
                result = &mut self.call => return Waited::Over(whole(result)),
                () = &mut late => return Waited::Late,
                () = &mut cancelled => return Waited::Cancelled,
                Some(Asked { question, answer }) = self.asked.recv() => {
                    // However late it is: somebody may be about to answer.
                    tokio::select! {
                        reply = self.ask(question) => { let _ = answer.send(reply); }
                        () = &mut cancelled => return Waited::Cancelled,
                    }
                }
            }
        }
    }

    /// Waits for the end, or stops it when it is cancelled.
    pub(crate) async fn finish(
        mut self,
        cancelled: impl Future<Output = ()>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = match self.wait(future::pending(), cancelled).await {
            Waited::Over(result) => result?,
            Waited::Late | Waited::Cancelled => self.stop().await?,
        };
        Ok(self.response(result))
    }

    /// Stops what it runs; its result then.
    pub(crate) async fn stop(&mut self) -> Result<ToolResult, ErrorData> {
        // Whoever waits for a reply is told that none comes; the stop blocks, and then the call's
        // own thread ends by itself.
        self.asked.close();
        while self.asked.try_recv().is_ok() {}
        let ticket = self.ticket.clone();
        tokio::task::spawn_blocking(move || ticket.cancel());
        whole((&mut self.call).await)
    }

    /// What the client is told: the result, or what it has to be asked first.
    pub(crate) fn response(&self, result: ToolResult) -> CallToolResponse {
        let form = self.question.as_ref().filter(|_| result.is_error).and_then(|question| {
            Some((question, elicitation::form(question, &self.caller.tools)?))
        });
        match form {
            None => CallToolResponse::Complete(self.answer(result)),
            Some((question, form)) => {
                let mut requests = InputRequests::new();
                requests.insert(question.id.clone(), InputRequest::Elicitation(form));
                let state = Some(question.id.clone());
                CallToolResponse::InputRequired(InputRequiredResult::new(Some(requests), state))
            }
        }
    }

    pub(crate) fn answer(&self, result: ToolResult) -> CallToolResult {
        answer(result, self.revision.as_ref())
    }

    /// Asks the person in front of the client. `None`: nobody answered.
    async fn ask(&mut self, question: Question) -> Option<Reply> {
        let said = match &mut self.way {
            Way::Nobody => return None,
            Way::Request { peer, token } => {
                let form = elicitation::form(&question, &self.caller.tools)?;
                tokio::select! {
                    said = request(peer, form) => said,
                    never = remind(peer, token.as_ref()) => match never {},
                }
            }
            // The question has a name that lasts; the answer is to this one and no other.
            Way::Retry { state, responses } => {
                let response = match state {
                    Some(state) if *state == question.id => responses.remove(&question.id),
                    _ => None,
                };
                match response {
                    Some(response) => said(response),
                    None => Said::Nonsense,
                }
            }
            Way::Task(task) => {
                let form = elicitation::form(&question, &self.caller.tools)?;
                let request = InputRequest::Elicitation(form);
                match task.request_input(question.id.clone(), request).await {
                    Ok(response) => said(response),
                    Err(_) => Said::Nothing,
                }
            }
        };
        match said {
            Said::Reply(reply) => Some(reply),
            Said::Nonsense if matches!(self.way, Way::Retry { .. }) => {
                self.question = Some(question);
                None
            }
            Said::Nothing | Said::Nonsense => None,
        }
    }
}

async fn request(peer: &Peer<RoleServer>, form: ElicitRequest) -> Said {
    match peer.send_request(ServerRequest::ElicitRequest(form)).await {
        Ok(ClientResult::ElicitResult(result)) => elicitation::said(&result),
        _ => Said::Nothing,
    }
}

/// Says from time to time that a person is being waited for, so that the client does not give up.
async fn remind(peer: &Peer<RoleServer>, token: Option<&ProgressToken>) -> Infallible {
    // Progress must grow, and the command's own begins after this.
    let mut progress = 0.0;
    loop {
        tokio::time::sleep(REMINDER).await;
        progress += 1e-6;
        if let Some(token) = token {
            let tick = ProgressNotificationParam::new(token.clone(), progress)
                .with_message("waiting for somebody to allow the command");
            let _ = peer.notify_progress(tick).await;
        }
    }
}

/// How a wait ended.
pub(crate) enum Waited {
    /// With the call.
    Over(Result<ToolResult, ErrorData>),
    /// The call goes on.
    Late,
    /// The call goes on, and nobody wants its result.
    Cancelled,
}

fn whole(result: Result<ToolResult, JoinError>) -> Result<ToolResult, ErrorData> {
    result.map_err(|error| ErrorData::internal_error(format!("the call broke: {error}"), None))
}

fn said(response: Value) -> Said {
    match serde_json::from_value::<ElicitResult>(response) {
        Ok(result) => elicitation::said(&result),
        Err(_) => Said::Nonsense,
    }
}

fn is_newest(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28)
}

/// What the client says of where the call belongs.
fn span(meta: &RequestMetaObject) -> Span {
    let span = info_span!("mcp", traceparent = field::Empty, tracestate = field::Empty);
    if let Some(traceparent) = meta.get_traceparent() {
        span.record("traceparent", traceparent);
    }
    if let Some(tracestate) = meta.get_tracestate() {
        span.record("tracestate", tracestate);
    }
    span
}

/// Tells how a call stands, if its caller gave a token for that or can look at a task.
fn progress(
    context: &RequestContext<RoleServer>,
    task: &Arc<OnceLock<TaskContext>>,
) -> Option<impl Fn(&Tick) + Send + Sync + 'static> {
    let token = context.meta.get_progress_token();
    let has_tasks = context.client_capabilities().is_some_and(|all| all.supports_tasks());
    if token.is_none() && !has_tasks {
        return None;
    }
    let (sender, mut ticks) = mpsc::channel::<ProgressNotificationParam>(1);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        while let Some(tick) = ticks.recv().await {
            if peer.notify_progress(tick).await.is_err() {
                break;
            }
        }
    });
    let task = Arc::clone(task);
    Some(move |tick: &Tick| {
        let seconds = Duration::from_micros(tick.elapsed).as_secs_f64();
        let tail = tick.lines.join("\n");
        let tail = if tail.is_empty() { tail } else { format!("\n{tail}") };
        let message = format!("{seconds:.0} s, {} bytes{tail}", tick.bytes);
        if let Some(task) = task.get() {
            task.set_status_message(message.clone());
        }
        if let Some(token) = &token {
            let tick = ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
            // A client that does not read misses ticks, not answers.
            let _ = sender.try_send(tick);
        }
    })
}
