//! Asking a model: retries, and other models when it cannot answer.

use std::hash::{BuildHasher, RandomState};

use umbo_model::{Assembler, AssistantMessage, Event, Failure, FailureClass, Request, ToolChoice};

use super::{Agent, AgentEvent, Observer, RunError};
use crate::entry::EntryKind;
use crate::message::AgentMessage;

/// What came of asking.
pub(super) enum Asked {
    Answer(AssistantMessage),
    Interrupted(AssistantMessage),
    Overflow(Failure),
    Failed(Failure),
}

/// What came of one try.
enum Tried {
    Answer(AssistantMessage),
    Interrupted(AssistantMessage),
    Failed(Failure, AssistantMessage),
}

impl Agent {
    /// Asks with the conversation as it is.
    pub(super) async fn ask_model(&mut self, observer: Observer<'_>) -> Result<Asked, RunError> {
        let messages = self.conversation()?;
        let mut request = Request::new(self.candidate()?.model.clone(), messages);
        request.system.clone_from(&self.setup.system);
        request.tools = self.tools.specs();
        if let Some(tool) = self.tools.forced() {
            request.tool_choice = ToolChoice::Tool(tool);
        }
        request.effort = self.setup.effort;
        request.cache = self.setup.cache;
        request.cache_key = Some(self.session.header().id.clone());
        self.ask(request, observer).await
    }

    /// Asks with a request, again and elsewhere if need be.
    pub(super) async fn ask(
        &mut self,
        mut request: Request,
        observer: Observer<'_>,
    ) -> Result<Asked, RunError> {
        if let Some(mask) = &self.setup.mask {
            mask.hide_in_frame(&mut request);
        }
        let mut retry = 0;
        loop {
            request.model = self.candidate()?.model.clone();
            let (failure, lost) = match self.try_once(&request, observer).await? {
                Tried::Answer(answer) => return Ok(Asked::Answer(answer)),
                Tried::Interrupted(answer) => return Ok(Asked::Interrupted(answer)),
                Tried::Failed(failure, lost) => (failure, lost),
            };
            if !lost.content.is_empty() {
                // The user saw some of it: the session has it too, though no model reads it again.
                observer(AgentEvent::AnswerLost(failure.clone()));
                let message = AgentMessage::Assistant(lost.clone());
                self.session.append(EntryKind::Message { message })?;
            }
            if failure.class == FailureClass::Overflow {
                return Ok(Asked::Overflow(failure));
            }
            let jitter = jitter();
            if let Some(wait) = self.setup.retry.wait(retry, &failure, jitter) {
                retry += 1;
                // Listens before anybody can know that there is something to abort.
                let aborted = self.queues.retry_aborted();
                tokio::pin!(aborted);
                aborted.as_mut().enable();
                observer(AgentEvent::Retry { wait, failure: failure.clone() });
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = aborted => return Ok(Asked::Failed(failure)),
                    () = self.cancel.cancelled() => return Ok(Asked::Interrupted(lost)),
                }
            } else if may_help(failure.class) && self.current + 1 < self.setup.candidates.len() {
                self.current += 1;
                retry = 0;
                self.say_model(observer)?;
            } else {
                return Ok(Asked::Failed(failure));
            }
        }
    }

    /// The session and the observer learn which model is asked from now on.
    pub(super) fn say_model(&mut self, observer: Observer<'_>) -> Result<(), RunError> {
        let model = &self.candidate()?.model;
        let name = format!("{}/{}", model.provider, model.id);
        self.session.append(EntryKind::ModelChange { model: name.clone(), role: None })?;
        observer(AgentEvent::Fallback { model: name });
        Ok(())
    }

    async fn try_once(
        &mut self,
        request: &Request,
        observer: Observer<'_>,
    ) -> Result<Tried, RunError> {
        let endpoint = &self.candidate()?.endpoint;
        let mut stream = self.setup.client.stream(endpoint, request)?;
        let mut assembler = Assembler::new();
        loop {
            let event = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    return Ok(Tried::Interrupted(assembler.finish(&request.model)));
                }
                event = stream.next() => event,
            };
            let Some(event) = event else {
                let failure = Failure::new(FailureClass::Transient, "the stream ended early");
                return Ok(Tried::Failed(failure, assembler.finish(&request.model)));
            };
            assembler.push(&event);
            match event {
                Event::Error(failure) => {
                    return Ok(Tried::Failed(failure, assembler.finish(&request.model)));
                }
                Event::End { .. } => {
                    observer(AgentEvent::Model(event));
                    return Ok(Tried::Answer(assembler.finish(&request.model)));
                }
                event => observer(AgentEvent::Model(event)),
            }
        }
    }

    /// Asks for one text, beside the conversation.
    pub(super) async fn ask_text(
        &mut self,
        system: &str,
        prompt: String,
    ) -> Result<Asked, RunError> {
        let hide = |text: String| match &self.setup.mask {
            Some(mask) => mask.hide(&text),
            None => text,
        };
        let messages = vec![umbo_model::Message::user(hide(prompt))];
        let mut request = Request::new(self.candidate()?.model.clone(), messages);
        system.clone_into(&mut request.system);
        request.tool_choice = ToolChoice::Never;
        let mut asked = self.ask(request, &mut |_| {}).await?;
        if let Asked::Answer(answer) = &mut asked {
            self.count(answer);
        }
        Ok(asked)
    }
}

/// Whether another model may answer where this one cannot.
fn may_help(class: FailureClass) -> bool {
    !matches!(class, FailureClass::InvalidRequest | FailureClass::Refused | FailureClass::Overflow)
}

/// A number from 0 to 1.
fn jitter() -> f64 {
    let number = RandomState::new().hash_one(0);
    f64::from(u32::try_from(number >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
