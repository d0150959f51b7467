//! Where the gate's files are: keys, rules, trust, approvals and audit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use crate::approvals::Approvals;
use crate::audit::{AUDIT_BUDGET, Audit, OpenFiles};
use crate::confirmed::{Change, USER_FILES, UserFile, confirm};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::place::{Around, Roots, resolve};
use crate::policy::{Policy, Trust};
use crate::trust::{DIRECTORY, Snapshot, TrustStore};

/// Less room is too little for a few records of an audit.
const SMALLEST_AUDIT_BUDGET: u64 = 16 << 10;

/// The name of a file of rules.
const RULES: &str = "rules.toml";

/// The directories of one user: the configuration, with key, rules and trust, and the state, with
/// approvals and audit.
#[derive(Clone, Debug)]
pub struct GatePaths {
    config: PathBuf,
    state: PathBuf,
    home: Option<PathBuf>,
    scratch: Option<PathBuf>,
    /// How many bytes the audit may take.
    audit_budget: u64,
    /// Resolved once: a home does not move.
    resolved_home: Arc<OnceLock<Option<PathBuf>>>,
    /// Read once: it does not change.
    key: Arc<OnceLock<Key>>,
    /// One set of open files for all who write to the audit.
    audit_files: Arc<Mutex<OpenFiles>>,
}

/// The rule files that apply to a command, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSources {
    /// The project: what the caller may change.
    pub project: PathBuf,
    /// The user's rules: what was confirmed of them, and what was changed since.
    pub user: Vec<RuleText>,
    /// The rules of the directories from the command's upwards, outermost first.
    pub directories: Vec<RuleText>,
}

/// A file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// Whether it may loosen.
    pub trust: Trust,
}

impl GatePaths {
    /// The files in a configuration directory and a state directory.
    pub fn new(config: impl Into<PathBuf>, state: impl Into<PathBuf>) -> Self {
        Self {
            config: config.into(),
            state: state.into(),
            home: None,
            scratch: None,
            audit_budget: AUDIT_BUDGET,
            resolved_home: Arc::default(),
            key: Arc::default(),
            audit_files: Arc::default(),
        }
    }

    /// With the user's home.
    #[must_use]
    pub fn home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self.resolved_home = Arc::default();
        self
    }

    /// With the directory for temporary files.
    #[must_use]
    pub fn scratch(mut self, scratch: impl Into<PathBuf>) -> Self {
        self.scratch = Some(scratch.into());
        self
    }

    /// With another limit to how many bytes the audit may take, at least 16 KiB.
    #[must_use]
    pub fn audit_budget(mut self, bytes: u64) -> Self {
        self.audit_budget = bytes.max(SMALLEST_AUDIT_BUDGET);
        self
    }

    /// The state directory.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The user's key, made if there is none.
    pub fn key(&self) -> Result<Key> {
        if let Some(key) = self.key.get() {
            return Ok(key.clone());
        }
        let key = Key::open(&self.config)?;
        Ok(self.key.get_or_init(|| key).clone())
    }

    /// The approvals.
    pub fn approvals(&self) -> Result<Approvals> {
        Approvals::open(&self.state, self.key()?)
    }

    /// The audit.
    pub fn audit(&self) -> Result<Audit> {
        let audit = Audit::new(&self.state, self.key()?).with_budget(self.audit_budget);
        Ok(audit.with_files(&self.audit_files))
    }

    /// What the user trusts.
    pub fn trust(&self) -> Result<TrustStore> {
        Ok(TrustStore::open(&self.config, self.key()?))
    }

    /// The directories that decisions in a project depend on.
    pub fn roots(&self, project: &Path) -> Roots {
        let roots = Roots::new(project).home(self.home.as_deref()).umbo(&self.config, &self.state);
        match &self.scratch {
            Some(scratch) => roots.scratch(scratch),
            None => roots,
        }
    }

    /// The user's rules: what was confirmed of them, and what was changed since, which only tightens.
    pub fn user_rules(&self) -> Result<Vec<RuleText>> {
        let UserFile { path, confirmed, change } = match self.key.get() {
            Some(key) => UserFile::read_with(&self.config, RULES, Some(key))?,
            None => UserFile::read(&self.config, RULES)?,
        };
        let changed = match change {
            Some(Change::Written(bytes)) => Some((bytes, Trust::Untrusted)),
            Some(Change::Removed) | None => None,
        };
        let texts = confirmed.map(|bytes| (bytes, Trust::Trusted)).into_iter().chain(changed);
        texts.map(|(bytes, trust)| RuleText::new(path.clone(), bytes, trust)).collect()
    }

    /// The user's files that were changed, and not by a person's `umbo config`.
    pub fn unconfirmed_files(&self) -> Result<Vec<UserFile>> {
        let read = USER_FILES.into_iter().map(|name| UserFile::read(&self.config, name));
        let files: Vec<UserFile> = read.collect::<Result<_>>()?;
        Ok(files.into_iter().filter(|file| file.change.is_some()).collect())
    }

    /// Makes the key if the user has files that are to count as they are now, and there is none yet.
    pub fn guard_user_files(&self) -> Result<()> {
        let has_key = || self.config.join("key").symlink_metadata().is_ok();
        let has_file = |name: &&str| self.config.join(name).symlink_metadata().is_ok();
        if USER_FILES.iter().any(has_file) && !has_key() {
            self.key()?;
        }
        Ok(())
    }

    /// Confirms one of the user's files as it was shown.
    pub fn confirm_file(&self, file: &UserFile, now: u64) -> Result<()> {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        confirm(&self.config, &self.key()?, &name, file.current(), now)
    }

    /// The project's rules, if there are any, and whether they are trusted.
    pub fn project_rules(&self, project: &Path) -> Result<Option<RuleText>> {
        let snapshot = Snapshot::read(project)?;
        if snapshot.digests().next().is_none() {
            return Ok(None);
        }
        let states = self.trust()?.file_states(project, &snapshot)?;
        let Some((bytes, trust)) = snapshot.file(RULES, &states) else { return Ok(None) };
        let path = project.join(DIRECTORY).join(RULES);
        RuleText::new(path, bytes.to_vec(), trust).map(Some)
    }

    /// The rule files that apply to a caller that works in `base` and runs a command in `cwd`.
    pub fn rule_sources(&self, base: &Path, cwd: &Path) -> Result<RuleSources> {
        let home = self.resolved_home.get_or_init(|| self.home.as_deref().map(resolve));
        let Around { project, with_rules } = Around::look(base, cwd, home.as_deref());
        let user = self.user_rules()?;
        let mut directories = Vec::new();
        for directory in with_rules {
            directories.extend(self.project_rules(&directory)?);
        }
        Ok(RuleSources { project, user, directories })
    }

    /// All rules that hold in a directory.
    pub fn policy(&self, directory: &Path) -> Result<Policy> {
        self.policy_of(&self.rule_sources(directory, directory)?)
    }

    /// All rules, from texts that were read before.
    pub fn policy_of(&self, sources: &RuleSources) -> Result<Policy> {
        let mut policy = Policy::new(self.roots(&sources.project));
        for rules in &sources.user {
            policy = policy.user(&rules.path, &rules.text, rules.trust)?;
        }
        for rules in &sources.directories {
            policy = policy.project(&rules.path, &rules.text, rules.trust)?;
        }
        Ok(policy)
    }
}

impl RuleText {
    fn new(path: PathBuf, bytes: Vec<u8>, trust: Trust) -> Result<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Self { path, text, trust }),
            Err(_) => Err(Error::file("read", path)(std::io::Error::other("it is not UTF-8"))),
        }
    }
}
