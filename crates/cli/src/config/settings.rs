//! The settings as the rest of umbo takes them: typed, and whole.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use umbo_engine::sandbox::Ask;
use umbo_engine::{Listed, Shell};
use umbo_gate::{AUDIT_BUDGET, EnvironmentPolicy, Error, Inherit, Mode, restrict_to_project};
use umbo_mcp::{ClientOptions, OnCancel, Structure};
use umbo_model::Effort;
use umbo_ops::files::{FileSettings, WebPolicy};
use umbo_ops::{ErrorCode, OwnProfile, SandboxArgument, SandboxWords};
use umbo_tools::SettingValue;
use umbo_view::Budget;

use super::key::Preset;
use super::layers::{Layers, Setting};
use super::value::Value;
use crate::failure::Failure;
use crate::time::parse_duration;

/// All settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub(crate) max_running: usize,
    pub(crate) retention: Retention,
    pub(crate) exec: Exec,
    pub(crate) tools: Tools,
    pub(crate) agent: Agent,
    /// How much output an answer has.
    pub(crate) output: Budget,
    /// Whether noise is folded in it.
    pub(crate) minimize: bool,
    pub(crate) environment: EnvironmentPolicy,
    /// What holds for every sandbox.
    pub(crate) sandbox: Sandbox,
    /// How file operations work.
    pub(crate) files: FileSettings,
    /// Where commands must stay, if they must.
    pub(crate) confinement: Option<Confinement>,
}

/// How long ended jobs stay.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Retention {
    pub(crate) jobs: usize,
    pub(crate) bytes: u64,
    pub(crate) age: Option<Duration>,
    pub(crate) audit_bytes: u64,
}

/// What holds for a person's own verbs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exec {
    /// `None` is [`Mode::Open`] that nobody asked for: nothing is recorded but denials.
    pub(crate) mode: Option<Mode>,
    pub(crate) shell: Shell,
    pub(crate) timeout: Option<Duration>,
    pub(crate) sandbox: SandboxSetting,
}

/// What holds for agents.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tools {
    pub(crate) mode: Mode,
    pub(crate) sandbox: SandboxSetting,
    pub(crate) dialect: String,
    pub(crate) max_running: usize,
    /// The most and the oldest ended jobs in a list.
    pub(crate) listed: (usize, Duration),
    /// The time limit where a contract has none of its own.
    pub(crate) timeout: Option<Duration>,
    /// Which sets of tools an agent gets.
    pub(crate) sets: Vec<String>,
    /// Names of tools that an agent has from elsewhere.
    pub(crate) beside: Vec<String>,
    /// How long a call waits for its command.
    pub(crate) longest_wait: Duration,
    /// How clients of the server are treated.
    pub(crate) client: ClientOptions,
    /// What was said about dialects, by their settings.
    pub(crate) dialects: Vec<(&'static str, SettingValue)>,
}

/// The profile of commands about which nobody says anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxSetting {
    pub(crate) profile: String,
    /// Whether somebody set it.
    pub(crate) is_said: bool,
}

/// What holds for every sandbox.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sandbox {
    pub(crate) profiles: Vec<OwnProfile>,
    pub(crate) always: SandboxWords,
    pub(crate) ask: Ask,
}

/// What holds for umbo's own agent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Agent {
    pub(crate) model: Option<String>,
    pub(crate) fallback: Vec<String>,
    pub(crate) larger_model: Option<String>,
    pub(crate) dialect: Option<String>,
    pub(crate) mode: Mode,
    pub(crate) effort: Option<Effort>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) max_tokens: Option<u64>,
    /// In dollars.
    pub(crate) max_cost: Option<f64>,
    pub(crate) timeout: Option<Duration>,
    /// How long a question of the model waits; nothing is as long as it takes.
    pub(crate) ask_timeout: Option<Duration>,
}

impl Agent {
    fn new(layers: &Layers) -> Self {
        let word = |name| text(layers, name).map(str::to_owned);
        let effort = word("agent.effort").map(serde_json::Value::String);
        Self {
            model: word("agent.model"),
            fallback: list(layers, "agent.fallback"),
            larger_model: word("agent.larger_model"),
            dialect: word("agent.dialect"),
            mode: mode(layers, "agent.mode").unwrap_or_default(),
            effort: effort.and_then(|word| serde_json::from_value(word).ok()),
            max_turns: number(layers, "agent.max_turns").and_then(|most| u32::try_from(most).ok()),
            max_tokens: number(layers, "agent.max_tokens"),
            max_cost: number(layers, "agent.max_cents")
                .and_then(|cents| u32::try_from(cents).ok())
                .map(|cents| f64::from(cents) / 100.0),
            timeout: number(layers, "agent.timeout_secs").map(Duration::from_secs),
            ask_timeout: number(layers, "agent.ask_timeout_secs")
                .filter(|&seconds| seconds > 0)
                .map(Duration::from_secs),
        }
    }
}

/// A project that commands must stay in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Confinement {
    pub(crate) project: PathBuf,
    /// Who says so.
    origin: String,
}

impl Confinement {
    /// Refuses a directory that is elsewhere. `given` is how the caller wrote it.
    pub(crate) fn check(&self, directory: &Path, given: &Path) -> Result<(), Failure> {
        match restrict_to_project(directory, &self.project) {
            Err(Error::OutsideProject(_)) => {
                let outside = Error::OutsideProject(given.display().to_string());
                let message = format!(
                    "{outside} {} (restrict_to_project: {})",
                    self.project.display(),
                    self.origin
                );
                Err(Failure::coded(ErrorCode::OutsideProject, None, message))
            }
            // What else is wrong with it is said when it is used.
            _ => Ok(()),
        }
    }
}

impl Settings {
    pub(super) fn new(layers: &Layers, project: Option<&Path>) -> Self {
        let said = |name: &str| layers.setting(name).is_some_and(|held| held.origin.is_said());
        let seconds = |name: &str| number(layers, name).map(Duration::from_secs);
        let timeout = "tools.shell.default_timeout_secs";
        let restrict = "tools.shell.restrict_to_project";
        let origin = layers.setting(restrict).map(|setting| setting.origin.to_string());
        let confinement =
            project.filter(|_| said(restrict) && flag(layers, restrict)).map(|project| {
                Confinement { project: project.to_owned(), origin: origin.unwrap_or_default() }
            });
        Self {
            max_running: count(layers, "max_running"),
            retention: Retention {
                jobs: count(layers, "retention.jobs"),
                bytes: number(layers, "retention.bytes").unwrap_or(u64::MAX),
                age: text(layers, "retention.age").and_then(|age| parse_duration(age).ok()),
                audit_bytes: number(layers, "retention.audit_bytes").unwrap_or(AUDIT_BUDGET),
            },
            exec: Exec {
                mode: mode(layers, "exec.mode").filter(|_| said("exec.mode")),
                shell: text(layers, "exec.shell")
                    .and_then(|name| Shell::parse(name).ok())
                    .unwrap_or(Shell::Sh),
                timeout: seconds("exec.timeout_secs"),
                sandbox: profile(layers, "exec.sandbox"),
            },
            tools: Tools {
                mode: mode(layers, "tools.mode").unwrap_or_default(),
                sandbox: profile(layers, "tools.sandbox"),
                dialect: text(layers, "tools.dialect").unwrap_or_default().to_owned(),
                max_running: count(layers, "tools.shell.max_concurrent_processes"),
                listed: (
                    count(layers, "tools.shell.max_completed_jobs"),
                    seconds("tools.shell.completed_job_ttl_secs").unwrap_or(Duration::MAX),
                ),
                timeout: seconds(timeout).filter(|_| said(timeout)),
                sets: list(layers, "tools.sets"),
                beside: list(layers, "tools.beside"),
                longest_wait: seconds("tools.yield_secs").unwrap_or(Duration::MAX),
                client: client(layers),
                dialects: dialects(layers),
            },
            agent: Agent::new(layers),
            output: Budget {
                tokens: number(layers, "output.tokens").unwrap_or(u64::MAX),
                bytes: number(layers, "output.bytes").unwrap_or(u64::MAX),
                lines: number(layers, "output.lines").unwrap_or(u64::MAX),
                ..Budget::default()
            },
            minimize: flag(layers, "output.minimize"),
            environment: environment(layers),
            sandbox: sandbox(layers),
            files: files(layers),
            confinement,
        }
    }

    /// Which ended jobs an agent's lists have.
    pub(crate) fn listed(&self) -> Listed {
        let (jobs, age) = self.tools.listed;
        Listed { jobs, age }
    }
}

/// The settings of dialects that somebody set, here or in the place of one that was not.
fn dialects(layers: &Layers) -> Vec<(&'static str, SettingValue)> {
    let said = |setting: &&Setting| {
        setting.origin.is_said() || matches!(setting.key.preset, Preset::As(_))
    };
    let declared = umbo_tools::dialect_settings();
    declared
        .filter_map(|declared| layers.setting(declared.key))
        .filter(said)
        .filter_map(|setting| {
            Some((setting.key.name, layers.value(setting.key.name)?.to_setting()?))
        })
        .collect()
}

fn files(layers: &Layers) -> FileSettings {
    let private_addresses = flag(layers, "files.web_private");
    let web = WebPolicy { private_addresses, ..WebPolicy::default() };
    FileSettings {
        roots: list(layers, "files.roots").into_iter().map(PathBuf::from).collect(),
        hidden: list(layers, "files.hidden"),
        protected: list(layers, "files.protected"),
        undo_bytes: number(layers, "files.undo_bytes").unwrap_or_default(),
        web: (flag(layers, "files.web") || private_addresses).then_some(web),
    }
}

fn client(layers: &Layers) -> ClientOptions {
    let mut options = ClientOptions::default();
    options.on_cancel = match text(layers, "mcp.on_cancel") {
        Some("stop") => OnCancel::Stop,
        Some("keep") => OnCancel::Keep,
        _ => OnCancel::ByReason,
    };
    options.elicitation = flag(layers, "mcp.elicitation");
    options.structure = match text(layers, "mcp.structure") {
        Some("always") => Structure::Always,
        Some("never") => Structure::Never,
        _ => Structure::ByClient,
    };
    options
}

fn environment(layers: &Layers) -> EnvironmentPolicy {
    EnvironmentPolicy {
        inherit: match text(layers, "environment.inherit") {
            Some("none") => Inherit::None,
            Some("core") => Inherit::Core,
            _ => Inherit::All,
        },
        exclude: list(layers, "environment.exclude"),
        include: list(layers, "environment.include"),
        set: match layers.value("environment.set") {
            Some(Value::Variables(pairs)) => pairs.clone(),
            _ => Vec::new(),
        },
    }
}

fn profile(layers: &Layers, name: &str) -> SandboxSetting {
    SandboxSetting {
        profile: text(layers, name).unwrap_or_default().to_owned(),
        is_said: layers.setting(name).is_some_and(|held| held.origin.is_said()),
    }
}

fn sandbox(layers: &Layers) -> Sandbox {
    let paths = |name: &str| list(layers, name).into_iter().map(PathBuf::from).collect();
    let profiles = match layers.value("sandbox.profiles") {
        Some(Value::Variables(profiles)) => profiles.as_slice(),
        _ => &[],
    };
    // They were looked at when they were read.
    let own = |(name, json): &(String, String)| {
        let words = SandboxArgument(serde_json::from_str(json).ok()?).words().ok()?;
        Some(OwnProfile { name: name.clone(), words })
    };
    let asks = text(layers, "sandbox.ask").unwrap_or_default();
    let deadline_ms = number(layers, "sandbox.ask_secs").unwrap_or(0).saturating_mul(1000);
    let asks_about = |what: &str| asks == "all" || asks == what;
    Sandbox {
        profiles: profiles.iter().filter_map(own).collect(),
        always: SandboxWords {
            profile: None,
            allow_write: paths("sandbox.allow_write"),
            allow_read: paths("sandbox.allow_read"),
            allow_host: list(layers, "sandbox.allow_host"),
        },
        ask: Ask { writes: asks_about("writes"), hosts: asks_about("hosts"), deadline_ms },
    }
}

fn list(layers: &Layers, name: &str) -> Vec<String> {
    match layers.value(name) {
        Some(Value::List(list)) => list.clone(),
        _ => Vec::new(),
    }
}

fn number(layers: &Layers, name: &str) -> Option<u64> {
    match layers.value(name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

fn count(layers: &Layers, name: &str) -> usize {
    number(layers, name).and_then(|number| usize::try_from(number).ok()).unwrap_or(usize::MAX)
}

fn flag(layers: &Layers, name: &str) -> bool {
    matches!(layers.value(name), Some(Value::Flag(true)))
}

fn text<'a>(layers: &'a Layers, name: &str) -> Option<&'a str> {
    match layers.value(name) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn mode(layers: &Layers, name: &str) -> Option<Mode> {
    text(layers, name).and_then(|name| Mode::from_str(name).ok())
}

#[cfg(test)]
mod tests {
    use umbo_gate::{Layer, Trust};

    use super::super::key::KEYS;
    use super::super::statement::Statement;
    use super::super::value::Kind;
    use super::*;

    fn settings(text: &str) -> Settings {
        let mut layers = Layers::default();
        let statement = Statement::of_file(Layer::User, Path::new("/c"), text);
        assert!(statement.problems.is_empty(), "{:?}", statement.problems);
        layers.add(statement, Trust::Trusted);
        Settings::new(&layers, Some(Path::new("/project")))
    }

    #[test]
    fn the_defaults_are_those_of_the_rooms() {
        let settings = settings("");
        assert_eq!(settings.output, Budget::default());
        assert_eq!(settings.environment, EnvironmentPolicy::default());
        // A dialect's own defaults hold, but for a setting that another one stands in for.
        let most = ("tools.shell.max_concurrent_processes", SettingValue::Number(10));
        assert_eq!(settings.tools.dialects, [most]);
        let listed = Listed::default();
        assert_eq!(settings.tools.listed, (listed.jobs, listed.age));
        assert_eq!((settings.max_running, settings.tools.max_running), (10, 10));
        assert_eq!((settings.exec.mode, settings.tools.mode), (None, Mode::Guard));
        assert_eq!((settings.exec.timeout, settings.tools.timeout), (None, None));
        assert_eq!(settings.confinement, None, "only if somebody says so");
    }

    #[test]
    fn every_setting_sets_something() {
        let default = settings("");
        for key in KEYS.iter() {
            let other = match key.kind {
                Kind::Flag => format!("{}", key.preset != Preset::Text("true")),
                Kind::Count | Kind::Number => "7".into(),
                Kind::Size => "\"3M\"".into(),
                Kind::Span => "\"2d\"".into(),
                Kind::Choice(words) => format!("{:?}", words[words.len() - 1]),
                Kind::Text => "\"x\"".into(),
                Kind::Mode => "\"auto\"".into(),
                Kind::Inherit => "\"core\"".into(),
                Kind::Dialect => "\"lash\"".into(),
                Kind::Shell | Kind::Program => "\"zsh\"".into(),
                Kind::Path => "\"/bin/dash\"".into(),
                Kind::Patterns | Kind::Texts => "[\"X_*\"]".into(),
                Kind::Variables => "{ X = \"1\" }".into(),
                Kind::Profile => "\"read-only\"".into(),
                Kind::Profiles => "{ x = \"workspace\" }".into(),
            };
            assert_ne!(settings(&format!("{} = {other}", key.name)), default, "{}", key.name);
        }
    }
}
