//! One call: which tool, on a thread, cancelled with the turn, and its answer in lash's types.

use std::sync::Arc;

use lash_core::{
    ProgressSender, SandboxMessage, ToolCall, ToolFailure, ToolFailureClass, ToolResult, ToolValue,
};
use lash_tool_support::StaticToolExecute;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use umbo_tools::{ErrorCode, Ticket, TicketBuilder, Toolset};

use crate::thread::on_thread;

/// What a call that was cancelled answers.
pub(crate) const CANCELLED: &str = "tool call cancelled";

/// The tools, and whether the end of a background process wakes its session.
#[derive(Clone)]
pub(crate) struct Shell {
    pub(crate) tools: Arc<Toolset>,
    pub(crate) wakes: bool,
}

#[async_trait::async_trait]
impl StaticToolExecute for Shell {
    async fn execute(&self, call: ToolCall<'_>) -> ToolResult {
        match call.name {
            "exec_command" => self.exec(&call).await,
            "start_command" => self.start(&call).await,
            "write_stdin" => self.write(&call).await,
            name => ToolResult::err_fmt(format_args!("Unknown tool: {name}")),
        }
    }
}

impl Shell {
    async fn exec(&self, call: &ToolCall<'_>) -> ToolResult {
        let mut arguments = call.args.clone();
        if let Some(fields) = arguments.as_object_mut() {
            fields.insert("allow_nonzero_exit".to_owned(), json!(true));
        }
        let mut ticket = Ticket::builder();
        if let Some(progress) = call.progress {
            ticket = with_progress(ticket, progress.clone());
        }
        let token = call.context.cancellation_token();
        match self.call("exec_command", arguments, ticket.build(), token).await {
            Ok(result) if result.structured["timed_out"] == true => {
                let message = result.structured["error"].as_str().unwrap_or_default().to_owned();
                failure(ToolFailureClass::Execution, "shell_timeout", &message, result.structured)
            }
            Ok(result) => ToolResult::ok(result.structured),
            Err(refused) => refused,
        }
    }

    /// Calls a tool of the dialect: its result, or what lash is told instead.
    pub(crate) async fn call(
        &self,
        name: &'static str,
        arguments: Value,
        ticket: Ticket,
        token: Option<&CancellationToken>,
    ) -> Result<umbo_tools::ToolResult, ToolResult> {
        let guard = CancelOnDrop(Some(ticket.clone()));
        let (tools, held) = (Arc::clone(&self.tools), ticket.clone());
        let work = on_thread(move || tools.call(name, arguments, &held));
        let result = tokio::select! {
            result = work => result,
            () = cancelled(token) => {
                guard.disarm();
                on_thread(move || ticket.cancel()).await;
                return Err(ToolResult::cancelled(CANCELLED));
            }
        };
        guard.disarm();
        let result = result.ok_or_else(|| ToolResult::err_fmt("no thread could be started"))?;
        match result.error {
            None => Ok(result),
            Some(ErrorCode::Cancelled) => Err(ToolResult::cancelled(CANCELLED)),
            Some(code) => Err(told(code, &result.text)),
        }
    }
}

/// Resolves when the token is cancelled; never without one.
pub(crate) async fn cancelled(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => std::future::pending().await,
    }
}

/// An error of a tool, as lash tells it: the code for programs, the sentence for the model.
pub(crate) fn told(code: ErrorCode, sentence: &str) -> ToolResult {
    let class = match code {
        ErrorCode::InvalidArgument | ErrorCode::InvalidArguments => {
            ToolFailureClass::InvalidRequest
        }
        ErrorCode::Denied | ErrorCode::ApprovalRequired => ToolFailureClass::PermissionDenied,
        _ => ToolFailureClass::Execution,
    };
    failure(class, code.as_str(), sentence, json!(sentence))
}

fn failure(class: ToolFailureClass, code: &str, message: &str, raw: Value) -> ToolResult {
    let mut failure = ToolFailure::tool(class, code, message);
    failure.raw = Some(ToolValue::from(raw));
    ToolResult::failure(failure)
}

/// Sends the last lines of a command on while it runs.
fn with_progress(ticket: TicketBuilder, progress: ProgressSender) -> TicketBuilder {
    ticket.progress(move |tick| {
        let text = tick.lines.iter().map(|line| format!("{line}\n")).collect();
        let _ = progress.send(SandboxMessage { text, kind: "tool_output".to_owned() });
    })
}

/// A command dies with the call that waits for it, even if that is dropped.
struct CancelOnDrop(Option<Ticket>);

impl CancelOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(ticket) = self.0.take() {
            // It waits for the end of the command; who drops a call does not.
            let _ = std::thread::Builder::new().spawn(move || ticket.cancel());
        }
    }
}
