//! Running the calls of one answer.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use umbo_model::ToolCall;

use super::{Agent, AgentEvent, Observer, RunError};
use crate::entry::EntryKind;
use crate::harmony;
use crate::message::AgentMessage;
use crate::tools::{Invocation, Progress, ToolOutput};

/// How long a tool that was told to stop may take to say what it did.
const STOP_GRACE: Duration = Duration::from_secs(10);

const NOT_RUN_STEERED: &str = "Not run: the user said something first.";
const NOT_RUN_INTERRUPTED: &str = "Not run: the user interrupted.";
const STOPPED: &str =
    "The user interrupted while this was running; what it did until then is unknown.";

/// How the calls of an answer went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ran {
    All,
    Interrupted,
}

impl Agent {
    /// Runs the calls of an answer, each kind as it declares. Every call gets a result.
    pub(super) async fn run_calls(
        &mut self,
        entry: &str,
        calls: Vec<ToolCall>,
        observer: Observer<'_>,
    ) -> Result<Ran, RunError> {
        let mut waiting = calls.into_iter().enumerate().peekable();
        while let Some((number, call)) = waiting.next() {
            if self.cancel.is_cancelled() || self.queues.wants_interrupt() {
                let is_cancelled = self.cancel.is_cancelled();
                let why = if is_cancelled { NOT_RUN_INTERRUPTED } else { NOT_RUN_STEERED };
                for (_, call) in std::iter::once((number, call)).chain(waiting) {
                    self.keep_result(&call, ToolOutput::error(why), observer)?;
                }
                return Ok(if is_cancelled { Ran::Interrupted } else { Ran::All });
            }
            let mut batch = vec![(number, call)];
            if self.tools.is_parallel(&batch[0].1.name) {
                while let Some(next) =
                    waiting.next_if(|(_, call)| self.tools.is_parallel(&call.name))
                {
                    batch.push(next);
                }
            }
            self.run_batch(entry, batch, observer).await?;
        }
        Ok(if self.cancel.is_cancelled() { Ran::Interrupted } else { Ran::All })
    }

    /// Runs calls beside each other.
    async fn run_batch(
        &mut self,
        entry: &str,
        batch: Vec<(usize, ToolCall)>,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        let mut running = JoinSet::new();
        let mut open = Vec::new();
        let (sender, mut progress) = mpsc::unbounded_channel();
        for (number, call) in batch {
            if let Some(problem) = self.problem(&call)? {
                self.keep_result(&call, ToolOutput::error(problem), observer)?;
                continue;
            }
            let key = format!("{}-{entry}-{number}", self.session.header().id);
            // That it begins is on disk before it begins.
            self.session.append(EntryKind::ToolStart {
                tool_call_id: call.id.clone(),
                tool_name: call.name.clone(),
                key: key.clone(),
            })?;
            observer(AgentEvent::ToolStart { call: call.clone(), key: key.clone() });
            let cancel = self.cancel.child_token();
            let progress = Progress { call_id: call.id.clone(), sender: sender.clone() };
            let checkpoint = self.checkpoint()?;
            let invocation = Invocation { call: call.clone(), key, cancel, progress, checkpoint };
            let work = self.tools.clone().call(invocation);
            let id = running.spawn(work).id();
            open.push((id, call));
        }
        let mut grace = None;
        while !open.is_empty() {
            let ended = tokio::select! {
                ended = running.join_next_with_id() => ended,
                Some((call_id, text)) = progress.recv() => {
                    observer(AgentEvent::ToolProgress { call_id, text });
                    continue;
                }
                () = self.cancel.cancelled(), if grace.is_none() => {
                    grace = Some(tokio::time::Instant::now() + STOP_GRACE);
                    continue;
                }
                () = sleep_until(grace), if grace.is_some() => None,
            };
            let (id, output) = match ended {
                Some(Ok((id, output))) => (id, output),
                Some(Err(error)) => {
                    let what = format!("The tool itself failed: {error}");
                    (error.id(), ToolOutput::error(what))
                }
                // Nobody answers any more.
                None => break,
            };
            if let Some(at) = open.iter().position(|(open, _)| *open == id) {
                let (_, call) = open.remove(at);
                self.keep_result(&call, output, observer)?;
            }
        }
        for (_, call) in open {
            self.keep_result(&call, ToolOutput::error(STOPPED), observer)?;
        }
        Ok(())
    }

    /// Why a call must not run.
    fn problem(&mut self, call: &ToolCall) -> Result<Option<String>, RunError> {
        if let Some(text) = &call.malformed {
            let start: String = text.chars().take(200).collect();
            return Ok(Some(format!("Not run: the arguments are no JSON object: {start}")));
        }
        let specs = self.tools.specs();
        let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        if !names.contains(&call.name.as_str()) {
            let known = names.join(", ");
            return Ok(Some(format!("There is no tool {:?}. There are: {known}", call.name)));
        }
        if let Err(problem) = self.tools.check(call) {
            return Ok(Some(problem));
        }
        if !harmony::may_leak(&self.candidate()?.model.id) {
            return Ok(None);
        }
        // Text that the user or a file brought in may be written again.
        let context = self.context()?;
        let is_known = |piece: &str| {
            context.messages.iter().any(|message| match &message.message {
                AgentMessage::ToolResult(result) => result.text().contains(piece),
                AgentMessage::User(user) => {
                    user.content.iter().any(|p| p.as_text().is_some_and(|t| t.contains(piece)))
                }
                _ => false,
            })
        };
        Ok(harmony::check_call(call, &names, is_known))
    }
}

async fn sleep_until(time: Option<tokio::time::Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}
