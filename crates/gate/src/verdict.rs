//! The verdict on one command: it runs, a person is asked, or it does not run.

use serde::Serialize;
use umbo_command::{Kind, Reading, Risk};

use crate::decision::Decision;
use crate::mode::Mode;
use crate::policy::{Matched, Policy};
use crate::rule::{Rule, prefix_of};
use crate::subject::Subject;

/// What the gate says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow {
        /// Why no approval is needed.
        why: String,
    },
    /// A person has to approve it first.
    Ask {
        /// Why.
        why: String,
        /// A rule that would make the question unnecessary.
        #[serde(skip_serializing_if = "Option::is_none")]
        suggestion: Option<Suggestion>,
    },
    /// It does not run, and no approval changes that.
    Deny {
        /// The rule that says so.
        by: String,
        /// Why, for the model to read.
        reason: String,
    },
}

impl Verdict {
    /// The decision, without its reasons.
    pub fn decision(&self) -> Decision {
        match self {
            Self::Allow { .. } => Decision::Allow,
            Self::Ask { .. } => Decision::Ask,
            Self::Deny { .. } => Decision::Deny,
        }
    }
}

/// A rule that allows a command and its kind: the words that name what it does, never the whole line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The leading words of each command that would be allowed.
    pub prefixes: Vec<Vec<String>>,
    /// The rules, as they would stand in a file.
    pub toml: String,
}

/// A verdict with all that led to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The risk in this place; never below that of the reading.
    pub risk: Risk,
    /// The mode that was asked.
    pub mode: Mode,
    /// The rule that decided; `None` if it was the mode.
    pub decided_by: Option<Matched>,
    /// Every rule that had a say, strictest first.
    pub matched: Vec<Matched>,
}

/// Decides about a command. `grants` are prefixes a person approved.
pub fn decide(subject: &Subject<'_>, policy: &Policy, mode: Mode, grants: &[Rule]) -> Explanation {
    let mut matched = policy.concerning(subject);
    let allowing = policy.allowing(subject, grants);
    let strictest = matched.first().cloned();
    let (verdict, decided_by) = match strictest {
        Some(rule) if rule.decision == Decision::Deny => (denied(&rule), Some(rule)),
        strictest => permitted(subject, mode, strictest, allowing.as_deref(), grants),
    };
    matched.extend(allowing.into_iter().flatten());
    Explanation { verdict, risk: subject.risk(), mode, decided_by, matched }
}

fn denied(rule: &Matched) -> Verdict {
    Verdict::Deny { by: rule.source(), reason: rule.reason.clone() }
}

fn permitted(
    subject: &Subject<'_>,
    mode: Mode,
    ask: Option<Matched>,
    allowing: Option<&[Matched]>,
    grants: &[Rule],
) -> (Verdict, Option<Matched>) {
    // What a person approved just now answers the question an `ask` rule puts.
    let granted = allowing.filter(|rules| {
        rules.iter().all(|rule| grants.iter().any(|grant| grant.name == rule.rule))
    });
    if let Some(rule) = granted.and_then(<[Matched]>::first) {
        return (Verdict::Allow { why: rule.reason.clone() }, Some(rule.clone()));
    }
    match (ask, allowing.and_then(<[Matched]>::first)) {
        (Some(ask), _) if mode != Mode::Open => {
            let suggestion = suggest(subject.reading);
            (Verdict::Ask { why: ask.reason.clone(), suggestion }, Some(ask))
        }
        (_, Some(allow)) => {
            let why = format!("{}: {}", allow.source(), allow.reason);
            (Verdict::Allow { why }, Some(allow.clone()))
        }
        _ => match mode.weigh(subject) {
            Ok(why) => (Verdict::Allow { why }, None),
            Err(why) => (Verdict::Ask { why, suggestion: suggest(subject.reading) }, None),
        },
    }
}

/// A rule that would allow this command and its kind. None for what is not understood completely, is
/// dangerous, or writes by redirection: an "always" for those would allow more than was seen.
pub fn suggest(reading: &Reading) -> Option<Suggestion> {
    if !reading.exact || reading.risk == Risk::Dangerous {
        return None;
    }
    let prefixes = changing_prefixes(reading).ok()?;
    // The rule allows what this command does and no more: an option may make the same program do another.
    let mut kinds: Vec<String> = Vec::new();
    for effect in reading.effects.iter().filter(|effect| effect.risk > Risk::ReadOnly) {
        let kind = serde_json::to_string(&effect.kind).unwrap_or_default();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let (kinds, risk) = (kinds.join(", "), reading.risk);
    let quote = |word: &String| serde_json::to_string(word).unwrap_or_default();
    let rules: Vec<String> = prefixes
        .iter()
        .map(|prefix| {
            let words: Vec<String> = prefix.iter().map(quote).collect();
            let reason = quote(&format!("`{}` is allowed here", prefix.join(" ")));
            let argv = words.join(", ");
            format!(
                "[[rule]]\ndecision = \"allow\"\nreason = {reason}\nargv = [{argv}]\n\
                 effect = [{kinds}]\nrisk = \"{risk}\"\n"
            )
        })
        .collect();
    Some(Suggestion { prefixes, toml: rules.join("\n") })
}

/// The prefix of every command that does more than read.
pub(crate) fn changing_prefixes(reading: &Reading) -> Result<Vec<Vec<String>>, &'static str> {
    if !reading.exact {
        return Err("the command was not understood completely");
    }
    let roots = crate::place::Roots::default();
    let subject = Subject::new("", reading, std::path::Path::new("/"), &roots);
    let mut prefixes: Vec<Vec<String>> = Vec::new();
    for effect in reading.effects.iter().filter(|effect| effect.risk > Risk::ReadOnly) {
        if effect.kind == Kind::Execute && effect.risk >= Risk::Unknown {
            return Err("it runs a program that may be another one each time");
        }
        let authors = subject.authors(effect);
        if authors.is_empty() {
            return Err("a part of it belongs to no command a rule could name");
        }
        for author in authors {
            let prefix = prefix_of(author)?;
            if !prefixes.contains(&prefix) {
                prefixes.push(prefix);
            }
        }
    }
    if prefixes.is_empty() { Err("it only reads") } else { Ok(prefixes) }
}
