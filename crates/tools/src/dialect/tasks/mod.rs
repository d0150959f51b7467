//! The dialect `tasks`: `Bash`, and tasks that it leaves behind.
//!
//! A task is a job whose name is the task's id, so it is there for the next process too; the
//! toolset's [`TaskStore`](crate::tasks::TaskStore) mirrors the tasks of this one for whoever
//! observes it.

mod bash;
mod task_list;
mod task_output;
mod task_stop;

use serde_json::{Value, json};
use umbo_engine::{Job, Outcome, Status, Summary};

use super::{Dialect, as_it_is, no_guidance, refuse};
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::call::Call;
use crate::tasks::TaskStatus;
use crate::tool::Definition;
use umbo_gate::show_time;

pub(super) const DIALECT: Dialect = Dialect {
    name: "tasks",
    instructions: "",
    tools: &[
        Definition {
            name: "Bash",
            words: include_str!("bash.md"),
            contract: include_str!("bash.json"),
            run: bash::run,
        },
        Definition {
            name: "task_list",
            words: include_str!("task_list.md"),
            contract: include_str!("task_list.json"),
            run: task_list::run,
        },
        Definition {
            name: "task_output",
            words: include_str!("task_output.md"),
            contract: include_str!("task_output.json"),
            run: task_output::run,
        },
        Definition {
            name: "task_stop",
            words: include_str!("task_stop.md"),
            contract: include_str!("task_stop.json"),
            run: task_stop::run,
        },
    ],
    prefers_bash: false,
    tells_in_structure: false,
    refusal: refuse,
    fields: &[],
    shape: ToolError::to_value,
    guidance: no_guidance,
    tailor: as_it_is,
    is_enabled: |_| true,
    event,
    sentence,
};

/// The label that says what a task does.
const DESCRIPTION: &str = "description";
/// Tasks that ended are listed for so many seconds, and so many of them.
const SHOWN: (u64, usize) = (300, 100);

/// The task that an id means.
fn task(call: &Call<'_>, id: &str) -> Result<(Job, Summary), ToolError> {
    call.named(id)
        .and_then(|job| job.summary().map(|summary| (job, summary)))
        .ok_or_else(|| ToolError::new(ErrorCode::UnknownTask, format!("task {id} not found")))
}

/// Where a task is in its life, and its exit code.
fn standing(status: &Status) -> (TaskStatus, i32) {
    match status {
        Status::Created | Status::Started { .. } => (TaskStatus::Running, 0),
        Status::Ended(outcome) => ended(outcome),
    }
}

fn ended(outcome: &Outcome) -> (TaskStatus, i32) {
    let code = outcome.exit_code().unwrap_or(-1);
    let status = match &outcome.end {
        umbo_engine::End::Stopped { .. } => TaskStatus::Killed,
        _ if outcome.success() => TaskStatus::Completed,
        _ => TaskStatus::Failed,
    };
    (status, code)
}

/// A task as the tools tell it.
fn told(summary: &Summary) -> Value {
    let (status, code) = standing(&summary.status);
    let mut value = json!({
        "id": summary.name,
        "command": summary.command,
        "description": summary.labels.get(DESCRIPTION).cloned().unwrap_or_default(),
        "status": status.as_str(),
        "started_at": show_time(summary.started_at().unwrap_or(summary.created_at)),
        "agent_id": summary.owner.clone().unwrap_or_default(),
    });
    if let Status::Ended(outcome) = &summary.status {
        value["exit_code"] = json!(code);
        value["completed_at"] = json!(show_time(outcome.ended_at));
    }
    value
}

/// What is told when a task has ended: its snapshot.
fn event(call: &Call<'_>, summary: &Summary) -> Option<Value> {
    let job = call.tools.engine.job(summary.job.as_str()).ok()?;
    let mut event = told(summary);
    event["output"] = json!(call.text(&job, None, call.budget(None)).ok()?);
    Some(event)
}

fn sentence(summary: &Summary, _event: &Value) -> String {
    let (status, code) = standing(&summary.status);
    let id = summary.name.as_deref().unwrap_or_default();
    format!("task {id} {} with exit code {code}", status.as_str())
}
