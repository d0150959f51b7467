//! Where requests meet the gate: what a request asks for, which rules hold where it would run, and
//! the audit of what became of it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use umbo_command::Shell as Language;
use umbo_engine::{Command, Job, Login, Outcome, Profile, Request, Shell};
use umbo_gate::{
    Admission, Approver, Call, Decision, Error, Gate, Key, Mode, Policy, Premises, Refusal,
    RuleText, ShellState, project_of,
};

use crate::call::now;
use crate::clerk::{Clerk, Entry};

/// How many projects' rules are kept at hand.
const MOST_PROJECTS: usize = 64;

/// Lets requests through or not, and keeps the audit.
#[derive(Debug)]
pub struct Gatekeeper {
    premises: Premises,
    mode: Mode,
    records: Records,
    run: Option<String>,
    policies: Mutex<HashMap<PathBuf, Kept>>,
    key: Mutex<Option<Key>>,
    clerk: Clerk,
}

/// What the audit is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Records {
    /// Everything that was asked for.
    Everything,
    /// What was not let through.
    Refusals,
}

/// The rules of one project, and the texts they were made from.
#[derive(Debug)]
struct Kept {
    user: Option<RuleText>,
    own: Option<RuleText>,
    policy: Arc<Policy>,
}

/// What a request asks to run, as text.
struct Asked {
    text: String,
    language: Language,
    state: ShellState,
}

/// Why a request may not run.
#[derive(Debug, thiserror::Error)]
pub enum NotAdmitted {
    /// The gate says so.
    #[error("{0}")]
    Refused(Refusal),
    /// The gate cannot decide.
    #[error(transparent)]
    Gate(#[from] Error),
}

/// A request that may run: what becomes of it is recorded.
#[derive(Debug)]
#[must_use]
pub struct Passage<'a> {
    /// Who records it, and the number of the record that lets it run.
    record: Option<(&'a Clerk, u64)>,
}

impl Gatekeeper {
    /// A gatekeeper over the files of a user, who records everything.
    pub fn new(premises: Premises, mode: Mode) -> Self {
        Self {
            clerk: Clerk::new(premises.clone()),
            premises,
            mode,
            records: Records::Everything,
            run: None,
            policies: Mutex::default(),
            key: Mutex::default(),
        }
    }

    /// With another measure of what is recorded.
    #[must_use]
    pub fn records(mut self, records: Records) -> Self {
        self.records = records;
        self
    }

    /// The run that its requests belong to, for approvals that last as long.
    #[must_use]
    pub fn run(mut self, run: Option<String>) -> Self {
        self.run = run;
        self
    }

    /// The mode it decides in.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a request may run. `recipe` is the task it comes from, `tools` is what the caller
    /// has beside the shell, `host` can be asked at once.
    pub fn admit(
        &self,
        request: &Request,
        recipe: Option<&str>,
        tools: &[&str],
        host: Option<&dyn Approver>,
    ) -> Result<Passage<'_>, NotAdmitted> {
        let asked = Asked::new(request);
        let environment: Vec<(OsString, OsString)> =
            request.env.base.iter().chain(&request.env.set).cloned().collect();
        let call = Call {
            command: &asked.text,
            shell: asked.language,
            cwd: &request.cwd,
            environment: &environment,
            set: &request.env.set,
            shell_state: asked.state,
            recipe,
            run: self.run.as_deref(),
            tools,
        };
        self.decide(&call, self.records, host)
    }

    /// Whether a text may be typed into a job. Only a refusal is recorded: what is typed may be a
    /// password.
    pub fn admit_input(
        &self,
        job: &Job,
        text: &str,
        host: Option<&dyn Approver>,
    ) -> Result<(), NotAdmitted> {
        let cwd = job.summary().map(|summary| PathBuf::from(summary.cwd)).unwrap_or_default();
        let call = Call {
            command: text,
            shell: Language::Bash,
            cwd: &cwd,
            environment: &[],
            set: &[],
            // Whatever reads it has a state of its own.
            shell_state: ShellState::Carried,
            recipe: None,
            run: self.run.as_deref(),
            tools: &[],
        };
        self.decide(&call, Records::Refusals, host).map(|_| ())
    }

    fn decide(
        &self,
        call: &Call<'_>,
        records: Records,
        host: Option<&dyn Approver>,
    ) -> Result<Passage<'_>, NotAdmitted> {
        let policy = self.policy(call.cwd)?;
        // Without a record there is no need of a key, or of a place for it.
        if records == Records::Refusals
            && call.explain(&policy, self.mode).verdict.decision() == Decision::Allow
        {
            return Ok(Passage { record: None });
        }
        let gate = Gate::open(policy, self.mode, self.premises.state(), self.key()?)?;
        match gate.admit_asking(call, host, now())? {
            Admission::Admitted { record, .. } => {
                Ok(Passage { record: Some((&self.clerk, record)) })
            }
            Admission::Refused(refusal) => Err(NotAdmitted::Refused(refusal)),
        }
    }

    fn key(&self) -> Result<Key, Error> {
        let mut kept = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = &*kept {
            return Ok(key.clone());
        }
        let key = self.premises.key()?;
        *kept = Some(key.clone());
        Ok(key)
    }

    /// The rules for a directory, read anew if a file of rules has changed.
    fn policy(&self, directory: &Path) -> Result<Arc<Policy>, Error> {
        let project = project_of(directory);
        let user = self.premises.user_rules()?;
        let own = self.premises.project_rules(&project)?;
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = policies.get(&project)
            && kept.user == user
            && kept.own == own
        {
            return Ok(Arc::clone(&kept.policy));
        }
        let policy = Arc::new(self.premises.policy_of(&project, user.as_ref(), own.as_ref())?);
        if policies.len() >= MOST_PROJECTS {
            policies.clear();
        }
        policies.insert(project, Kept { user, own, policy: Arc::clone(&policy) });
        Ok(policy)
    }
}

impl Passage<'_> {
    /// The job runs.
    pub fn started(&self, job: &Job) {
        if let Some((clerk, verdict)) = self.record {
            clerk.write(Entry::Started { job: job.id().to_string(), verdict });
        }
    }

    /// The job is over.
    pub fn ended(&self, job: &Job, outcome: &Outcome) {
        if let Some((clerk, _)) = self.record {
            clerk.write(Entry::Ended(job.clone(), Box::new(outcome.clone())));
        }
    }
}

impl Asked {
    fn new(request: &Request) -> Self {
        let carried = request.session.is_some() || request.profile != Profile::None;
        let fresh = if carried { ShellState::Carried } else { ShellState::Fresh };
        match &request.command {
            Command::Shell { text, shell, login } => {
                let (language, known) = language(shell);
                let state = if *login != Login::No || !known { ShellState::Carried } else { fresh };
                Self { text: text.clone(), language, state }
            }
            Command::Argv(words) => {
                let exact = words.iter().all(|word| word.to_str().is_some());
                let text: Vec<String> =
                    words.iter().map(|word| quote(&word.to_string_lossy())).collect();
                let state = if exact { fresh } else { ShellState::Carried };
                Self { text: text.join(" "), language: Language::Posix, state }
            }
        }
    }
}

/// The language a shell reads, and whether that is certain.
fn language(shell: &Shell) -> (Language, bool) {
    match shell {
        Shell::Sh => (Language::Posix, true),
        Shell::Bash => (Language::Bash, true),
        Shell::Zsh => (Language::Zsh, true),
        Shell::Fish => (Language::Fish, true),
        Shell::Nu => (Language::Nu, true),
        // Which of the two it will be is found out only when it starts.
        Shell::NuOrSh => (Language::Posix, false),
        Shell::Path(path) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Language::named(&name).map_or((Language::Posix, false), |language| (language, true))
        }
    }
}

/// A word as a shell has to be given it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
