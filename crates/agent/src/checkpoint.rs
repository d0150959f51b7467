//! Checkpoints: a place in the conversation to which it goes back with a report, so that a long
//! investigation costs its findings and no more.
//!
//! The checkpoint is state of the session, so it survives a restart and a compaction. It is made behind
//! all results of the answer that asked for it: a cut there leaves no call without its result.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::entry::{self, EntryKind};
use crate::message::AgentMessage;
use crate::session::{Session, SessionError};

/// The kind of the entries that say which checkpoint is active.
pub(crate) const CHECKPOINT: &str = "checkpoint";

/// A place to which the conversation can go back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The last entry that stays.
    #[serde(skip)]
    pub entry: String,
    /// What is to be found out.
    pub goal: String,
    /// When it was made.
    pub started_at: String,
    /// The newest change of files at that time, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl Checkpoint {
    /// The checkpoint that an entry made; none if it ended one.
    pub(crate) fn read(entry: &str, data: Option<&Value>) -> Option<Self> {
        let read: Self = serde_json::from_value(data?.clone()).ok()?;
        Some(Self { entry: entry.to_owned(), ..read })
    }
}

impl Session {
    /// Makes a checkpoint at the leaf.
    pub fn make_checkpoint(
        &mut self,
        goal: &str,
        files: Option<String>,
    ) -> Result<Checkpoint, SessionError> {
        let (goal, started_at) = (goal.to_owned(), entry::now());
        let checkpoint = Checkpoint { entry: String::new(), goal, started_at, files };
        let data = serde_json::to_value(&checkpoint)?;
        let custom_type = CHECKPOINT.to_owned();
        let entry = self.append(EntryKind::Custom { custom_type, data: Some(data) })?;
        Ok(Checkpoint { entry, ..checkpoint })
    }

    /// Forgets the checkpoint; the conversation stays as it is.
    pub fn drop_checkpoint(&mut self) -> Result<(), SessionError> {
        let custom_type = CHECKPOINT.to_owned();
        self.append(EntryKind::Custom { custom_type, data: None }).map(drop)
    }

    /// Goes back to a checkpoint. What was said since stays on the branch that is left; the report,
    /// and what the user said meanwhile, go on. Gives what the model reads of it.
    pub fn rewind(
        &mut self,
        checkpoint: &Checkpoint,
        report: &str,
    ) -> Result<String, SessionError> {
        let mut summary = report.to_owned();
        let said = self.said_since(&checkpoint.entry)?;
        if !said.is_empty() {
            summary.push_str("\n\nMeanwhile the user said:");
            for text in said {
                let _ = write!(summary, "\n- {text}");
            }
        }
        let details = json!({"startedAt": checkpoint.started_at, "rewoundAt": entry::now()});
        self.branch_with_summary(Some(&checkpoint.entry), &summary, Some(details))?;
        self.drop_checkpoint()?;
        Ok(summary)
    }

    fn said_since(&self, entry: &str) -> Result<Vec<String>, SessionError> {
        let path = self.path_to(None)?;
        let start = path.iter().position(|each| each.id == entry).map_or(0, |at| at + 1);
        let said = path[start..].iter().filter_map(|each| match &each.kind {
            EntryKind::Message { message: AgentMessage::User(user) } => {
                let texts = user.content.iter().filter_map(|part| part.as_text());
                Some(texts.collect::<Vec<_>>().join("\n"))
            }
            _ => None,
        });
        Ok(said.collect())
    }
}
