//! What calls do to the session itself: checkpoints, going back, the todo list, reminders.

use umbo_model::UserMessage;

use super::{Agent, AgentEvent, Observer, RunError};
use crate::checkpoint::Checkpoint;
use crate::entry::EntryKind;
use crate::message::{AgentMessage, Content};
use crate::session_tools::REWIND;
use crate::todo::{Phase, TODOS};
use crate::tools::Effect;

/// How often a model that forgets to rewind is reminded.
const MOST_REMINDERS: u32 = 3;

const REWIND_REMINDER: &str = "<system-warning>\nYou are in an active checkpoint. You MUST call \
    rewind with your investigation findings before yielding. Do NOT yield without completing the \
    checkpoint.\n</system-warning>";

impl Agent {
    /// The checkpoint that a call finds: also one that an earlier call of the same answer asked for.
    pub(super) fn checkpoint(&mut self) -> Result<Option<Checkpoint>, RunError> {
        let asked = self.effects.iter().find_map(|effect| match effect {
            Effect::Checkpoint { goal, .. } => {
                Some(Checkpoint { goal: goal.clone(), ..Checkpoint::default() })
            }
            _ => None,
        });
        Ok(match asked {
            Some(asked) => Some(asked),
            None => self.context()?.checkpoint.clone(),
        })
    }

    /// Does what the calls of an answer asked for, now that all of them have results.
    pub(super) fn apply_effects(&mut self, observer: Observer<'_>) -> Result<(), RunError> {
        let mut report = None;
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::Checkpoint { goal, files } => {
                    self.session.make_checkpoint(&goal, files)?;
                }
                Effect::Rewind { report: found } => report = Some(found),
                Effect::Todos(phases) => self.set_todos(phases, observer)?,
                Effect::Remind { custom_type, text } => self.remind(custom_type, text, observer)?,
                Effect::Interrupt => self.cancel.cancel(),
            }
        }
        // Last: what else was kept belongs to the branch that is left.
        if let Some(report) = report
            && let Some(checkpoint) = self.context()?.checkpoint.clone()
        {
            let summary = self.session.rewind(&checkpoint, &report)?;
            observer(AgentEvent::Rewound { report: summary });
            observer(AgentEvent::Todos(self.context()?.todos.clone()));
        }
        Ok(())
    }

    /// Keeps a todo list.
    pub fn set_todos(
        &mut self,
        phases: Vec<Phase>,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        let data = serde_json::to_value(&phases).ok();
        self.session.append(EntryKind::Custom { custom_type: TODOS.to_owned(), data })?;
        observer(AgentEvent::Todos(phases));
        Ok(())
    }

    fn remind(
        &mut self,
        custom_type: &str,
        text: String,
        observer: Observer<'_>,
    ) -> Result<(), RunError> {
        let kind = EntryKind::CustomMessage {
            custom_type: custom_type.to_owned(),
            content: Content::Text(text),
            display: false,
            details: None,
            attribution: "agent".to_owned(),
        };
        self.keep(kind, observer).map(drop)
    }

    /// Whether the model must go on because it has not rewound: then it was told so. One that never
    /// does loses its checkpoint and keeps its conversation.
    pub(super) fn must_rewind(&mut self, observer: Observer<'_>) -> Result<bool, RunError> {
        if self.context()?.checkpoint.is_none() {
            return Ok(false);
        }
        let can_rewind = self.tools.specs().iter().any(|spec| spec.name == REWIND);
        if !can_rewind || self.reminders >= MOST_REMINDERS {
            self.session.drop_checkpoint()?;
            return Ok(false);
        }
        self.reminders += 1;
        let content = vec![umbo_model::Part::text(REWIND_REMINDER)];
        let message = AgentMessage::Developer(UserMessage { content });
        self.keep(EntryKind::Message { message }, observer)?;
        Ok(true)
    }

    /// The run was interrupted: nothing half done is left.
    pub(super) fn forget_effects(&mut self) -> Result<(), RunError> {
        self.effects.clear();
        if self.context()?.checkpoint.is_some() {
            self.session.drop_checkpoint()?;
        }
        Ok(())
    }
}
