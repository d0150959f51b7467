//! One `tools/call`: the tool runs on a thread that may block, while here its caller is told how it
//! stands, is asked what it must be asked, and may change its mind.

use std::future::{self, Future};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, InputRequest, InputRequests,
    InputRequiredResult, ProtocolVersion, RequestMetaObject,
};
use rmcp::service::RequestContext;
use rmcp::task_manager::TaskContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tracing::{Span, field, info_span};
use umbo_tools::{Question, Reply, Ticket, ToolResult};

use crate::answer::answer;
use crate::asking::AskVia;
use crate::caller::Caller;
use crate::cancellation::{Cancellation, OnCancel};
use crate::client::{self, Client, ClientOptions};
use crate::elicitation::{self, ApprovalChannel, Asked, Said};
use crate::progress;
use crate::tasks;
use crate::threads::{self, Panic};

/// How long a stop may take to begin. It has a thread before that, unless all of them are taken.
const STOP_BEGINS_WITHIN: Duration = Duration::from_secs(1);

/// Answers a call, now or as a task.
pub(crate) async fn call(
    caller: Arc<Caller>,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    (options, cancellation): (ClientOptions, Cancellation),
) -> Result<CallToolResponse, ErrorData> {
    let capabilities = context.client_capabilities();
    let via = if !options.elicitation || !elicitation::can_ask(capabilities.as_ref()) {
        AskVia::Nobody
    } else if is_newest(&context) {
        let state = request.request_state.take();
        if let Some(state) = state.as_ref().filter(|state| !caller.tools.gate.knows_question(state))
        {
            let message =
                format!("requestState: {state:?} is none that was given; call without it");
            return Err(ErrorData::invalid_params(message, Some(json!({"field": "requestState"}))));
        }
        AskVia::Retry { state, responses: request.input_responses.take().unwrap_or_default() }
    } else {
        let token = context.meta.get_progress_token();
        AskVia::Request { peer: context.peer.clone(), token }
    };
    let how = (options, cancellation);
    let invocation = Invocation::start(caller, request, &context, via, how);
    if capabilities.is_some_and(|capabilities| capabilities.supports_tasks()) {
        return tasks::call(invocation, context).await;
    }
    invocation.finish(context.ct.cancelled()).await
}

/// A call in progress.
pub(crate) struct Invocation {
    caller: Arc<Caller>,
    call: oneshot::Receiver<Result<ToolResult, Panic>>,
    ticket: Ticket,
    asked: mpsc::UnboundedReceiver<Asked>,
    via: AskVia,
    revision: Option<ProtocolVersion>,
    client: Client,
    /// The task it has become.
    task: Arc<OnceLock<TaskContext>>,
    /// What the client is to be asked before it calls again.
    question: Option<Question>,
    /// What becomes of its command when it is cancelled, and for which reason it is.
    on_cancel: (OnCancel, Cancellation),
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

impl Invocation {
    fn start(
        caller: Arc<Caller>,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        via: AskVia,
        (options, cancellation): (ClientOptions, Cancellation),
    ) -> Self {
        let (revision, client) = (context.protocol_version(), client::of(context, options));
        let on_cancel = (options.on_cancel, cancellation);
        let (sender, asked) = mpsc::unbounded_channel();
        let task = Arc::new(OnceLock::new());
        let mut ticket = Ticket::builder().longest_wait(client.longest_wait());
        let token = context.meta.get_progress_token();
        let has_tasks = context.client_capabilities().is_some_and(|all| all.supports_tasks());
        if token.is_some() || has_tasks {
            let task = Some(Arc::clone(&task));
            ticket =
                ticket.progress(progress::teller(&context.peer, token, task, Handle::current()));
        }
        if !matches!(via, AskVia::Nobody) {
            let who = context.client_info().map_or_else(String::new, |client| client.name);
            ticket =
                ticket.approver(ApprovalChannel { asked: sender, who: elicitation::person(&who) });
        }
        let ticket = ticket.build();
        let entered = caller.calls.enter(ticket.clone());
        let tools = Arc::clone(&caller.tools);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let calling = ticket.clone();
        let span = span(&context.meta);
        let call = threads::run(move || {
            let _entered = entered;
            span.in_scope(|| tools.call(&request.name, arguments, &calling))
        });
        let question = None;
        Self { caller, call, ticket, asked, via, revision, client, task, question, on_cancel }
    }

    /// Its caller, for whom it may become a task.
    pub(crate) fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.caller)
    }

    /// From here on it is a task.
    pub(crate) fn become_task(&mut self, task: TaskContext) {
        let _ = self.task.set(task.clone());
        if !matches!(self.via, AskVia::Nobody) {
            self.via = AskVia::Task(task);
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
                Some(asked) = self.asked.recv() => {
                    // However late it is: somebody may be about to answer.
                    tokio::select! {
                        () = self.put(asked) => {}
                        () = &mut cancelled => return Waited::Cancelled,
                    }
                }
            }
        }
    }

    /// Puts a question to the person in front of the client, and passes the answer on.
    async fn put(&mut self, asked: Asked) {
        match asked {
            Asked::Command { question, answer } => {
                let _ = answer.send(self.ask(*question).await);
            }
            Asked::Access { question, answer } => {
                let _ = answer.send(self.via.ask_access(&question, &self.caller.tools).await);
            }
        }
    }

    /// Asks the person in front of the client. `None`: nobody answered.
    async fn ask(&mut self, question: Question) -> Option<Reply> {
        match self.via.ask(&question, &self.caller.tools).await {
            Said::Reply(reply) => return Some(reply),
            Said::Nonsense if matches!(self.via, AskVia::Retry { .. }) => {
                self.question = Some(question);
            }
            Said::Nothing | Said::Nonsense => {}
        }
        None
    }

    /// Waits for the end; ends it sooner when it is cancelled.
    async fn finish(
        mut self,
        cancelled: impl Future<Output = ()>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.wait(future::pending(), cancelled).await {
            Waited::Over(result) => Ok(self.response(result?)),
            Waited::Late | Waited::Cancelled => self.cancelled().await,
        }
    }

    /// The client cancelled it: stops what it runs, or lets that run on and says so with the next
    /// result, by the reason that the client gives. Nobody reads the answer.
    pub(crate) async fn cancelled(&mut self) -> Result<CallToolResponse, ErrorData> {
        let (on_cancel, cancellation) = &mut self.on_cancel;
        let reason = cancellation.reason().await;
        if !on_cancel.keeps(reason.as_deref()) {
            let result = self.stop().await?;
            return Ok(CallToolResponse::Complete(self.unread(result)));
        }
        self.leave_questions();
        self.ticket.abandon();
        let result = whole((&mut self.call).await)?;
        self.caller.keep_answer(&result);
        Ok(CallToolResponse::Complete(self.unread(result)))
    }

    /// Whoever waits for a reply is told that none comes.
    fn leave_questions(&mut self) {
        self.asked.close();
        while self.asked.try_recv().is_ok() {}
    }

    /// Stops what it runs; its result then.
    pub(crate) async fn stop(&mut self) -> Result<ToolResult, ErrorData> {
        // The stop blocks, and then the call's own thread ends by itself.
        self.leave_questions();
        let ticket = self.ticket.clone();
        tokio::task::spawn_blocking(move || ticket.cancel());
        tokio::select! {
            result = &mut self.call => return whole(result),
            () = tokio::time::sleep(STOP_BEGINS_WITHIN) => {}
        }
        // Calls that wait may have all threads; they look for this themselves.
        self.ticket.mark_cancelled();
        whole((&mut self.call).await)
    }

    /// What the client is told: the result, or what it has to be asked first.
    pub(crate) fn response(&self, result: ToolResult) -> CallToolResponse {
        let question = self.question.as_ref().filter(|_| result.is_error);
        let form = question.and_then(|question| {
            Some((question.id.clone(), elicitation::form(question, &self.caller.tools)?))
        });
        match form {
            None => CallToolResponse::Complete(self.answer(result)),
            Some((id, form)) => {
                let mut requests = InputRequests::new();
                requests.insert(id.clone(), InputRequest::Elicitation(form));
                CallToolResponse::InputRequired(InputRequiredResult::new(Some(requests), Some(id)))
            }
        }
    }

    /// The answer alone.
    fn unread(&self, result: ToolResult) -> CallToolResult {
        answer(result, self.revision.as_ref(), self.client)
    }

    /// The answer, with what the client gave up on before.
    pub(crate) fn answer(&self, result: ToolResult) -> CallToolResult {
        self.caller.with_unheard(self.unread(result))
    }
}

fn whole(
    result: Result<Result<ToolResult, Panic>, oneshot::error::RecvError>,
) -> Result<ToolResult, ErrorData> {
    let why = match result {
        Ok(Ok(result)) => return Ok(result),
        Ok(Err(panic)) => threads::said(&panic).to_owned(),
        Err(_) => "there is no thread to run it on".to_owned(),
    };
    Err(threads::broken(&why))
}

fn is_newest(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|revision| revision >= ProtocolVersion::V_2026_07_28)
}

/// What the client says of where the call belongs.
pub(crate) fn span(meta: &RequestMetaObject) -> Span {
    let span = info_span!("mcp", traceparent = field::Empty, tracestate = field::Empty);
    if let Some(traceparent) = meta.get_traceparent() {
        span.record("traceparent", traceparent);
    }
    if let Some(tracestate) = meta.get_tracestate() {
        span.record("tracestate", tracestate);
    }
    span
}
