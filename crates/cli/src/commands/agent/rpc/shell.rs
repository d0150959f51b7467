//! Commands that the host runs beside the conversation (`bash`). They run while the agent works, and
//! `abort_bash` ends them; the model reads of them with its next request.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{JoinError, JoinSet};
use umbo_agent::{AgentMessage, JobTools};
use umbo_ops::{Call, ExecRequest, Seconds, Ticket, exec};

use super::Answered;
use super::host::{AskHost, Host};

/// So long a command is waited for; then it goes on as a job.
const LONGEST_WAIT: Seconds = Seconds(Duration::from_hours(1));

/// The commands that run.
#[derive(Default)]
pub(super) struct Shell {
    running: JoinSet<Finished>,
    tickets: Vec<Ticket>,
}

/// A command that has ended.
pub(super) struct Finished {
    /// What the host asked for.
    pub(super) command: Value,
    pub(super) answered: Answered,
    /// What the model reads of it, if it ran.
    pub(super) message: Option<AgentMessage>,
}

impl Shell {
    /// Starts a command. It is judged as one of the agent's, and the host is asked where somebody must be.
    pub(super) fn start(
        &mut self,
        command: Value,
        tools: Arc<JobTools>,
        host: &Arc<Host>,
        directory: String,
    ) {
        if self.is_idle() {
            self.tickets.clear();
        }
        let ticket = Ticket::builder().approver(AskHost(Arc::clone(host))).build();
        self.tickets.push(ticket.clone());
        self.running.spawn_blocking(move || run(command, &tools, &ticket, &directory));
    }

    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// The next command that ends; nothing if none runs.
    pub(super) async fn next(&mut self) -> Option<Result<Finished, JoinError>> {
        self.running.join_next().await
    }

    /// Stops all.
    pub(super) fn abort(&mut self) {
        for ticket in self.tickets.drain(..) {
            // It waits until the job is gone.
            std::thread::spawn(move || ticket.cancel());
        }
    }
}

fn run(command: Value, tools: &JobTools, ticket: &Ticket, directory: &str) -> Finished {
    let line = command["command"].as_str().unwrap_or_default().to_owned();
    let request = ExecRequest {
        command: Some(line.clone()),
        wait: Some(LONGEST_WAIT),
        ..ExecRequest::default()
    };
    let ran = exec(&Call::new(tools.toolset().caller(), ticket), &request);
    let cancelled = ticket.is_cancelled();
    let answer = match ran {
        Ok(answer) => answer,
        Err(error) if !cancelled => {
            return Finished { command, answered: Err(error.message), message: None };
        }
        Err(_) => {
            let data = json!({"exitCode": null, "cancelled": true, "output": "",
                "outputBytes": 0, "outputLines": 0, "truncated": false, "totalBytes": 0,
                "workingDir": directory});
            return Finished { command, answered: Ok(Some(data)), message: None };
        }
    };
    let output = answer.output.unwrap_or_default();
    let truncated = answer.truncated.unwrap_or(false);
    let exit_code = answer.exit_code.filter(|_| !cancelled);
    let data = json!({
        "exitCode": exit_code, "cancelled": cancelled, "output": output,
        "outputBytes": output.len(), "outputLines": output.lines().count(),
        "truncated": truncated, "totalBytes": answer.total_bytes, "workingDir": directory,
    });
    let message =
        AgentMessage::BashExecution { command: line, output, exit_code, cancelled, truncated };
    Finished { command, answered: Ok(Some(data)), message: Some(message) }
}
