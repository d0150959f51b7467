//! The dialect `tasks`: `Bash`, and tasks that it leaves behind.
//!
//! A task is a job whose name is the task's id, so it is there for the next process too; the
//! [`TaskStore`] of the dialect mirrors the tasks of this one for whoever observes it.

mod asks;
mod bash;
mod files;
mod mirror;
mod settings;
mod store;
mod task_list;
mod task_output;
mod task_stop;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::{End, JobHandle, Outcome, Status, Summary};
use umbo_gate::show_time;
use umbo_ops::{Call, ErrorCode};

use super::{Dialect, Registered};
use crate::answer::ToolError;
use crate::completed::Completed;
use crate::tool::{Annotations, Tool};

pub use store::{TASK_DOMAIN, TaskChange, TaskSnapshot, TaskStatus, TaskStore, generate_id};
pub use umbo_command::Risk;
pub use umbo_command::tasks::{Classification, classify};

use mirror::Mirror;
use settings::Lifetime;

pub(super) const REGISTERED: Registered = Registered {
    name: "tasks",
    job_id: Tasks::job_id,
    settings: settings::SETTINGS,
    secrets: &[],
    open: |host| Box::new(Tasks::new(Lifetime::of(host.settings))),
};

/// The label that says what a task does.
const DESCRIPTION: &str = "description";
/// Tasks that ended are listed for so many seconds, and so many of them.
const LISTED: (u64, usize) = (300, 100);

/// The dialect.
#[derive(Debug)]
pub struct Tasks {
    state: Arc<State>,
}

/// What its tools share.
#[derive(Debug)]
struct State {
    mirror: Mirror,
    lifetime: Lifetime,
}

impl Tasks {
    fn new(lifetime: Lifetime) -> Self {
        Self { state: Arc::new(State { mirror: Mirror::default(), lifetime }) }
    }

    /// The tasks of this process, for an agent loop that drains them.
    pub fn store(&self) -> &TaskStore {
        self.state.mirror.store()
    }
}

impl Dialect for Tasks {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = vec![
            Tool::with_state(&self.state, "Bash", include_str!("bash.md"), bash::run).attending(),
            Tool::new("task_list", include_str!("task_list.md"), task_list::run)
                .hints(Annotations::READS),
            Tool::new("task_output", include_str!("task_output.md"), task_output::run)
                .hints(Annotations::READS),
            Tool::new("task_stop", include_str!("task_stop.md"), task_stop::run)
                .hints(Annotations::STOPS),
        ];
        tools.extend(files::tools());
        tools
    }

    /// The snapshot of the task, with its output.
    fn completed(&self, call: &Call<'_>, summary: &Summary) -> Option<Completed> {
        let job = call.caller.backend.job(summary.job.as_str()).ok()?;
        let output = call.text(&job, None, call.budget(None)).ok()?;
        let (status, code) = standing(&summary.status);
        let id = summary.name.as_deref().unwrap_or_default();
        let sentence = format!("task {id} {} with exit code {code}\n{output}", status.as_str());
        let event = TaskWithOutput { task: ListedTask::of(summary), output };
        Some(Completed::new(summary, &event, sentence.trim_end()).as_message())
    }
}

/// A task as the tools tell it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListedTask {
    id: String,
    command: String,
    description: String,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    started_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<String>,
    agent_id: String,
}

/// The same, with what it wrote.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct TaskWithOutput {
    #[serde(flatten)]
    task: ListedTask,
    output: String,
}

impl ListedTask {
    fn of(summary: &Summary) -> Self {
        let (status, code) = standing(&summary.status);
        let ended_at = match &summary.status {
            Status::Ended(outcome) => Some(outcome.ended_at),
            Status::Created | Status::Started { .. } => None,
        };
        Self {
            id: summary.name.clone().unwrap_or_default(),
            command: summary.command.clone(),
            description: summary.labels.get(DESCRIPTION).cloned().unwrap_or_default(),
            status,
            exit_code: ended_at.map(|_| code),
            started_at: show_time(summary.started_at().unwrap_or(summary.created_at)),
            completed_at: ended_at.map(show_time),
            agent_id: summary.owner.clone().unwrap_or_default(),
        }
    }
}

/// The task that an id means.
fn task(call: &Call<'_>, id: &str) -> Option<(JobHandle, Summary)> {
    call.named(id).and_then(|job| job.summary().map(|summary| (job, summary)))
}

fn unknown(id: &str) -> ToolError {
    ToolError::new(ErrorCode::UnknownTask, format!("task {id} not found"))
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
        End::Stopped { .. } => TaskStatus::Killed,
        _ if outcome.success() => TaskStatus::Completed,
        _ => TaskStatus::Failed,
    };
    (status, code)
}
