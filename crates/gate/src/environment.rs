//! Which variables a command gets.

use std::ffi::{OsStr, OsString};

use serde::{Deserialize, Serialize};

use crate::glob;

/// Where the environment begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Inherit {
    /// With everything the caller has.
    #[default]
    All,
    /// With what programs need to find their way.
    Core,
    /// With nothing.
    None,
}

/// What programs need to find their way.
const CORE_VARIABLES: [&str; 20] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "PWD",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "TZ",
    "USER",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "COLORTERM",
];

/// Umbo's own secrets, which no command gets.
const OWN_SECRETS: [&str; 5] =
    ["UMBO_*KEY*", "UMBO_*TOKEN*", "UMBO_*SECRET*", "UMBO_*PASSWORD*", "UMBO_RUN"];

/// The variable that says of which job a process is part.
const JOB_VARIABLE: &str = "UMBO_JOB";

/// Which variables a command gets: inherited, less `exclude`, plus `include`, then `set`. Patterns are
/// names with `*` and `?`; case counts.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EnvironmentPolicy {
    /// Where it begins.
    pub inherit: Inherit,
    /// What is taken away.
    pub exclude: Vec<String>,
    /// What is given back of what the caller has.
    pub include: Vec<String>,
    /// What is set in any case.
    pub set: Vec<(String, String)>,
}

impl std::fmt::Debug for EnvironmentPolicy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be secrets; names are not.
        let names: Vec<_> = self.set.iter().map(|(name, _)| name).collect();
        f.debug_struct("EnvironmentPolicy")
            .field("inherit", &self.inherit)
            .field("exclude", &self.exclude)
            .field("include", &self.include)
            .field("set", &names)
            .finish()
    }
}

impl EnvironmentPolicy {
    /// The environment of a command whose caller has `base`. The caller's order is kept.
    pub fn apply(&self, base: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
        let fits = |patterns: &[String], name: &OsStr| {
            !patterns.is_empty() && {
                let name = name.to_string_lossy();
                patterns.iter().any(|pattern| glob::matches(pattern, &name))
            }
        };
        let listed = |patterns: &[&str], name: &OsStr| {
            let name = name.to_string_lossy();
            patterns.iter().any(|pattern| glob::matches(pattern, &name))
        };
        let wanted = |name: &OsStr| {
            let inherited = match self.inherit {
                Inherit::All => true,
                Inherit::Core => listed(&CORE_VARIABLES, name),
                Inherit::None => false,
            };
            // Of which job the caller is part is not for a policy to hide; the command gets its own.
            name == JOB_VARIABLE
                || !listed(&OWN_SECRETS, name)
                    && ((inherited && !fits(&self.exclude, name)) || fits(&self.include, name))
        };
        let mut environment: Vec<(OsString, OsString)> = base
            .iter()
            .filter(|(name, _)| {
                wanted(name) && !self.set.iter().any(|(set, _)| name == set.as_str())
            })
            .cloned()
            .collect();
        environment.extend(
            self.set.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))),
        );
        environment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(policy: &EnvironmentPolicy) -> Vec<String> {
        let base: Vec<(OsString, OsString)> =
            ["PATH", "HOME", "LC_ALL", "AWS_SECRET", "UMBO_KEY", "EDITOR", "UMBO_STATE_DIR"]
                .iter()
                .map(|name| (OsString::from(name), OsString::from("x")))
                .collect();
        policy.apply(&base).into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn by_default_everything_is_inherited_but_umbos_own_keys() {
        let policy = EnvironmentPolicy::default();
        let expected = ["PATH", "HOME", "LC_ALL", "AWS_SECRET", "EDITOR", "UMBO_STATE_DIR"];
        assert_eq!(names(&policy), expected);
    }

    #[test]
    fn exclusion_then_inclusion_then_setting() {
        let policy = EnvironmentPolicy {
            exclude: vec!["*".into()],
            include: vec!["P*".into(), "UMBO_KEY".into()],
            set: vec![("CI".into(), "1".into())],
            ..EnvironmentPolicy::default()
        };
        assert_eq!(names(&policy), ["PATH", "CI"], "umbo's own keys cannot be included");
        let core = EnvironmentPolicy { inherit: Inherit::Core, ..EnvironmentPolicy::default() };
        assert_eq!(names(&core), ["PATH", "HOME", "LC_ALL"]);
        let none = EnvironmentPolicy { inherit: Inherit::None, ..EnvironmentPolicy::default() };
        assert!(names(&none).is_empty());
        let base = [("UMBO_JOB".into(), "x".into())];
        assert_eq!(none.apply(&base), base, "a job inside a job is known as one");
    }

    #[test]
    fn values_do_not_reach_debug() {
        let policy = EnvironmentPolicy {
            set: vec![("TOKEN".into(), "hunter2".into())],
            ..EnvironmentPolicy::default()
        };
        assert!(!format!("{policy:?}").contains("hunter2"));
    }
}
