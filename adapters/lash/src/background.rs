//! Background processes. Lash registers a process and has its worker run it: that worker makes the
//! same tool call again, with the id of the process. Here this call starts a job of Umbo and waits for
//! its end; made once more by another worker, after the first was lost, it finds the job that runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lash_core::runtime::{ProcessEventSemanticsSpec, ProcessValueSelector, ProcessWakeSpec};
use lash_core::{
    LashSchema, PreparedToolCall, ProcessEventAppendRequest, ProcessEventType,
    ProcessHandleDescriptor, ProcessInput, ProcessOriginator, ProcessStartGrant,
    ProcessStartRequest, RecoveryDisposition, SessionScope, ToolCall, ToolContext, ToolResult,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use umbo_engine::JobHandle;
use umbo_tools::dialect::lash;
use umbo_tools::{ErrorCode, Ticket, Toolset};

use crate::shell::{CANCELLED, Shell, cancelled, told};
use crate::thread::{ended, on_thread};

const STDIN: &str = "stdin";
const STDIN_EVENT: &str = "signal.stdin";
const WAKE_EVENT: &str = "process.wake";
/// Where the registered call keeps the name of its job.
const JOB_NAME: &str = "umbo_job";

impl Shell {
    pub(crate) async fn start(&self, call: &ToolCall<'_>) -> ToolResult {
        let mut arguments = call.args.clone();
        let detach = arguments.as_object_mut().and_then(|fields| fields.remove("detach"));
        let detach = match detach {
            None | Some(Value::Null) => false,
            Some(Value::Bool(detach)) => detach,
            Some(other) => {
                let sentence = format!("detach: {other} was given; accepted: true or false");
                return told(ErrorCode::InvalidArgument, &sentence);
            }
        };
        if let Some(fields) = arguments.as_object_mut() {
            fields.insert("allow_nonzero_exit".to_owned(), json!(true));
        }
        // What cannot run is not registered.
        let tool = self.tools.tool("start_command");
        if let Some(Err(problem)) = tool.map(|tool| tool.check(arguments.clone())) {
            return told(ErrorCode::InvalidArgument, &problem.to_string());
        }
        match call.context.async_process_id() {
            Some(id) => self.run(id, arguments, call.context).await,
            None if detach => self.detach(arguments, call.context).await,
            None => self.register(arguments, call.context).await,
        }
    }

    /// Has lash run the call as a process.
    async fn register(&self, arguments: Value, context: &ToolContext<'_>) -> ToolResult {
        let id = process_id(context);
        let command = arguments["cmd"].as_str().unwrap_or_default().to_owned();
        // The id may come again after lash has forgotten the process; the job has a name of its own.
        let payload = json!({JOB_NAME: format!("{id}@{:x}", nanoseconds())});
        let call = PreparedToolCall::from_parts(
            id.clone(),
            "tool:start_command",
            "start_command",
            arguments,
            None,
            payload,
        );
        let request = ProcessStartRequest::new(
            id.clone(),
            ProcessInput::ToolCall { call },
            // Made again, the call finds the job that the first one started.
            RecoveryDisposition::Rerunnable,
            ProcessOriginator::host(),
        )
        .with_grant(Some(grant(command)))
        .with_extra_event_types([stdin_event(), wake_event()]);
        let summary = match context.processes().start(request).await {
            Ok(summary) => summary,
            Err(error) => return ToolResult::err_fmt(error),
        };
        match serde_json::to_value(summary) {
            Ok(mut handle) => {
                handle["status"] = json!("running");
                handle["done"] = json!(false);
                handle["running"] = json!(true);
                ToolResult::ok(handle)
            }
            Err(error) => ToolResult::err_fmt(error),
        }
    }

    /// Runs a registered process to its end.
    async fn run(&self, id: &str, arguments: Value, context: &ToolContext<'_>) -> ToolResult {
        let name = context.prepared_payload()[JOB_NAME].as_str().unwrap_or(id).to_owned();
        let command = arguments["cmd"].as_str().unwrap_or_default().to_owned();
        let token = context.cancellation_token();
        let ticket = Ticket::builder().id(name.clone()).build();
        let mut arguments = arguments;
        // What is typed is not to be read again among the output.
        arguments["cmd"] = json!(format!("stty -echo 2>/dev/null || true\n{command}"));
        let started = match self.call("start_command", arguments, ticket, token).await {
            Ok(started) => started,
            Err(refused) => return refused,
        };
        let job = started.job.as_deref().map(|job| self.tools.backend.job(job));
        let job = match job {
            Some(Ok(job)) => job,
            Some(Err(error)) => return ToolResult::err_fmt(error),
            None => return ToolResult::err_fmt("the start named no job"),
        };
        let stop = StopOnCancel { tools: &self.tools, name: &name, token };
        tokio::select! {
            waited = ended(job.clone()) => match waited {
                Some(Ok(())) => {}
                Some(Err(error)) => return ToolResult::err_fmt(error),
                None => return ToolResult::err_fmt("no thread could be started"),
            },
            () = cancelled(token) => {
                drop(stop);
                let _ = ended(job).await;
                return ToolResult::cancelled(CANCELLED);
            }
            () = self.type_signals(&name, &job, context) => {}
        }
        drop(stop);
        self.tell_end(id, &name, &command, context).await
    }

    /// What a process ended with, for lash and for the session that started it.
    async fn tell_end(
        &self,
        id: &str,
        name: &str,
        command: &str,
        context: &ToolContext<'_>,
    ) -> ToolResult {
        let (tools, job_name) = (Arc::clone(&self.tools), name.to_owned());
        let result = on_thread(move || lash::process_result(&tools, &job_name)).await;
        let (result, wake) = match result {
            Some(Ok(Some(result))) => {
                let wake = format!(
                    "`{command}` ended with code {}\n{}",
                    result["exit_code"],
                    result["output"].as_str().unwrap_or_default()
                );
                (ToolResult::ok(result), wake)
            }
            Some(Err(error)) if error.code == ErrorCode::Cancelled => {
                // Somebody stopped the job by other means: `umbo stop`, for one.
                (ToolResult::cancelled(CANCELLED), format!("`{command}` was stopped"))
            }
            Some(Err(error)) => {
                (told(error.code, &error.message), format!("`{command}`: {}", error.message))
            }
            Some(Ok(None)) | None => return ToolResult::err_fmt("what became of it is not known"),
        };
        if self.wakes {
            wake_session(id, wake, context).await;
        }
        result
    }

    /// Types what the session sends, until it sends nothing more. A worker that takes a process over
    /// leaves out what was typed before: the job's journal has it.
    async fn type_signals(&self, name: &str, job: &JobHandle, context: &ToolContext<'_>) {
        let events = context.process_events();
        let known = job.clone();
        let mut typed = on_thread(move || times_typed(&known)).await.unwrap_or_default();
        let mut after = 0;
        while let Ok(event) = events.wait_event_after(STDIN_EVENT, after).await {
            after = event.sequence;
            if typed > 0 {
                typed -= 1;
                continue;
            }
            let arguments = json!({
                "process_id": name,
                "chars": event.payload["chars"].as_str().unwrap_or_default(),
                "close_stdin": event.payload["close_stdin"].as_bool().unwrap_or_default(),
            });
            // A process that has ended meanwhile takes nothing; its end is told anyway.
            let _ = self.call("write_stdin", arguments, Ticket::default(), None).await;
        }
        std::future::pending().await
    }

    pub(crate) async fn write(&self, call: &ToolCall<'_>) -> ToolResult {
        let tool = self.tools.tool("write_stdin");
        if let Some(Err(problem)) = tool.map(|tool| tool.check(call.args.clone())) {
            return told(ErrorCode::InvalidArgument, &problem.to_string());
        }
        let id = call.args["process_id"].as_str().unwrap_or_default();
        let payload = json!({
            "chars": call.args["chars"].as_str().unwrap_or_default(),
            "close_stdin": call.args["close_stdin"].as_bool().unwrap_or_default(),
        });
        match call.context.processes().signal(id, STDIN, payload).await {
            Ok(event) => ToolResult::ok(json!({
                "process_id": id,
                "status": "signalled",
                "sequence": event.sequence,
            })),
            Err(error) => ToolResult::err_fmt(error),
        }
    }
}

/// Ends a job whose process is cancelled, though lash does not wait for that. One whose worker only goes
/// away runs on.
struct StopOnCancel<'a> {
    tools: &'a Arc<Toolset>,
    name: &'a str,
    token: Option<&'a CancellationToken>,
}

impl Drop for StopOnCancel<'_> {
    fn drop(&mut self) {
        if self.token.is_some_and(CancellationToken::is_cancelled) {
            let (tools, arguments) = (Arc::clone(self.tools), json!({"process_id": self.name}));
            let stop = move || tools.call("cancel_process", arguments, &Ticket::default());
            let _ = std::thread::Builder::new().spawn(stop);
        }
    }
}

/// What lash knows a process by: the id of the call that starts it.
pub(crate) fn process_id(context: &ToolContext<'_>) -> String {
    match context.tool_call_id() {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => format!("shell:{:x}", nanoseconds()),
    }
}

/// The session that starts a process may see it; lash fills in which that is.
pub(crate) fn grant(command: String) -> ProcessStartGrant {
    ProcessStartGrant {
        session_scope: SessionScope::new("request-descriptor"),
        descriptor: ProcessHandleDescriptor::new(Some("shell"), Some(command)),
    }
}

/// Writes the end down as an event that wakes the session. A turn that it wakes may wait for the
/// process in its turn, so only the event is waited for here.
async fn wake_session(id: &str, text: String, context: &ToolContext<'_>) {
    let events = context.process_events();
    let request = ProcessEventAppendRequest::new(WAKE_EVENT, json!({"text": text}))
        .with_replay_key(format!("process:{id}:ended"));
    let sender = events.clone();
    let sent = tokio::spawn(async move { sender.emit_request(request).await.is_ok() });
    tokio::select! {
        _ = events.wait_event_after(WAKE_EVENT, 0) => {}
        // Where it cannot be delivered, the process itself still says how it ended.
        _ = sent => {}
    }
}

fn stdin_event() -> ProcessEventType {
    ProcessEventType {
        name: STDIN_EVENT.to_owned(),
        payload_schema: LashSchema::any(),
        semantics: ProcessEventSemanticsSpec::default(),
    }
}

fn wake_event() -> ProcessEventType {
    let input = ProcessValueSelector::Pointer("/text".to_owned());
    let wake = ProcessWakeSpec { when: None, input, dedupe_key: Default::default() };
    ProcessEventType {
        name: WAKE_EVENT.to_owned(),
        payload_schema: LashSchema::any(),
        semantics: ProcessEventSemanticsSpec { terminal: None, wake: Some(wake) },
    }
}

/// How often something was typed into a job, whoever did it.
fn times_typed(job: &JobHandle) -> usize {
    let (mut times, mut after) = (0, 0);
    while let Ok(Some(event)) = job.wait_event_after("input", after, Duration::ZERO) {
        after = event.seq;
        times += 1;
    }
    times
}

fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}
