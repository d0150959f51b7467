//! The dialect `recipe`: `project.recipe`, a task by one word, and `shell.bash`, which it runs by. Both
//! give their command a terminal, which merges its streams, and wait for its end.

mod project_recipe;
mod shell_bash;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use umbo_engine::{End, JobHandle, OnDisconnect, Outcome, Request, Size, Status, Stdin};
use umbo_ops::{Call, ErrorCode, Ran};

use super::{Dialect, Registered};
use crate::answer::ToolError;
use crate::cut::with_rest;
use crate::denied::with_denials;
use crate::schema::Problem;
use crate::settings::{Setting, SettingDefault, SettingKind, Tightens};
use crate::time::{limit, wait_for};
use crate::tool::Tool;

pub(super) const REGISTERED: Registered = Registered {
    name: "recipe",
    job_id: Recipe::job_id,
    settings: &[ENABLED],
    secrets: &[],
    open: |host| {
        let state = State { root: host.project.map(Path::to_owned) };
        Box::new(Recipe { state: Arc::new(state), has_recipes: host.settings.flag(ENABLED.key) })
    },
};

const ENABLED: Setting = Setting {
    key: "tools.recipe.enabled",
    kind: SettingKind::Flag,
    default: SettingDefault::Text("true"),
    tightens: Tightens::Only(false),
    doc: "whether there is `project.recipe` in `recipe`",
};

/// The dialect.
#[derive(Debug)]
struct Recipe {
    state: Arc<State>,
    has_recipes: bool,
}

/// What its tools share.
#[derive(Debug)]
struct State {
    /// The project, if it is not the caller's directory.
    root: Option<PathBuf>,
}

impl Dialect for Recipe {
    fn name(&self) -> &'static str {
        REGISTERED.name
    }

    fn tools(&self) -> Vec<Tool> {
        let state = &self.state;
        let recipe = self.has_recipes.then(|| {
            let words = include_str!("project_recipe.md");
            Tool::with_state(state, "project.recipe", words, project_recipe::run)
        });
        let bash =
            Tool::with_state(state, "shell.bash", include_str!("shell_bash.md"), shell_bash::run);
        recipe.into_iter().chain([bash]).collect()
    }

    fn prefers_bash(&self) -> bool {
        true
    }

    fn refuse(&self, _tool: &Tool, problem: &Problem) -> ToolError {
        if problem.field == "op" {
            let message = format!("op must be a non-empty string; {} was given", problem.given);
            return invalid("op", message);
        }
        invalid(&problem.field, problem.to_string())
    }
}

impl State {
    /// The directory that a caller means, which must be inside of the project.
    fn directory(&self, call: &Call<'_>, cwd: Option<&str>) -> Result<PathBuf, ToolError> {
        let root = self.root.as_deref().unwrap_or(&call.caller.directory);
        umbo_recipes::select::project_recipe::directory(root, cwd)
            .map_err(|error| invalid("cwd", error.to_string()))
    }
}

/// How long a command may take that nothing else is known of.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);
/// What the climb to SIGKILL and its proof may take beyond a timeout.
const KILL_TIMEOUT: Duration = Duration::from_secs(20);
/// The code of a command that was killed at its timeout, as timeout(1) has it.
const TIMED_OUT_CODE: i32 = 124;

/// A wrong argument, as this contract calls it.
fn invalid(field: &str, message: impl Into<String>) -> ToolError {
    let field = Some(field.to_owned()).filter(|field| !field.is_empty());
    ToolError { field, ..ToolError::new(ErrorCode::InvalidParams, message) }
}

/// What `shell.bash` tells of a command that ran, and `project.recipe` too.
#[derive(Debug, Serialize, JsonSchema)]
struct Ended {
    /// Both streams: a terminal merges them.
    stdout: String,
    stderr: &'static str,
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
    request.limits.wall = limit(timeout);
    request.on_disconnect = OnDisconnect::Stop;
    match call.run(&request, wait_for(request.limits.wall, KILL_TIMEOUT))? {
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

fn ended(call: &Call<'_>, job: &JobHandle, outcome: &Outcome) -> Result<Ended, ToolError> {
    call.told(job);
    let (exit_code, timed_out) = match &outcome.end {
        End::Exited { code } => (*code, false),
        End::Signaled { signal, .. } => (128 + signal, false),
        End::TimedOut { .. } => (TIMED_OUT_CODE, true),
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
    let file = call.output_file(job).display().to_string();
    let rest = format!("all of it is in {file}; `shell.bash` reads it, as sed -n '1,200p' {file}");
    let stdout = with_denials(with_rest(call, job, None, &rest)?, outcome);
    Ok(Ended { stdout, stderr: "", exit_code, timed_out })
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
