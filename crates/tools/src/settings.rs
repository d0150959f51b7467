//! Settings that a contract has: the table `tools.shell` of a configuration.

use std::path::PathBuf;

/// How shell tools behave where their contract leaves it to a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSettings {
    /// Whether a dialect that is off by default is on.
    pub enabled: bool,
    /// The timeout of commands that give none, in seconds.
    pub default_timeout_secs: u64,
    /// Whether commands may only run inside of the project.
    pub restrict_to_project: bool,
    /// The shell, as `nu`, `bash` or a path.
    pub shell: String,
    /// The shell's program, which then counts.
    pub shell_path: Option<PathBuf>,
    /// The project, if it is not the directory of the toolset.
    pub project_root: Option<PathBuf>,
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            default_timeout_secs: 30,
            restrict_to_project: true,
            shell: "nu".to_owned(),
            shell_path: None,
            project_root: None,
        }
    }
}
