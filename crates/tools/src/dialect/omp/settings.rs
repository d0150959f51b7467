//! The settings of `omp`: those that its documents name, under `tools.omp`.

use std::time::Duration;

use crate::settings::{Setting, SettingDefault, SettingKind, Settings, Tightens};

const THRESHOLD: &str = "tools.omp.bash.auto_background.threshold_ms";
const POLL_WAIT: &str = "tools.omp.async.poll_wait_duration";

/// How long `job` may wait, in words and in seconds.
const POLL_WAITS: [(&str, u64); 5] = [("5s", 5), ("10s", 10), ("30s", 30), ("1m", 60), ("5m", 300)];

/// All of them.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "tools.omp.async.enabled",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("true"),
        tightens: Tightens::Only(false),
        doc: "whether `bash` of `omp` takes `async`",
    },
    Setting {
        key: "tools.omp.async.max_jobs",
        kind: SettingKind::Number,
        default: SettingDefault::Text("100"),
        tightens: Tightens::Lower,
        doc: "how many background jobs an agent has in `omp`, at most 100",
    },
    Setting {
        key: POLL_WAIT,
        kind: SettingKind::Choice(&["5s", "10s", "30s", "1m", "5m"]),
        default: SettingDefault::Text("30s"),
        tightens: Tightens::Nothing,
        doc: "how long `job` waits there: `5s`, `10s`, `30s`, `1m` or `5m`",
    },
    Setting {
        key: "tools.omp.bash.auto_background.enabled",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("true"),
        tightens: Tightens::Nothing,
        doc: "whether a command that takes long goes on as a job there",
    },
    Setting {
        key: THRESHOLD,
        kind: SettingKind::Count,
        default: SettingDefault::Text("60000"),
        tightens: Tightens::Nothing,
        doc: "how long is long; unless set, never more than the client waits (40 s)",
    },
    Setting {
        key: "tools.omp.bash_interceptor.enabled",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("true"),
        tightens: Tightens::Only(true),
        doc: "whether commands are blocked there that another tool of the agent does better",
    },
    Setting {
        key: "tools.omp.recipe.enabled",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("true"),
        tightens: Tightens::Only(false),
        doc: "whether there is `recipe` in `omp`",
    },
];

/// What they come to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of the contract")]
pub(super) struct OmpSettings {
    /// `async.enabled`: whether `bash` takes `async`.
    pub(super) async_enabled: bool,
    /// `bash.autoBackground.enabled`: whether a command that takes long goes on as a job.
    pub(super) auto_background: bool,
    /// `bash.autoBackground.thresholdMs`: how long is long.
    pub(super) auto_background_threshold: Duration,
    /// `async.pollWaitDuration`: how long `job` waits.
    pub(super) poll_wait: Duration,
    /// `async.maxJobs`: how many background jobs run at once; kept within 1 to 100.
    pub(super) max_jobs: usize,
    /// `bashInterceptor.enabled`: whether commands are blocked that a tool of the caller does better.
    pub(super) interceptor: bool,
    /// `recipe.enabled`: whether there is `recipe`, where there are tasks.
    pub(super) recipe: bool,
}

impl OmpSettings {
    /// Whether there are background jobs.
    pub(super) fn has_jobs(&self) -> bool {
        self.async_enabled || self.auto_background
    }

    /// Read from what was said. A wait that nobody chose is no longer than a call may take.
    pub(super) fn new(settings: &Settings, longest_wait: Duration) -> Self {
        let within = |key, wait: Duration| {
            if settings.is_said(key) { wait } else { wait.min(longest_wait) }
        };
        let threshold = Duration::from_millis(settings.number(THRESHOLD).unwrap_or(u64::MAX));
        let word = settings.text(POLL_WAIT).unwrap_or_default();
        let poll_wait = POLL_WAITS.iter().find(|(name, _)| *name == word);
        let poll_wait = Duration::from_secs(poll_wait.map_or(30, |(_, seconds)| *seconds));
        Self {
            async_enabled: settings.flag("tools.omp.async.enabled"),
            auto_background: settings.flag("tools.omp.bash.auto_background.enabled"),
            auto_background_threshold: within(THRESHOLD, threshold),
            poll_wait: within(POLL_WAIT, poll_wait),
            max_jobs: settings.count("tools.omp.async.max_jobs"),
            interceptor: settings.flag("tools.omp.bash_interceptor.enabled"),
            recipe: settings.flag("tools.omp.recipe.enabled"),
        }
    }
}
