//! The settings of `meerkat`: the table `tools.shell` of its document.

use std::path::PathBuf;

use crate::settings::{Setting, SettingDefault, SettingKind, Settings, Tightens};

/// All of them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "tools.shell.enabled",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("false"),
        tightens: Tightens::Only(false),
        doc: "whether the dialect `meerkat` is on",
    },
    Setting {
        key: "tools.shell.default_timeout_secs",
        kind: SettingKind::Count,
        default: SettingDefault::Text("30"),
        tightens: Tightens::Lower,
        doc: "the time limit in `meerkat`; if set, in `umbo` too",
    },
    Setting {
        key: "tools.shell.restrict_to_project",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("true"),
        tightens: Tightens::Only(true),
        doc: "whether `meerkat` works inside of the project only; if set to true, every command of every entry point does",
    },
    Setting {
        key: "tools.shell.shell",
        kind: SettingKind::Program,
        default: SettingDefault::Text("nu"),
        tightens: Tightens::Nothing,
        doc: "what reads the lines of `meerkat`; where there is no `nu`, `sh` does",
    },
    Setting {
        key: "tools.shell.shell_path",
        kind: SettingKind::Path,
        default: SettingDefault::Nothing,
        tightens: Tightens::Nothing,
        doc: "the same as the path of a program, which then counts",
    },
    Setting {
        key: "tools.shell.max_completed_jobs",
        kind: SettingKind::Count,
        default: SettingDefault::Text("100"),
        tightens: Tightens::Lower,
        doc: "how many ended jobs agents see in lists",
    },
    Setting {
        key: "tools.shell.completed_job_ttl_secs",
        kind: SettingKind::Number,
        default: SettingDefault::Text("300"),
        tightens: Tightens::Lower,
        doc: "for how long they see them there",
    },
    Setting {
        key: "tools.shell.max_concurrent_processes",
        kind: SettingKind::Count,
        default: SettingDefault::As("max_running", "10"),
        tightens: Tightens::Lower,
        doc: "how many jobs run at once when an agent starts another",
    },
];

/// What they come to: the `ShellConfig` of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellConfig {
    /// Whether the tools may be called at all.
    pub enabled: bool,
    /// The timeout of commands that give none, in seconds.
    pub default_timeout_secs: u64,
    /// Whether commands may only run inside of the project.
    pub restrict_to_project: bool,
    /// The shell, as `nu`, `bash` or a path.
    pub shell: String,
    /// The shell's executable, if it is not to be looked for.
    pub shell_path: Option<PathBuf>,
    /// How many ended jobs are remembered.
    pub max_completed_jobs: usize,
    /// For how long they are, in seconds.
    pub completed_job_ttl_secs: u64,
    /// How many commands may run at once.
    pub max_concurrent_processes: usize,
}

impl ShellConfig {
    pub(super) fn new(settings: &Settings) -> Self {
        let seconds = |key| settings.number(key).unwrap_or(u64::MAX);
        Self {
            enabled: settings.flag("tools.shell.enabled"),
            default_timeout_secs: seconds("tools.shell.default_timeout_secs"),
            restrict_to_project: settings.flag("tools.shell.restrict_to_project"),
            shell: settings.text("tools.shell.shell").unwrap_or_default().to_owned(),
            shell_path: settings.text("tools.shell.shell_path").map(PathBuf::from),
            max_completed_jobs: settings.count("tools.shell.max_completed_jobs"),
            completed_job_ttl_secs: seconds("tools.shell.completed_job_ttl_secs"),
            max_concurrent_processes: settings.count("tools.shell.max_concurrent_processes"),
        }
    }
}

impl Default for ShellConfig {
    fn default() -> Self {
        Self::new(&Settings::of(SETTINGS))
    }
}
