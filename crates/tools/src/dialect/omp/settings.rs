//! The settings of `omp`: those that its documents name, under `tools.omp`.

use std::time::Duration;

use regex::Regex;
use umbo_engine::Profile;

use crate::settings::{Setting, SettingDefault, SettingKind, Settings, Tightens};

const THRESHOLD: &str = "tools.omp.bash.auto_background.threshold_ms";
const POLL_WAIT: &str = "tools.omp.async.poll_wait_duration";

const RULES: &str = "tools.omp.bash_interceptor.rules";
const PREFIX: &str = "tools.omp.shell.prefix";

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
        key: RULES,
        kind: SettingKind::List,
        default: SettingDefault::Text(""),
        tightens: Tightens::More,
        doc: "more of them: a pattern, ` => `, the tool, and perhaps `: ` and what is said",
    },
    Setting {
        key: PREFIX,
        kind: SettingKind::Text,
        default: SettingDefault::Nothing,
        tightens: Tightens::Nothing,
        doc: "what stands in front of every command there, as `nice`",
    },
    Setting {
        key: "tools.omp.shell.snapshot",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("false"),
        tightens: Tightens::Nothing,
        doc: "whether commands there have the aliases, functions and variables of one's own shell",
    },
    Setting {
        key: "tools.omp.shell.session",
        kind: SettingKind::Flag,
        default: SettingDefault::Text("false"),
        tightens: Tightens::Nothing,
        doc: "whether commands there find what earlier ones exported and defined",
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
#[derive(Debug, Clone)]
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
    /// Rules of the user's own.
    pub(super) rules: Vec<Rule>,
    /// `shell.prefix`: what stands in front of a command.
    pub(super) prefix: Option<String>,
    /// Whether the user's shell set-up is loaded.
    pub(super) profile: Profile,
    /// Whether the commands of a caller share a shell.
    pub(super) session: bool,
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
            rules: settings.list(RULES).iter().filter_map(|text| Rule::read(text)).collect(),
            prefix: settings.text(PREFIX).map(str::to_owned).filter(|prefix| !prefix.is_empty()),
            profile: if settings.flag("tools.omp.shell.snapshot") {
                Profile::Snapshot
            } else {
                Profile::None
            },
            session: settings.flag("tools.omp.shell.session"),
            recipe: settings.flag("tools.omp.recipe.enabled"),
        }
    }
}

/// A pattern of commands that a tool of the caller does better.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pattern: Regex,
    tool: String,
    pub(super) message: String,
}

impl Rule {
    /// Read from `PATTERN => TOOL: MESSAGE`. One whose pattern is none is skipped, as the contract has
    /// it.
    fn read(text: &str) -> Option<Self> {
        let (pattern, rest) = text.rsplit_once(" => ")?;
        let (tool, message) = rest.split_once(": ").unwrap_or((rest, ""));
        let (tool, message) = (tool.trim().to_owned(), message.trim());
        let message = if message.is_empty() {
            format!("Use the `{tool}` tool instead.")
        } else {
            message.to_owned()
        };
        Some(Self { pattern: Regex::new(pattern.trim()).ok()?, tool, message })
    }

    /// Whether it blocks a command, which it does only if there is its tool.
    pub(super) fn fits(&self, command: &str, tools: &[&str]) -> bool {
        tools.contains(&self.tool.as_str()) && self.pattern.is_match(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_that_can_be_chosen_is_a_time() {
        let kind = SETTINGS.iter().find(|setting| setting.key == POLL_WAIT).unwrap().kind;
        assert_eq!(kind, SettingKind::Choice(&["5s", "10s", "30s", "1m", "5m"]));
        for (word, seconds) in POLL_WAITS {
            let mut settings = Settings::of(SETTINGS);
            settings.set(SETTINGS, POLL_WAIT, word.into()).unwrap();
            let read = OmpSettings::new(&settings, Duration::from_secs(40));
            assert_eq!(read.poll_wait, Duration::from_secs(seconds), "as long as it was set");
        }
        let unset = OmpSettings::new(&Settings::of(SETTINGS), Duration::from_secs(2));
        assert_eq!(unset.poll_wait, Duration::from_secs(2), "no longer than a client waits");
    }

    #[test]
    fn a_rule_blocks_what_it_matches_if_there_is_its_tool() {
        let rule = Rule::read(r"^\s*npm (test|run) => recipe: Use `recipe`.").unwrap();
        assert!(rule.fits("npm test", &["bash", "recipe"]) && !rule.fits("npm test", &["bash"]));
        assert!(!rule.fits("echo npm test", &["recipe"]));
        assert_eq!(rule.message, "Use `recipe`.");
        assert_eq!(Rule::read("x => t").unwrap().message, "Use the `t` tool instead.");
        assert!(Rule::read("( => recipe").is_none() && Rule::read("no arrow").is_none());
    }
}
