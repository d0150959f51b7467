//! Calls that an earlier process left open.

use std::collections::HashSet;

use umbo_model::{AssistantMessage, ToolCall};

use super::{Agent, Observer, RunError};
use crate::message::AgentMessage;
use crate::tools::{Recovery, ToolOutput};

const NOT_STARTED: &str = "Not run: the agent was stopped before this call began.";
const UNKNOWN: &str = "The agent was stopped while this call was under way. It may have done all, \
                       some or nothing of its work: look before you call it again.";

impl Agent {
    /// Says what became of calls that an earlier process left open; asks no model. A run does the
    /// same at its beginning.
    pub async fn settle(&mut self, observer: Observer<'_>) -> Result<(), RunError> {
        self.close_open_calls(observer).await
    }

    /// Gives every call without a result one that says what became of it. None is run again.
    pub(super) async fn close_open_calls(
        &mut self,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        for call in self.open_calls()? {
            let started = self.session.tool_started(&call.id).cloned();
            let output = match started {
                None => ToolOutput::error(NOT_STARTED),
                Some(started) => {
                    match self.tools.clone().recover(call.clone(), started.key).await {
                        Recovery::Finished(output) => output,
                        Recovery::Running(how) => ToolOutput::text(format!(
                            "The agent was restarted while this call was under way. It is still running: {how}"
                        )),
                        Recovery::NotStarted => ToolOutput::error(NOT_STARTED),
                        Recovery::Unknown => ToolOutput::error(UNKNOWN),
                    }
                }
            };
            self.keep_result(&call, output, observer)?;
        }
        Ok(())
    }

    fn open_calls(&mut self) -> Result<Vec<ToolCall>, RunError> {
        let context = self.context()?;
        let mut answered = HashSet::new();
        for message in &context.messages {
            if let AgentMessage::ToolResult(result) = &message.message {
                answered.insert(result.tool_call_id.as_str());
            }
        }
        let answers = context.messages.iter().filter_map(|message| match &message.message {
            AgentMessage::Assistant(answer) if !answer.is_broken() => Some(answer),
            _ => None,
        });
        let calls = answers.flat_map(AssistantMessage::tool_calls);
        Ok(calls.filter(|call| !answered.contains(call.id.as_str())).cloned().collect())
    }
}
