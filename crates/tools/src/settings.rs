//! Settings that a contract has.

use std::path::PathBuf;
use std::time::Duration;

/// How shell tools behave where their contract leaves it to a configuration: the table
/// `tools.shell`.
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
    /// The shell's executable, if it is not to be looked for.
    pub shell_path: Option<PathBuf>,
    /// The project, if it is not the directory of the toolset.
    pub project_root: Option<PathBuf>,
    /// How many ended jobs are remembered.
    pub max_completed_jobs: usize,
    /// For how long they are, in seconds.
    pub completed_job_ttl_secs: u64,
    /// How many commands may run at once.
    pub max_concurrent_processes: usize,
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
            max_completed_jobs: 100,
            completed_job_ttl_secs: 300,
            max_concurrent_processes: 10,
        }
    }
}

/// How the tools of the dialect `omp` behave where their contract has a setting for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of the contract")]
pub struct OmpSettings {
    /// `async.enabled`: whether `bash` takes `async`.
    pub async_enabled: bool,
    /// `bash.autoBackground.enabled`: whether a command that takes long goes on as a job.
    pub auto_background: bool,
    /// `bash.autoBackground.thresholdMs`: how long is long.
    pub auto_background_threshold: Duration,
    /// `async.pollWaitDuration`: how long `job` waits.
    pub poll_wait: Duration,
    /// `async.maxJobs`: how many background jobs run at once; kept within 1 to 100.
    pub max_jobs: usize,
    /// `bashInterceptor.enabled`: whether commands are blocked that a tool of the caller does better.
    pub interceptor: bool,
    /// `recipe.enabled`: whether there is `recipe`, where there are tasks.
    pub recipe: bool,
    /// Whether a person sits at the terminal that `pty` asks for.
    pub has_ui: bool,
}

impl Default for OmpSettings {
    fn default() -> Self {
        Self {
            async_enabled: true,
            auto_background: true,
            auto_background_threshold: Duration::from_mins(1),
            poll_wait: Duration::from_secs(30),
            max_jobs: 100,
            interceptor: true,
            recipe: true,
            has_ui: false,
        }
    }
}

impl OmpSettings {
    /// The same, with no wait longer than a call may take.
    pub(crate) fn within(mut self, longest: Duration) -> Self {
        self.auto_background_threshold = self.auto_background_threshold.min(longest);
        self.poll_wait = self.poll_wait.min(longest);
        self
    }
}
