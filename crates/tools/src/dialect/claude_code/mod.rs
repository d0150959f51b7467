//! The dialect `claude-code`: the tools for shell and files that those models know.

mod bash;
mod bash_output;
mod files;
mod kill_shell;

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::{End, JobHandle, Outcome, Status};
use umbo_ops::{Call, ErrorCode};

use super::{Dialect, Registered};
use crate::answer::ToolError;
use crate::tool::{Annotations, Tool};

pub(super) const REGISTERED: Registered = Registered {
    name: "claude-code",
    job_id: ClaudeCode::job_id,
    settings: &[],
    secrets: &[],
    open: |_| Box::new(ClaudeCode),
};

/// The dialect.
#[derive(Debug)]
struct ClaudeCode;

impl Dialect for ClaudeCode {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn instructions(&self) -> String {
        include_str!("instructions.md").to_owned()
    }

    fn tools(&self) -> Vec<Tool> {
        let mut tools = vec![
            Tool::new("Bash", include_str!("bash.md"), bash::run).attending(),
            Tool::new("BashOutput", include_str!("bash_output.md"), bash_output::run)
                .hints(Annotations::READS),
            Tool::new("KillShell", include_str!("kill_shell.md"), kill_shell::run)
                .hints(Annotations::STOPS),
        ];
        tools.extend(files::tools());
        tools
    }

    fn prefers_bash(&self) -> bool {
        true
    }
}

/// Where a shell is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Running,
    Completed,
    Failed,
    Killed,
}

impl State {
    fn of(status: &Status) -> Self {
        match status {
            Status::Created | Status::Started { .. } => Self::Running,
            Status::Ended(outcome) => match &outcome.end {
                End::Stopped { .. } => Self::Killed,
                _ if outcome.success() => Self::Completed,
                _ => Self::Failed,
            },
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Killed => "killed",
        }
    }
}

/// The background shell that an id means.
fn shell(call: &Call<'_>, id: &str) -> Result<JobHandle, ToolError> {
    call.named(id).ok_or_else(|| {
        ToolError::new(ErrorCode::UnknownShell, format!("No shell found with ID: {id}"))
    })
}

/// The code a shell would have given.
fn exit_code(outcome: &Outcome) -> Option<i32> {
    outcome.exit_code().or_else(|| outcome.signal().map(|signal| 128 + signal))
}
