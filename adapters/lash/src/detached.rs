//! A command that nobody here watches over. For lash it is over when it is started; for Umbo it is a
//! job like any other, which `umbo jobs` lists and `umbo stop` ends.

use lash_core::{
    ProcessAwaitOutput, ProcessOriginator, ProcessStartRequest, ToolContext, ToolResult,
};
use serde_json::{Value, json};
use umbo_engine::Status;
use umbo_tools::Ticket;

use crate::background::{grant, process_id};
use crate::shell::Shell;

impl Shell {
    pub(crate) async fn detach(&self, arguments: Value, context: &ToolContext<'_>) -> ToolResult {
        let command = arguments["cmd"].as_str().unwrap_or_default().to_owned();
        let token = context.cancellation_token();
        let started = match self.call("start_command", arguments, Ticket::default(), token).await {
            Ok(started) => started,
            Err(refused) => return refused,
        };
        let status = started.job.as_deref().map(|job| self.tools.backend.job(job)?.status());
        let (pid, at) = match status {
            Some(Ok(Status::Started { pid, at })) => (Some(pid), Some(at / 1000)),
            // It waits for its turn, or is over already.
            Some(Ok(_)) => (None, None),
            Some(Err(error)) => return ToolResult::err_fmt(error),
            None => return ToolResult::err_fmt("the start named no job"),
        };
        let mut launch = json!({"command": command.clone()});
        if let (Some(pid), Some(at)) = (pid, at) {
            // It leads the session of its terminal.
            launch["pid"] = json!(pid);
            launch["pgid"] = json!(pid);
            launch["started_at"] = json!(at);
        }
        let id = process_id(context);
        let request =
            ProcessStartRequest::external(id.clone(), ProcessOriginator::host(), launch.clone())
                .with_grant(Some(grant(command)));
        let processes = context.processes();
        if let Err(error) = processes.start(request).await {
            return ToolResult::err_fmt(error);
        }
        let output = ProcessAwaitOutput::Success { value: launch.clone(), control: None };
        if let Err(error) = processes.complete_external(&id, output).await {
            return ToolResult::err_fmt(error);
        }
        launch["__handle__"] = json!("process");
        launch["id"] = json!(id);
        launch["process_id"] = json!(id);
        launch["status"] = json!("detached");
        launch["done"] = json!(true);
        launch["running"] = json!(false);
        ToolResult::ok(launch)
    }
}
