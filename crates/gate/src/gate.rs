//! The gate as callers use it: a call is admitted, denied, or has to wait for an approval.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use umbo_command::{Reading, Risk, Shell};

use crate::approval::{Answer, Approver, Binding, Question, Reply, Shown, ShownInput, UsableBy};
use crate::approvals::{APPROVAL_LIFETIME_MICROS, Approval, ApprovalState, Approvals};
use crate::audit::{Audit, Event};
use crate::decision::Decision;
use crate::error::{Error, Result};
use crate::files::{self, FileEffect};
use crate::key::Key;
use crate::mode::Mode;
use crate::place::resolve;
use crate::policy::Policy;
use crate::recipe::Recipe;
use crate::refusal::{Declined, Refusal};
use crate::rule::Rule;
use crate::sandbox::Grounds;
use crate::subject::Subject;
use crate::surroundings::read_in;
use crate::verdict::{Explanation, Verdict, changing_prefixes, decide, suggest};

/// A command to decide about.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The text.
    pub command: &'a str,
    /// The shell that reads it.
    pub shell: Shell,
    /// Where it runs: absolute.
    pub cwd: &'a Path,
    /// The environment it gets.
    pub environment: &'a [(OsString, OsString)],
    /// The part of it that this call asks for.
    pub set: &'a [(OsString, OsString)],
    /// What the shell knows before it reads the text.
    pub shell_state: ShellState,
    /// What it is given.
    pub input: Input<'a>,
    /// Whatever else decides what the same words do, for an approval to hold to: the program of the
    /// shell, the name of its session. Written out only for an approval.
    pub setting: &'a (dyn std::fmt::Display + Sync),
    /// The task it runs.
    pub recipe: Option<Recipe<'a>>,
    /// The run it belongs to, for approvals that last as long.
    pub run: Option<&'a str>,
    /// Why an approval is needed although the mode would allow the command, if the caller's contract
    /// requires one. A rule that allows it still does.
    pub asks: Option<&'a str>,
    /// The profile of the sandbox it would run in, if in one.
    pub contained: Option<&'a str>,
    /// Why somebody is asked about the way it wants to run, whatever the mode would let through; a rule that
    /// allows it still does.
    pub leaves: Option<&'a str>,
    /// What a file tool does, if this is the call of one: then no command is read.
    pub files: &'a [FileEffect],
}

impl<'a> Call<'a> {
    /// A command in a directory, of which nothing else is known.
    pub fn new(command: &'a str, shell: Shell, cwd: &'a Path) -> Self {
        Self {
            command,
            shell,
            cwd,
            environment: &[],
            set: &[],
            shell_state: ShellState::Fresh,
            input: Input::Nothing,
            setting: &"",
            recipe: None,
            run: None,
            asks: None,
            contained: None,
            leaves: None,
            files: &[],
        }
    }
}

impl std::fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let variables = self.environment.len();
        f.debug_struct("Call")
            .field("command", &self.command)
            .field("cwd", &self.cwd)
            .field("environment", &variables)
            .finish_non_exhaustive()
    }
}

/// What a command is given, or is itself given to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Input<'a> {
    /// Nothing, or something that is not known.
    #[default]
    Nothing,
    /// These bytes, on its standard input.
    Bytes(&'a [u8]),
    /// The command is itself typed, into this job.
    Typed {
        /// Which.
        job: &'a str,
    },
    /// A file tool's: what it would change, as a diff. Only shown: an approval is bound to what is written.
    Change(&'a str),
}

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It may be a password.
        match self {
            Self::Nothing => f.write_str("Nothing"),
            Self::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Self::Typed { job } => write!(f, "Typed({job})"),
            Self::Change(diff) => write!(f, "Change({})", diff.len()),
        }
    }
}

/// What a shell knows before it reads a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShellState {
    /// Nothing but its environment.
    #[default]
    Fresh,
    /// Functions, aliases or a directory of earlier commands or of the user's set-up: any word may
    /// mean something else, so nothing is certain.
    Carried,
}

impl Call<'_> {
    /// What the command would do, with what its environment makes of it.
    pub fn reading(&self) -> Reading {
        if !self.files.is_empty() {
            return files::reading(self.files);
        }
        let text = |text: &OsString| text.to_string_lossy().into_owned();
        let variables: Vec<(String, String)> =
            self.set.iter().map(|(name, value)| (text(name), text(value))).collect();
        let read = |input: Option<&str>| {
            let given = umbo_command::Given { input, variables: &variables, files: &[] };
            let home = self.environment.iter().rev().find(|(name, _)| name == "HOME");
            let home = home.map(|(_, value)| Path::new(value));
            read_in(self.command, self.shell, given, self.cwd, home)
        };
        let mut reading = match self.input {
            Input::Nothing | Input::Change(_) => read(None),
            Input::Typed { .. } => umbo_command::read_typed(self.command),
            Input::Bytes(bytes) => read(Some(&String::from_utf8_lossy(bytes))),
        };
        if self.shell_state == ShellState::Carried || self.has_functions() {
            if reading.risk < Risk::Unknown {
                "The shell brings functions or aliases of its own, so what it does is not certain."
                    .clone_into(&mut reading.reason);
            }
            reading.risk = reading.risk.and(Risk::Unknown);
            reading.exact = false;
            reading.common_fs = false;
        }
        reading
    }

    /// What some rules say about it in a mode, and why. Nothing is recorded or used up.
    pub fn explain(&self, policy: &Policy, mode: Mode) -> Explanation {
        let reading = self.reading();
        self.weigh(&self.subject(&reading, policy), policy, mode, &[])
    }

    /// The same, with what its sandbox would follow from.
    pub fn explain_with_grounds(&self, policy: &Policy, mode: Mode) -> (Explanation, Grounds) {
        let reading = self.reading();
        let explained = self.weigh(&self.subject(&reading, policy), policy, mode, &[]);
        let grounds = Grounds::new(&explained, &reading.effects);
        (explained, grounds)
    }

    /// The verdict on it and on what its task runs, with some prefixes approved.
    fn weigh(
        &self,
        subject: &Subject<'_>,
        policy: &Policy,
        mode: Mode,
        grants: &[Rule],
    ) -> Explanation {
        let own = decide(subject, policy, mode, grants);
        let mut explained = self.with_scripts(own, policy, mode, grants);
        let outside = files::asks(self.files, mode, policy.roots());
        if let Some(why) = self.asks.or(outside.as_deref())
            && explained.decided_by.is_none()
            && matches!(explained.verdict, Verdict::Allow { .. })
        {
            let (why, suggestion) = (why.to_owned(), suggest(subject.reading));
            explained.verdict = Verdict::Ask { why, suggestion };
        }
        if let Some(leaves) = self.leaves
            && explained.decided_by.is_none()
        {
            let why = match &explained.verdict {
                Verdict::Allow { .. } => leaves.to_owned(),
                Verdict::Ask { why, .. } => format!("{leaves} {why}"),
                Verdict::Deny { .. } => return explained,
            };
            // A rule for its words would not say how it runs.
            explained.verdict = Verdict::Ask { why, suggestion: None };
        }
        explained
    }

    /// What rules are matched against.
    fn subject<'s>(&'s self, reading: &'s Reading, policy: &'s Policy) -> Subject<'s> {
        if !self.files.is_empty() {
            return Subject::of_files(self.command, reading, self.files, policy.roots());
        }
        Subject::in_environment(self.command, reading, self.cwd, policy.roots(), self.environment)
            .recipe(self.recipe.map(|recipe| recipe.name))
            .contained(self.contained)
    }

    /// A keyed hash of what it is given: the text may be a password.
    pub(crate) fn input_digest(&self, key: &Key) -> Option<String> {
        match self.input {
            Input::Bytes(bytes) => Some(key.sign("input", &[bytes])),
            Input::Typed { job } => Some(key.sign("typed into", &[job.as_bytes()])),
            Input::Nothing | Input::Change(_) => None,
        }
    }

    /// Whether the environment brings functions, or a file that a shell reads first.
    fn has_functions(&self) -> bool {
        let brings = |(name, value): &(OsString, OsString)| {
            let name = name.as_encoded_bytes();
            name.starts_with(b"BASH_FUNC_")
                || (matches!(name, b"BASH_ENV" | b"ZDOTDIR") && !value.is_empty())
        };
        self.environment.iter().any(brings) || self.set.iter().any(brings)
    }
}

/// What the gate answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may run, now.
    Admitted {
        /// Why.
        why: String,
        /// The approval it was admitted by, which may be used up by it.
        approval: Option<String>,
        /// The number of the record that says so.
        record: u64,
        /// What its sandbox follows from.
        grounds: Grounds,
    },
    /// It does not run, or not yet.
    Refused(Refusal),
}

/// Rules, mode, approvals and audit together.
pub struct Gate {
    policy: Arc<Policy>,
    mode: Mode,
    approvals: Approvals,
    audit: Audit,
    key: Key,
    approver: Option<Box<dyn Approver + Send + Sync>>,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Why a call may run, and by which approval; or the refusal.
type Permission = std::result::Result<(String, Option<String>), Refusal>;

/// The answer to a call that is on record already.
enum PriorAnswer {
    Approved(String),
    Refused(Refusal),
    None,
}

impl Gate {
    /// A gate over a state directory.
    pub fn open(
        policy: impl Into<Arc<Policy>>,
        mode: Mode,
        state: &Path,
        key: Key,
    ) -> Result<Self> {
        let approvals = Approvals::open(state, key.clone())?;
        let audit = Audit::new(state, key.clone());
        Ok(Self { policy: policy.into(), mode, approvals, audit, key, approver: None })
    }

    /// With another audit than that of its state directory with its usual budget.
    #[must_use]
    pub fn with_audit(mut self, audit: Audit) -> Self {
        self.audit = audit;
        self
    }

    /// With an approver that can answer at once.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + Send + Sync + 'static) -> Self {
        self.approver = Some(Box::new(approver));
        self
    }

    /// Its approvals.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// Its audit.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Its rules.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What it would say, and why. Nothing is recorded or used up.
    pub fn explain(&self, call: &Call<'_>) -> Explanation {
        call.explain(&self.policy, self.mode)
    }

    /// Decides about a call at a time, and records that.
    pub fn admit(&self, call: &Call<'_>, now: u64) -> Result<Admission> {
        let host = self.approver.as_deref().map(|host| host as &dyn Approver);
        self.admit_asking(call, host, now)
    }

    /// As [`Gate::admit`], with an approver for this call.
    pub fn admit_asking(
        &self,
        call: &Call<'_>,
        host: Option<&dyn Approver>,
        now: u64,
    ) -> Result<Admission> {
        let reading = call.reading();
        let subject = call.subject(&reading, &self.policy);
        let explained = call.weigh(&subject, &self.policy, self.mode, &[]);
        let permission = match &explained.verdict {
            Verdict::Allow { why } => Ok((why.clone(), None)),
            Verdict::Deny { by, reason } => {
                Err(Refusal::Denied { by: by.clone(), reason: reason.clone(), question: None })
            }
            Verdict::Ask { why, .. } => {
                self.ask_person(call, &subject, (why, explained.risk), host, now)?
            }
        };
        let record = self.record(call, &explained, &permission, now)?;
        Ok(match permission {
            Ok((why, approval)) => {
                let grounds = Grounds::new(&explained, &reading.effects);
                Admission::Admitted { why, approval, record, grounds }
            }
            Err(refusal) => Admission::Refused(refusal),
        })
    }

    /// As [`Gate::admit`], for a caller who comes back with an approval it was told to wait for.
    pub fn admit_with(&self, call: &Call<'_>, id: &str, now: u64) -> Result<Admission> {
        let approval = self.approvals.find(id, now)?;
        if matches!(approval.state, ApprovalState::Expired | ApprovalState::Used(_)) {
            return Ok(Admission::Refused(Refusal::Expired { id: approval.question.id }));
        }
        self.admit(call, now)
    }

    fn ask_person(
        &self,
        call: &Call<'_>,
        subject: &Subject<'_>,
        (why, risk): (&str, Risk),
        host: Option<&dyn Approver>,
        now: u64,
    ) -> Result<Permission> {
        let digest = self.policy.digest();
        // Resolved: a link that leads elsewhere now is another directory.
        let cwd = resolve(call.cwd);
        let binding = Binding::new(&self.key, call, &cwd, digest);
        let listed = self.listed(now)?;
        match self.prior_answer(call, subject, &binding, &listed, now)? {
            PriorAnswer::Approved(id) => return Ok(Ok(approved(id))),
            PriorAnswer::Refused(refusal) => return Ok(Err(refusal)),
            PriorAnswer::None => {}
        }
        let question = Question {
            id: ulid::Ulid::generate().to_string().to_ascii_lowercase(),
            command: call.command.to_owned(),
            shell: call.shell,
            cwd: call.cwd.display().to_string(),
            risk,
            why: why.to_owned(),
            prefixes: changing_prefixes(subject.reading).unwrap_or_default(),
            shown: Shown::new(subject),
            input: ShownInput::new(call.input, subject.reading.runs_input),
            sets: call.set.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect(),
            run: call.run.map(str::to_owned),
            asked_at: now,
            expires_at: now.saturating_add(APPROVAL_LIFETIME_MICROS),
            binding: binding.clone(),
        };
        let question = self.approvals.ask_beside(listed.iter(), question)?;
        if let Some((reply, by)) = host.and_then(|host| host.ask(&question)) {
            match self.answer(&question.id, reply, &by, now) {
                // Another answer came first and counts.
                Ok(_) | Err(Error::Answered(_) | Error::Declined(_)) => {}
                Err(error) => return Err(error),
            }
            match self.prior_answer(call, subject, &binding, &self.listed(now)?, now)? {
                PriorAnswer::Approved(id) => return Ok(Ok(approved(id))),
                PriorAnswer::Refused(refusal) => return Ok(Err(refusal)),
                PriorAnswer::None => {}
            }
        }
        Ok(Err(Refusal::ApprovalRequired {
            id: question.id,
            why: question.why,
            risk: question.risk,
            expires_at: question.expires_at,
            prefixes: question.prefixes,
        }))
    }

    /// Records that somebody else denied a call, for a reason.
    pub fn record_denial(&self, call: &Call<'_>, by: &str, reason: &str, now: u64) -> Result<u64> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        let settled = Err(Refusal::Denied { by, reason, question: None });
        self.record(call, &self.explain(call), &settled, now)
    }

    /// Answers a question, and records that.
    pub fn answer(&self, id: &str, reply: Reply, by: &str, now: u64) -> Result<Answer> {
        answer(&self.approvals, &self.audit, id, reply, by, now)
    }

    /// All approvals. What was tampered with counts for nothing.
    fn listed(&self, now: u64) -> Result<Vec<Approval>> {
        Ok(self.approvals.list(now)?.into_iter().filter_map(std::result::Result::ok).collect())
    }

    /// The answer an earlier approval gives to this call; marks a single-use one as used.
    fn prior_answer(
        &self,
        call: &Call<'_>,
        subject: &Subject<'_>,
        binding: &Binding,
        approvals: &[Approval],
        now: u64,
    ) -> Result<PriorAnswer> {
        let holding = || {
            approvals.iter().filter_map(|approval| match &approval.state {
                ApprovalState::Answered(answer) => Some((approval, answer)),
                _ => None,
            })
        };
        let own = || holding().filter(|(held, _)| held.is_for(binding, call.run));
        // Denials first: an approval of another caller's question does not replace this caller's denial.
        if let Some(refusal) = own().find_map(|(approval, answer)| declined(approval, answer)) {
            return Ok(PriorAnswer::Refused(refusal));
        }
        for (approval, _) in own() {
            if self.approvals.take(approval, now)? {
                return Ok(PriorAnswer::Approved(approval.question.id.clone()));
            }
        }
        for (approval, _) in holding() {
            let grants = approval.prefixes(binding, call.run);
            if grants.is_empty() {
                continue;
            }
            let explained = call.weigh(subject, &self.policy, self.mode, &grants);
            if explained.verdict.decision() == Decision::Allow
                && self.approvals.take(approval, now)?
            {
                return Ok(PriorAnswer::Approved(approval.question.id.clone()));
            }
        }
        Ok(PriorAnswer::None)
    }

    fn record(
        &self,
        call: &Call<'_>,
        explained: &Explanation,
        permission: &Permission,
        now: u64,
    ) -> Result<u64> {
        let mode = || format!("mode {}", self.mode);
        let (decision, by, reason, approval) = match permission {
            Ok((why, approval)) => (Decision::Allow, None, why.clone(), approval.clone()),
            Err(Refusal::ApprovalRequired { id, why, .. }) => {
                (Decision::Ask, None, why.clone(), Some(id.clone()))
            }
            Err(Refusal::Denied { by, reason, question }) => {
                let approval = question.as_ref().map(|question| question.id.clone());
                (Decision::Deny, Some(by.clone()), reason.clone(), approval)
            }
            Err(Refusal::Expired { id }) => {
                (Decision::Deny, None, "The approval has expired.".to_owned(), Some(id.clone()))
            }
        };
        let by = by.unwrap_or_else(|| {
            explained.decided_by.as_ref().map_or_else(mode, crate::policy::Matched::source)
        });
        let event = Event::Verdict {
            command: call.command.to_owned(),
            cwd: call.cwd.display().to_string(),
            mode: self.mode.to_string(),
            risk: explained.risk,
            decision,
            by,
            reason,
            approval,
            input: call.input_digest(&self.key),
            sandbox: call.contained.map(str::to_owned),
            policy: self.policy.digest().clone(),
        };
        Ok(self.audit.append(&event, now)?.seq)
    }
}

fn approved(id: String) -> (String, Option<String>) {
    ("It was approved.".to_owned(), Some(id))
}

/// The refusal that an answer means, if it is a denial.
fn declined(approval: &Approval, answer: &Answer) -> Option<Refusal> {
    let Reply::Deny { reason } = &answer.reply else { return None };
    let question = Declined { id: approval.question.id.clone(), expires_at: answer.holds_until };
    let (by, reason) = (answer.by.clone(), reason.clone());
    Some(Refusal::Denied { by, reason, question: Some(question) })
}

/// Answers a question and records the answer, for callers without a [`Gate`].
pub fn answer(
    approvals: &Approvals,
    audit: &Audit,
    id: &str,
    reply: Reply,
    by: &str,
    now: u64,
) -> Result<Answer> {
    let id = approvals.find(id, now)?.question.id;
    let answer = approvals.answer(&id, reply, by, now)?;
    record_answer(audit, id, in_words(&answer.reply), by, now)?;
    Ok(answer)
}

/// As [`answer`], for a question that was denied: the record says who had denied it.
pub fn overturn(
    approvals: &Approvals,
    audit: &Audit,
    id: &str,
    reply: Reply,
    by: &str,
    now: u64,
) -> Result<Answer> {
    let id = approvals.find(id, now)?.question.id;
    let (answer, no) = approvals.overturn(&id, reply, by, now)?;
    let said =
        format!("{}; overturns {}, by {}", in_words(&answer.reply), in_words(&no.reply), no.by);
    record_answer(audit, id, said, by, now)?;
    Ok(answer)
}

/// Records the answer to a question.
fn record_answer(audit: &Audit, id: String, said: String, by: &str, now: u64) -> Result<()> {
    let event = Event::Answer { approval: id, answer: said, by: by.to_owned() };
    audit.append(&event, now).map(drop)
}

fn in_words(reply: &Reply) -> String {
    match reply {
        Reply::Approve { covers, lasts, usable_by } => {
            let whose = if *usable_by == UsableBy::Anyone { " by anyone" } else { "" };
            format!("approve {covers:?} {lasts:?}{whose}").to_lowercase()
        }
        Reply::Deny { reason } => format!("deny: {reason}"),
    }
}
