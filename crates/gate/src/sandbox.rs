//! What a rule and a verdict say about the sandbox of a command. The gate only says it: whoever runs the
//! command makes the sandbox, and knows which profiles there are.

use serde::Serialize;
use umbo_command::{Effect, Risk};

use crate::decision::Decision;
use crate::mode::Mode;
use crate::verdict::Explanation;

/// The sandbox that a rule sets for the commands it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleSandbox {
    /// The name of a profile.
    pub profile: String,
    /// What may be written beside what the profile allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_write: Vec<String>,
    /// What is shown though it would be hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_read: Vec<String>,
    /// The hosts that may be reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_host: Vec<String>,
    /// Whether it counts only where it is stricter than what holds without it: nobody trusted the project
    /// it comes from.
    pub only_tightens: bool,
}

/// What the sandbox of an admitted command follows from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounds {
    /// What rules that had a say set, with their names.
    pub rules: Vec<(String, RuleSandbox)>,
    /// The effects of a command that runs unasked for no other reason than that it only reads: it has to
    /// run where it can do nothing else.
    pub only_reads: Option<Vec<Effect>>,
}

impl Grounds {
    /// What an explanation of a command with these effects says about its sandbox.
    pub(crate) fn new(explained: &Explanation, effects: &[Effect]) -> Self {
        let rules = explained.matched.iter().filter_map(|matched| {
            matched.sandbox.clone().map(|sandbox| (matched.source(), sandbox))
        });
        let by_reading = explained.decided_by.is_none()
            && explained.verdict.decision() == Decision::Allow
            && explained.risk == Risk::ReadOnly
            && !matches!(explained.mode, Mode::Guard | Mode::Open);
        Self { rules: rules.collect(), only_reads: by_reading.then(|| effects.to_vec()) }
    }
}
