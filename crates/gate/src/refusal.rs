//! Why a command does not run, for programs and in a sentence.

use std::fmt;

use serde::Serialize;
use umbo_command::Risk;

use crate::time::show_time;

/// Why a command does not run, or not yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Refusal {
    /// It needs an approval, and nobody has answered yet. This is not a denial.
    ApprovalRequired {
        /// What to answer.
        id: String,
        /// Why somebody has to.
        why: String,
        /// How bad it may be.
        risk: Risk,
        /// Until when, in microseconds since 1970.
        expires_at: u64,
        /// The prefixes an answer could cover.
        prefixes: Vec<Vec<String>>,
    },
    /// It does not run.
    Denied {
        /// Who or which rule says so.
        by: String,
        /// Why.
        reason: String,
        /// The question that a person answered so, if it was no rule.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        question: Option<Declined>,
    },
    /// The approval the caller came back with holds no longer.
    Expired {
        /// Which.
        id: String,
    },
}

/// A question that a person denied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Declined {
    /// Which.
    pub id: String,
    /// Until when the answer holds for the run that asked, in microseconds since 1970.
    pub expires_at: u64,
}

impl Refusal {
    /// A word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ApprovalRequired { .. } => "approval_required",
            Self::Denied { .. } => "denied",
            Self::Expired { .. } => "expired",
        }
    }

    /// Until when it stands, in microseconds since 1970, if not for good.
    pub fn expires_at(&self) -> Option<u64> {
        match self {
            Self::ApprovalRequired { expires_at, .. } => Some(*expires_at),
            Self::Denied { question, .. } => question.as_ref().map(|question| question.expires_at),
            Self::Expired { .. } => None,
        }
    }

    /// What a person types to let the command run after all, if they can.
    pub fn answer_with(&self) -> Option<String> {
        match self {
            Self::ApprovalRequired { id, .. } => Some(format!("umbo approve {id}")),
            Self::Denied { question, .. } => {
                question.as_ref().map(|no| format!("umbo approve --overturn {}", no.id))
            }
            Self::Expired { .. } => None,
        }
    }
}

/// The last characters of an id, by which a person answers: one of a billion.
fn end_of(id: &str) -> &str {
    id.char_indices().nth_back(5).map_or(id, |(start, _)| &id[start..])
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApprovalRequired { id, why, .. } => write!(
                f,
                "approval required: {why}\n\
                 Somebody has to run `umbo approve {id}` (or `umbo deny {id}`) in a terminal of \
                 their own; then run the same command again.",
                id = end_of(id)
            ),
            Self::Denied { by, reason, question } => {
                write!(f, "denied by {by}: {reason}")?;
                let Some(Declined { id, expires_at }) = question else { return Ok(()) };
                write!(
                    f,
                    "\nThis answers question {id} and holds for this run until {}. Only a person \
                     can change it: `umbo approve --overturn {id}` in a terminal of their own.",
                    show_time(*expires_at)
                )
            }
            Self::Expired { id } => {
                write!(f, "approval {id} has expired; run the command again to ask anew")
            }
        }
    }
}
