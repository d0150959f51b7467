//! The dialect `recipe`: `project.recipe`, a task by one word, and `shell.bash`, which it runs by. Both
//! give their command a terminal, which merges its streams, and wait for its end.

mod project_recipe;
mod shell_bash;

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use umbo_engine::{End, Job, OnDisconnect, Outcome, Request, Size, Status, Stdin};

use super::{Dialect, as_it_is, no_guidance};
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::call::{Call, Ran};
use crate::schema::Problem;
use crate::tool::{Definition, Tool};

pub(super) const DIALECT: Dialect = Dialect {
    name: "recipe",
    instructions: "",
    tools: &[
        Definition {
            name: "project.recipe",
            words: include_str!("project_recipe.md"),
            contract: include_str!("project_recipe.json"),
            run: project_recipe::run,
        },
        Definition {
            name: "shell.bash",
            words: include_str!("shell_bash.md"),
            contract: include_str!("shell_bash.json"),
            run: shell_bash::run,
        },
    ],
    prefers_bash: true,
    tells_in_structure: false,
    refusal: |_tool: &Tool, _arguments: &Value, problem: &Problem| {
        if problem.field == "op" {
            return invalid(
                "op",
                format!("op must be a non-empty string; {} was given", problem.given),
            );
        }
        invalid(&problem.field, problem.to_string())
    },
    fields: &[],
    shape: ToolError::to_value,
    guidance: no_guidance,
    tailor: as_it_is,
    is_enabled: |_| true,
    event: crate::completed::event,
    sentence: crate::completed::sentence,
};

/// How long a command may take that nothing else is known of.
const TIMEOUT: Duration = Duration::from_mins(5);
/// What the climb to SIGKILL and its proof may take beyond a timeout.
const CLIMB: Duration = Duration::from_secs(20);
/// The code of a command that was killed at its timeout, as timeout(1) has it.
const TIMED_OUT: i32 = 124;

/// A wrong argument, as this contract calls it.
fn invalid(field: &str, message: impl Into<String>) -> ToolError {
    let field = Some(field.to_owned()).filter(|field| !field.is_empty());
    ToolError { field, ..ToolError::new(ErrorCode::InvalidParams, message) }
}

/// What both tools tell of a command that ran.
struct Ended {
    stdout: String,
    exit_code: i32,
    timed_out: bool,
}

/// Runs a line to its end.
fn execute(
    call: &Call<'_>,
    line: &str,
    directory: &Path,
    timeout: Duration,
) -> Result<Ended, ToolError> {
    let mut request: Request = call.request(line, None);
    directory.clone_into(&mut request.cwd);
    request.terminal = Some(Size::default());
    // Nobody types: who asks reads the end of input, instead of waiting until the timeout.
    request.stdin = Stdin::Bytes(Vec::new());
    request.limits.wall = Some(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    match call.run(&request, timeout.saturating_add(CLIMB))? {
        Ran::Ended(job, outcome) => ended(call, &job, &outcome),
        Ran::Running(job) => match job.status() {
            Ok(Status::Ended(outcome)) => ended(call, &job, &outcome),
            _ => Err(ToolError::new(
                ErrorCode::ShellAborted,
                format!("job {} was given up", job.id()),
            )),
        },
    }
}

fn ended(call: &Call<'_>, job: &Job, outcome: &Outcome) -> Result<Ended, ToolError> {
    call.told(job);
    let (exit_code, timed_out) = match &outcome.end {
        End::Exited { code } => (*code, false),
        End::Signaled { signal, .. } => (128 + signal, false),
        End::TimedOut { .. } => (TIMED_OUT, true),
        End::Stopped { .. } => {
            return Err(ToolError::new(
                ErrorCode::ShellAborted,
                format!("job {} was stopped", job.id()),
            ));
        }
        End::FailedToStart { why } => {
            return Err(ToolError::new(ErrorCode::ShellSpawnFailed, why.clone()));
        }
        End::Lost { .. } => {
            let message = format!("job {} was lost: its supervisor was killed", job.id());
            return Err(ToolError::new(ErrorCode::ShellLost, message));
        }
    };
    let stdout = call.text(job, None, call.budget(None))?;
    Ok(Ended { stdout, exit_code, timed_out })
}

impl Ended {
    /// The same for a reader.
    fn text(&self) -> String {
        let note = match (self.timed_out, self.exit_code) {
            (true, _) => "[timed out]".to_owned(),
            (false, 0) => return self.stdout.clone(),
            (false, code) => format!("[exit code {code}]"),
        };
        let gap = if self.stdout.is_empty() || self.stdout.ends_with('\n') { "" } else { "\n" };
        format!("{}{gap}{note}", self.stdout)
    }
}
