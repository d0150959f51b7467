//! A project on disk, and what the gate says there.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use umbo_command::{Shell, read};
use umbo_gate::{
    Admission, Call, Decision, Explanation, Gate, Key, Mode, Policy, Refusal, Roots, Subject,
    Trust, decide,
};

/// The time at which tests happen.
pub(crate) const NOW: u64 = 1_800_000_000_000_000;

pub(crate) struct Project {
    directory: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/project/sub", "home/config", "home/state", "elsewhere"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        Self { directory }
    }

    pub(crate) fn base(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.base().join("home/project")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.base().join("home/state")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.base().join("home/config")
    }

    pub(crate) fn key(&self) -> Key {
        Key::open(&self.config()).unwrap()
    }

    pub(crate) fn policy(&self) -> Policy {
        let roots = Roots::new(&self.root())
            .home(Some(&self.base().join("home")))
            .umbo(&self.config(), &self.state());
        Policy::new(roots)
    }

    /// The policy with rules of the user.
    pub(crate) fn with(&self, rules: &str) -> Policy {
        self.policy().user(Path::new("rules.toml"), rules, umbo_gate::Trust::Trusted).unwrap()
    }

    /// What is wrong with a rule file.
    pub(crate) fn wrong(&self, rules: &str) -> String {
        self.policy()
            .user(Path::new("rules.toml"), rules, umbo_gate::Trust::Trusted)
            .unwrap_err()
            .to_string()
    }

    pub(crate) fn project_rules(&self, policy: Policy, rules: &str, trust: Trust) -> Policy {
        policy.project(&self.root().join(".umbo/rules.toml"), rules, trust).unwrap()
    }

    pub(crate) fn explain(&self, policy: &Policy, mode: Mode, command: &str) -> Explanation {
        let reading = read(command, Shell::Bash);
        let root = self.root();
        let subject = Subject::new(command, &reading, &root, policy.roots());
        decide(&subject, policy, mode, &[])
    }

    pub(crate) fn says(&self, policy: &Policy, mode: Mode, command: &str) -> Decision {
        self.explain(policy, mode, command).verdict.decision()
    }

    pub(crate) fn gate(&self, mode: Mode) -> Gate {
        Gate::open(self.policy(), mode, &self.state(), self.key()).unwrap()
    }
}

/// A call, to be changed at will.
pub(crate) fn call<'a>(command: &'a str, cwd: &'a Path) -> Call<'a> {
    Call { run: Some("run 1"), ..Call::new(command, Shell::Bash, cwd) }
}

/// The id of the approval a call has to wait for.
pub(crate) fn required(admission: &Admission) -> String {
    match admission {
        Admission::Refused(Refusal::ApprovalRequired { id, .. }) => id.clone(),
        other => panic!("{other:?} waits for nobody"),
    }
}
