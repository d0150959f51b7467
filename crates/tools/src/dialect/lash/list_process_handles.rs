//! `list_process_handles`: what was started and stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use umbo_ops::Call;

use super::{HandleKind, State, allows_nonzero, processes};
use crate::answer::{Answer, ToolError};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Processes {
    processes: Vec<Listed>,
}

/// A handle, and what it is a handle to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    __handle__: HandleKind,
    id: String,
    process_id: String,
    status: State,
    done: bool,
    running: bool,
    descriptor: Descriptor,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Descriptor {
    kind: &'static str,
    label: String,
}

pub(super) fn run(call: &Call<'_>, _: Arguments) -> Result<Answer<Processes>, ToolError> {
    let mut listed = Vec::new();
    let mut lines = Vec::new();
    for summary in processes(call)? {
        let id = summary.name.unwrap_or_default();
        let status = State::of(&summary.status, allows_nonzero(&summary.labels));
        let running = status == State::Running;
        lines.push(format!("{id} {}: {}", status.as_str(), summary.command));
        listed.push(Listed {
            __handle__: HandleKind::Process,
            id: id.clone(),
            process_id: id,
            status,
            done: !running,
            running,
            descriptor: Descriptor { kind: "shell", label: summary.command },
        });
    }
    if lines.is_empty() {
        lines.push("no processes".to_owned());
    }
    Ok(Answer::new(Processes { processes: listed }, lines.join("\n")))
}
