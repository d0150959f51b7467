//! The dialect `claude-code`: the shell tools that those models know.

mod bash;
mod bash_output;
mod kill_shell;

use umbo_engine::{End, Job, Outcome, Status};

use super::{Dialect, as_it_is, no_guidance, refuse};
use umbo_ops::ErrorCode;

use crate::answer::ToolError;
use crate::call::Call;
use crate::tool::Definition;

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude-code",
    instructions: include_str!("instructions.md"),
    tools: &[
        Definition {
            name: "Bash",
            words: include_str!("bash.md"),
            contract: include_str!("bash.json"),
            run: bash::run,
        },
        Definition {
            name: "BashOutput",
            words: include_str!("bash_output.md"),
            contract: include_str!("bash_output.json"),
            run: bash_output::run,
        },
        Definition {
            name: "KillShell",
            words: include_str!("kill_shell.md"),
            contract: include_str!("kill_shell.json"),
            run: kill_shell::run,
        },
    ],
    prefers_bash: true,
    tells_in_structure: false,
    refusal: refuse,
    fields: &[],
    shape: ToolError::to_value,
    guidance: no_guidance,
    tailor: as_it_is,
    is_enabled: |_| true,
    event: crate::completed::event,
    sentence: crate::completed::sentence,
};

/// The background shell that an id means.
fn shell(call: &Call<'_>, id: &str) -> Result<Job, ToolError> {
    call.named(id).ok_or_else(|| {
        ToolError::new(ErrorCode::UnknownShell, format!("No shell found with ID: {id}"))
    })
}

/// The word for where a shell is in its life.
fn status(status: &Status) -> &'static str {
    match status {
        Status::Created | Status::Started { .. } => "running",
        Status::Ended(outcome) => match &outcome.end {
            End::Stopped { .. } => "killed",
            _ if outcome.success() => "completed",
            _ => "failed",
        },
    }
}

/// The code a shell would have given.
fn exit_code(outcome: &Outcome) -> Option<i32> {
    outcome.exit_code().or_else(|| outcome.signal().map(|signal| 128 + signal))
}
