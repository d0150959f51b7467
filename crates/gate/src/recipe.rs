//! Tasks of a project: what a call that runs one would run.

use std::path::PathBuf;

use umbo_command::{Risk, Shell};

use crate::decision::Decision;
use crate::digest::{Digest, Fields};
use crate::gate::Call;
use crate::mode::Mode;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::subject::Subject;
use crate::verdict::{Explanation, Verdict, decide};

/// As much of a script is shown as a person reads, in characters.
const MOST_SHOWN_CHARS: usize = 200;

/// The task that a call runs.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// Its name, which rules can be about.
    pub name: &'a str,
    /// What it runs, with all that runs beside it, as far as that is known.
    pub scripts: &'a [Script],
}

/// A text that a task runs in a shell of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The text.
    pub text: String,
    /// The shell that reads it.
    pub shell: Shell,
    /// Where it runs: absolute.
    pub cwd: PathBuf,
}

impl Recipe<'_> {
    /// A hash of what it runs: an approval holds for that alone.
    pub(crate) fn digest(&self) -> Digest {
        let mut fields = Fields::default();
        for script in self.scripts {
            fields.add(&script.text).add(format!("{:?}", script.shell));
            fields.add(script.cwd.as_os_str().as_encoded_bytes());
        }
        fields.finish()
    }
}

impl Call<'_> {
    /// The verdict on a call with what the scripts of its task add to it: the strictest counts.
    /// `grants` are prefixes somebody approved, knowing the scripts.
    pub(crate) fn with_scripts(
        &self,
        own: Explanation,
        policy: &Policy,
        mode: Mode,
        grants: &[Rule],
    ) -> Explanation {
        let Some(recipe) = self.recipe else { return own };
        let rule = own.decided_by.clone();
        let is_granted =
            rule.as_ref().is_some_and(|rule| grants.iter().any(|grant| grant.name == rule.rule));
        let mut whole = own;
        for script in recipe.scripts {
            let reading = umbo_command::read(&script.text, script.shell);
            let (roots, variables) = (policy.roots(), self.environment);
            let subject =
                Subject::in_environment(&script.text, &reading, &script.cwd, roots, variables);
            let subject = subject.recipe(Some(recipe.name)).contained(self.contained);
            let found = decide(&subject, policy, mode, &[]);
            // Who allows a task by a rule knows that it does something, not that it is dangerous.
            let is_ruled =
                rule.is_some() && found.decided_by.is_none() && found.risk < Risk::Dangerous;
            let (before, after) = (whole.verdict.decision(), found.verdict.decision());
            let is_stricter = match after {
                Decision::Allow => false,
                Decision::Ask if before == Decision::Allow => !is_granted && !is_ruled,
                Decision::Ask => before == Decision::Ask && found.risk > whole.risk,
                Decision::Deny => before != Decision::Deny,
            };
            if is_stricter {
                whole.verdict = told_of(&script.text, found.verdict);
                whole.decided_by = found.decided_by;
            }
            whole.risk = whole.risk.and(found.risk);
            whole.matched.extend(found.matched);
        }
        // The order that says which of them decided.
        whole.matched.sort_by_key(|matched| std::cmp::Reverse(matched.decision));
        whole
    }
}

/// The verdict on a script, as one on the task.
fn told_of(script: &str, verdict: Verdict) -> Verdict {
    let line = script.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = line.chars().take(MOST_SHOWN_CHARS).collect();
    let dots = if shown.len() < line.len() { "…" } else { "" };
    let told = |why: String| format!("The task runs `{shown}{dots}`. {why}");
    match verdict {
        Verdict::Allow { why } => Verdict::Allow { why },
        Verdict::Ask { why, .. } => Verdict::Ask { why: told(why), suggestion: None },
        Verdict::Deny { by, reason } => Verdict::Deny { by, reason: told(reason) },
    }
}
