//! One approval: the question, what it is bound to, and the answer.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use umbo_command::{Kind, Risk, Shell, SimpleCommand};

use crate::digest::{Digest, Fields};
use crate::gate::{Call, Input};
use crate::key::Key;
use crate::subject::{LocatedEffect, Subject};

/// Variables that differ from call to call of the same caller and change nothing.
const VOLATILE_VARIABLES: [&str; 4] = ["_", "SHLVL", "PWD", "OLDPWD"];

/// What an approval is bound to. Values are only ever in it as keyed hashes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Command, shell and circumstances.
    pub call: Digest,
    /// Directory, environment, input, setting, scripts and policy: all but the command.
    pub circumstances: Digest,
}

impl Binding {
    /// Binds a call. The order of the environment does not matter.
    pub(crate) fn new(key: &Key, asked: &Call<'_>, cwd: &Path, policy: &Digest) -> Self {
        let mut variables: Vec<_> = asked
            .environment
            .iter()
            .filter(|(name, _)| !VOLATILE_VARIABLES.iter().any(|volatile| name == volatile))
            .collect();
        variables.sort();
        let parts: Vec<&[u8]> = variables
            .iter()
            .flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()])
            .collect();
        // Keyed, so that a short secret cannot be found by trying.
        let environment = key.sign("environment", &parts);
        let mut circumstances = Fields::default();
        circumstances.add(cwd.as_os_str().as_bytes()).add(environment).add(policy.as_str());
        circumstances
            .add(asked.setting.to_string())
            .add(asked.input_digest(key).unwrap_or_default());
        if let Some(recipe) = asked.recipe {
            circumstances.add(recipe.digest().as_str());
        }
        let circumstances = circumstances.finish();
        let mut call = Fields::default();
        let shell = format!("{:?}", asked.shell);
        call.add(asked.command).add(shell).add(circumstances.as_str());
        Self { call: call.finish(), circumstances }
    }
}

/// What a command would be given, for the person to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum ShownInput {
    /// So many bytes on its standard input. The text is shown only if it would be run: else it may be
    /// a password.
    Input {
        /// How many.
        bytes: u64,
        /// What would be run of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The command itself is typed into a job.
    Typed {
        /// Which.
        job: String,
    },
    /// What would be changed in files.
    Change {
        /// As a unified diff, cut where it grows too long.
        diff: String,
    },
}

/// Of what is run, this much is shown, in bytes.
const MOST_SHOWN_BYTES: usize = 16 << 10;

impl ShownInput {
    pub(crate) fn new(input: Input<'_>, is_run: bool) -> Option<Self> {
        match input {
            Input::Nothing => None,
            Input::Typed { job } => Some(Self::Typed { job: job.to_owned() }),
            Input::Change(diff) => Some(Self::Change { diff: diff.to_owned() }),
            Input::Bytes(bytes) => {
                let shown = &bytes[..bytes.len().min(MOST_SHOWN_BYTES)];
                let text = is_run.then(|| String::from_utf8_lossy(shown).into_owned());
                Some(Self::Input { bytes: bytes.len() as u64, text })
            }
        }
    }
}

/// A question about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its name.
    pub id: String,
    /// The command, as it would run.
    pub command: String,
    /// The shell that would read it.
    pub shell: Shell,
    /// Where it would run.
    pub cwd: String,
    /// How bad it may be.
    pub risk: Risk,
    /// Why an approval is needed.
    pub why: String,
    /// The prefixes that an answer could cover; empty if none is safe.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<Vec<String>>,
    /// What it would do, for those prefixes.
    #[serde(default)]
    pub shown: Shown,
    /// What it would be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ShownInput>,
    /// The variables that are set for it, by name: their values may be secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<String>,
    /// Whose run asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// When it was asked, in microseconds since 1970.
    pub asked_at: u64,
    /// Until when it can be answered.
    pub expires_at: u64,
    /// What an answer holds for.
    pub binding: Binding,
}

impl Question {
    /// The last six characters of its name, by which a person calls it.
    pub fn short(&self) -> &str {
        self.id.len().checked_sub(6).and_then(|at| self.id.get(at..)).unwrap_or(&self.id)
    }
}

/// What an approval covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covers {
    /// This very command.
    #[default]
    Command,
    /// Commands that begin with the same words.
    Prefix,
}

/// How long an approval holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// For one time.
    #[default]
    Once,
    /// For the run that asked.
    Run,
    /// Until a time, in microseconds since 1970.
    Until(u64),
}

/// Who may use an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsableBy {
    /// The run that asked.
    #[default]
    Asker,
    /// Any caller that wants the same.
    Anyone,
}

/// What an approved command was shown to do, so that commands of the same prefix do no more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// Its effects.
    pub effects: Vec<ShownEffect>,
    /// The names of its options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// One effect of an approved command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownEffect {
    /// Its nature.
    pub kind: Kind,
    /// How bad it is.
    pub risk: Risk,
}

impl Shown {
    pub(crate) fn new(subject: &Subject<'_>) -> Self {
        let mut effects: Vec<ShownEffect> = Vec::new();
        for located in &subject.located_effects {
            let shown = ShownEffect { kind: located.effect.kind, risk: located.risk };
            if !effects.contains(&shown) {
                effects.push(shown);
            }
        }
        let mut options: Vec<String> =
            subject.reading.commands.iter().flat_map(option_names).collect();
        options.sort();
        options.dedup();
        Self { effects, options }
    }

    /// Whether an effect of another command is no more than what was shown. Running a program that the
    /// text does not show never is: an option may name another one each time. Of a program nobody knows,
    /// any option may be such an option.
    pub(crate) fn covers(&self, subject: &Subject<'_>, located: &LocatedEffect<'_>) -> bool {
        let kind = located.effect.kind;
        let was_shown =
            self.effects.iter().any(|shown| shown.kind == kind && located.risk <= shown.risk);
        let runs_unseen = kind == Kind::Execute && located.effect.risk >= Risk::Unknown;
        let has_only_shown_options = || {
            let authors = subject.authors(located.effect);
            authors.into_iter().flat_map(option_names).all(|name| self.options.contains(&name))
        };
        was_shown && !runs_unseen && (kind != Kind::Unknown || has_only_shown_options())
    }
}

/// The names of the options of a command, without their values.
fn option_names(command: &SimpleCommand) -> Vec<String> {
    let words = command.argv.iter().skip(1).map(umbo_command::Word::likely);
    words
        .filter(|word| word.starts_with(['-', '+']))
        .map(|word| word.split_once('=').map_or(word, |(name, _)| name).to_owned())
        .collect()
}

/// A person's reply to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Reply {
    /// It may run.
    Approve {
        /// What it covers.
        #[serde(default)]
        covers: Covers,
        /// For how long.
        #[serde(default)]
        lasts: Lasts,
        /// By whom.
        #[serde(default)]
        usable_by: UsableBy,
    },
    /// It may not run.
    Deny {
        /// Why, for the model to read.
        reason: String,
    },
}

impl Reply {
    /// An approval for the run that asked.
    pub fn approve(covers: Covers, lasts: Lasts) -> Self {
        Self::Approve { covers, lasts, usable_by: UsableBy::Asker }
    }
}

/// A reply on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What was said.
    #[serde(flatten)]
    pub reply: Reply,
    /// Who said it.
    pub by: String,
    /// When, in microseconds since 1970.
    pub at: u64,
    /// Until when it holds.
    pub holds_until: u64,
}

/// Asks a person at once, on behalf of an embedding host.
pub trait Approver {
    /// Asks, and returns the reply and who gave it. `None`: nobody answered, which is not a denial.
    fn ask(&self, question: &Question) -> Option<(Reply, String)>;

    /// Asks about one call of a command that runs, which its sandbox holds meanwhile. `None`: nobody
    /// answered.
    fn ask_access(&self, question: &AccessQuestion) -> Option<AccessReply> {
        let _ = question;
        None
    }
}

/// What a process of a command wants to touch, which its sandbox does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessQuestion {
    /// The job.
    pub job: String,
    /// The command it runs.
    pub command: String,
    /// What the process wants to do, as a verb.
    pub operation: String,
    /// With exactly which path or host.
    pub target: String,
    /// Its command line.
    pub program: String,
    /// What can be granted, in words, the smallest first.
    pub grants: Vec<String>,
    /// How long an answer may take.
    pub left: std::time::Duration,
}

/// The answer to an [`AccessQuestion`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessReply {
    /// It may: this one of the grants.
    Allow(usize),
    /// It may not.
    Deny,
}
