//! Why a command does not run, for programs and in a sentence.

use std::fmt;

use serde::Serialize;
use umbo_command::Risk;

/// Why a command does not run, or not yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Refusal {
    /// Nobody has answered yet, which is not a denial.
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
    },
    /// The approval the caller came back with holds no longer.
    Expired {
        /// Which.
        id: String,
    },
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
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ApprovalRequired { id, why, .. } => write!(
                f,
                "approval required: {why}\n\
                 Somebody has to run `umbo approve {id}` (or `umbo deny {id}`) in a terminal of \
                 their own; then run the same command again."
            ),
            Self::Denied { by, reason } => write!(f, "denied by {by}: {reason}"),
            Self::Expired { id } => {
                write!(f, "approval {id} has expired; run the command again to ask anew")
            }
        }
    }
}
