//! What happens to a process that was started to stay, numbered, and waited for by its kind.

use std::time::Duration;

use serde_json::{Value, json};
use umbo_engine::{Event, EventKind, JobHandle, Result};
use umbo_ops::{Call, Ticket};

use crate::toolset::Toolset;

/// The kind of an event that says that something was typed.
const STDIN: &str = "signal.stdin";

/// The events of one process. They are those of the engine's journal, so every process that shares
/// the state directory sees the same ones under the same numbers.
#[derive(Debug, Clone)]
pub struct ProcessEvents {
    job: JobHandle,
}

/// Something that happened to a process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessEvent {
    /// Its number. Later events have higher numbers.
    pub sequence: u64,
    /// What: `signal.stdin` when something was typed, else as the engine calls it (`started`,
    /// `exited` …).
    pub kind: String,
    /// More about it. What was typed is not kept, for it may have been a password: only how many
    /// bytes, and whether standard input was closed after them.
    pub payload: Value,
}

/// The events of a process that was started to stay, by the id that its start answered with.
pub fn process_events(tools: &Toolset, process_id: &str) -> Option<ProcessEvents> {
    let ticket = Ticket::default();
    let job = Call::new(tools.caller(), &ticket).named(process_id)?;
    Some(ProcessEvents { job })
}

impl ProcessEvents {
    /// The first event of a kind with a higher number than `sequence`, waited for. `None` after
    /// `timeout`, or if the process ends first.
    pub fn wait_event_after(
        &self,
        kind: &str,
        sequence: u64,
        timeout: Duration,
    ) -> Result<Option<ProcessEvent>> {
        let name = if kind == STDIN { "input" } else { kind };
        Ok(self.job.wait_event_after(name, sequence, timeout)?.as_ref().map(told))
    }
}

fn told(event: &Event) -> ProcessEvent {
    let (kind, payload) = match &event.kind {
        EventKind::Input { bytes, end } => (STDIN, json!({"bytes": bytes, "close_stdin": end})),
        EventKind::Exited { state, code } => ("exited", json!({"state": state, "exit_code": code})),
        EventKind::Output { offset } => ("output", json!({"offset": offset})),
        EventKind::Leaked { count } => ("leaked", json!({"count": count})),
        other => (other.name(), json!({})),
    };
    ProcessEvent { sequence: event.seq, kind: kind.to_owned(), payload }
}
