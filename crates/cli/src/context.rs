//! What the command line gets from the world: the environment, the directory, the engine.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use umbo_engine::{Ahead, Backend, Engine, Listed, Warmth};
use umbo_gate::Mode;
use umbo_ops::{Caller, CallerBuilder, Owner};
use umbo_view::mask::Masker;

use crate::args::Global;
use crate::budget::BudgetArg;
use crate::config::{Config, Settings, World};
use crate::failure::Failure;
use crate::gate;
use crate::http;
use crate::output::Format;
use crate::sandbox;
use crate::secrets;
use crate::time::TimeLimit;

/// What every verb needs.
#[derive(Clone)]
pub(crate) struct Context {
    /// Where jobs run.
    pub(crate) backend: Arc<dyn Backend>,
    /// Where jobs and all that umbo remembers is kept.
    pub(crate) state: PathBuf,
    pub(crate) format: Format,
    /// The state directory, absolute, if the words of the call name it.
    pub(crate) named_state: Option<PathBuf>,
    /// What was configured, and by whom.
    pub(crate) config: Arc<Config>,
    /// What holds.
    pub(crate) settings: Settings,
    /// The directory that is worked in, if it is not the one of the process.
    place: Option<PathBuf>,
}

/// For whom umbo works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorksFor {
    Person,
    Agent,
}

impl Context {
    pub(crate) fn from_environment(
        global: Global,
        works_for: WorksFor,
        warmth: Warmth,
        ahead: Option<Ahead>,
    ) -> Result<Self, Failure> {
        let is_named = global.state_dir.is_some();
        let state = Self::state_at(global.state_dir)?;
        let named_state = is_named.then(|| state.clone());
        let config = Self::read_configuration();
        let settings = config.settings();
        secrets::learn(&settings.environment.set);
        let (max_running, listed) = match works_for {
            WorksFor::Person => (settings.max_running, Listed::default()),
            WorksFor::Agent => (settings.tools.max_running, settings.listed()),
        };
        let builder = Engine::builder(state).warmth(warmth);
        let engine = match ahead {
            Some(ahead) => builder.ahead(ahead),
            None => builder,
        };
        let engine = engine
            .max_running(max_running)
            .retention(settings.retention.jobs, settings.retention.bytes)
            .retention_age(settings.retention.age)
            .listed(listed)
            .open()?;
        let format = Format::of(global.json);
        let state = engine.state_directory().to_owned();
        let backend = engine.into();
        let (config, place) = (Arc::new(config), None);
        Ok(Self { backend, state, format, named_state, config, settings, place })
    }

    /// The state directory that the words of a call name, or the one of whoever names none.
    pub(crate) fn state_at(named: Option<PathBuf>) -> Result<PathBuf, Failure> {
        match named {
            Some(path) if path.is_relative() => Ok(Self::directory()?.join(path)),
            Some(absolute) => Ok(absolute),
            None => state_directory(),
        }
    }

    /// The same, for work in another directory: with what is configured there.
    pub(crate) fn at(&self, directory: &Path) -> Self {
        let config = Self::read_configuration_of(Some(directory.to_owned()));
        let settings = config.settings();
        secrets::learn(&settings.environment.set);
        let (config, place) = (Arc::new(config), Some(directory.to_owned()));
        Self { config, settings, place, ..self.clone() }
    }

    /// The directory that is worked in.
    pub(crate) fn place(&self) -> Result<PathBuf, Failure> {
        self.place.clone().map_or_else(Self::directory, Ok)
    }

    /// Reads the configuration that holds for the caller.
    pub(crate) fn read_configuration() -> Config {
        Self::read_configuration_of(Self::directory().ok())
    }

    fn read_configuration_of(directory: Option<PathBuf>) -> Config {
        Config::load(&World {
            user: Self::configuration().ok(),
            directory,
            variable: &|name| env::var_os(name),
        })
    }

    /// The caller's variables, as far as commands get them.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        // What lets a client in is none of a command's business.
        let own: Vec<(OsString, OsString)> =
            env::vars_os().filter(|(name, _)| name != http::TOKEN).collect();
        self.settings.environment.apply(&own)
    }

    /// Where the user's rules, key and trust are: absolute.
    pub(crate) fn configuration() -> Result<PathBuf, Failure> {
        let place = Self::config_directory().ok_or_else(|| {
            Failure::new("no place for rules: set UMBO_CONFIG_DIR, XDG_CONFIG_HOME or HOME")
        })?;
        if place.is_absolute() { Ok(place) } else { Ok(Self::directory()?.join(place)) }
    }

    /// The caller's home.
    pub(crate) fn home() -> Option<PathBuf> {
        set("HOME").filter(|path| path.is_absolute())
    }

    /// The run the caller says it belongs to.
    pub(crate) fn declared_run() -> Option<String> {
        let run = env::var("UMBO_RUN").ok().filter(|run| !run.is_empty())?;
        // What a caller says of itself must not pass for what umbo finds out.
        let is_taken = ["session ", "mcp "].iter().any(|taken| run.starts_with(taken));
        Some(if is_taken { format!("declared {run}") } else { run })
    }

    /// The run the caller belongs to: what it says, else its terminal session.
    pub(crate) fn run() -> Option<String> {
        Self::declared_run().or_else(|| {
            session(&fs::read_to_string("/proc/self/stat").ok()?)
                .map(|session| format!("session {session}"))
        })
    }

    /// Where the caller is.
    pub(crate) fn directory() -> Result<PathBuf, Failure> {
        env::current_dir().map_err(|error| Failure::new(format!("cannot tell where I am: {error}")))
    }

    /// Where programs are looked for.
    pub(crate) fn search_path() -> OsString {
        env::var_os("PATH").unwrap_or_default()
    }

    /// The person at the command line, with what their words say about how.
    pub(crate) fn caller(&self, words: &CallerWords) -> Result<Caller, Failure> {
        let mode = words.mode.or(self.settings.exec.mode);
        let gate = gate::keeper(self, mode)?;
        let sandbox = sandbox::settings(self, WorksFor::Person, mode);
        let builder = self.caller_builder(words)?.directory(Self::directory()?).sandbox(sandbox);
        builder.gate(gate).build().map_err(Failure::new)
    }

    /// The person at the command line, for verbs that run and type nothing: they work where there is no place
    /// for rules, and in a directory that is gone.
    pub(crate) fn observer(&self, words: &CallerWords) -> Result<Caller, Failure> {
        self.caller_builder(words)?.build().map_err(Failure::new)
    }

    fn caller_builder(&self, words: &CallerWords) -> Result<CallerBuilder, Failure> {
        let settings = &self.settings;
        let masker = match words.masking {
            Masking::Secrets => Arc::clone(secrets::shared()?),
            Masking::Nothing => {
                Arc::new(Masker::builder().without_formats().build().map_err(Failure::new)?)
            }
        };
        Ok(self
            .base_caller()
            .masker(masker)
            .directory(Self::directory().unwrap_or_else(|_| PathBuf::from(".")))
            .owner(Owner::Everybody)
            .budget(BudgetArg::or(words.budget, settings.output))
            .timeout(TimeLimit::or(words.timeout, settings.exec.timeout))
            .longest_wait(Duration::MAX)
            .shell(settings.exec.shell.clone()))
    }

    /// An agent that calls tools.
    pub(crate) fn agent(&self) -> CallerBuilder {
        let settings = &self.settings;
        self.base_caller().budget(settings.output).timeout(settings.tools.timeout)
    }

    /// What people and agents have in common.
    fn base_caller(&self) -> CallerBuilder {
        let settings = &self.settings;
        let confinement = settings.confinement.as_ref().map(|within| within.project.clone());
        Caller::builder(Arc::clone(&self.backend))
            .state(&self.state)
            .job_ids(umbo_tools::dialect::job_id)
            .environment(self.variables())
            .minimize(settings.minimize)
            .confine(confinement)
            .files(settings.files.clone())
    }

    /// What is masked in an answer that is printed: of one that a person reads as text, the text is
    /// masked when it is printed.
    pub(crate) fn masking(&self) -> Masking {
        match self.format {
            Format::Json => Masking::Secrets,
            Format::Text => Masking::Nothing,
        }
    }
}

/// What the words of a verb say about their caller.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallerWords {
    pub(crate) mode: Option<Mode>,
    pub(crate) budget: Option<BudgetArg>,
    pub(crate) timeout: Option<TimeLimit>,
    pub(crate) masking: Masking,
}

/// What is masked in an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Masking {
    #[default]
    Secrets,
    /// Nothing, for there is no text in it: to know all secrets takes longer than most commands.
    Nothing,
}

impl Context {
    /// Where a person's own settings are: `$UMBO_CONFIG_DIR`, or the place the standard names.
    pub(crate) fn config_directory() -> Option<PathBuf> {
        set("UMBO_CONFIG_DIR").or_else(|| {
            set("XDG_CONFIG_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| Some(set("HOME")?.join(".config")))
                .map(|path| path.join("umbo"))
        })
    }
}

/// `$UMBO_STATE_DIR`, `$XDG_STATE_HOME/umbo`, or the place the standard names for it.
fn state_directory() -> Result<PathBuf, Failure> {
    if let Some(path) = set("UMBO_STATE_DIR") {
        return Ok(path);
    }
    set("XDG_STATE_HOME")
        .filter(|path| path.is_absolute())
        .or_else(|| Some(set("HOME")?.join(".local/state")))
        .map(|path| path.join("umbo"))
        .ok_or_else(|| {
            Failure::new("no place for state: set UMBO_STATE_DIR, XDG_STATE_HOME or HOME")
        })
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The session in a `/proc/PID/stat`; none if its leader is outside of this pid namespace, where the
/// kernel says 0.
fn session(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(3)?.parse().ok().filter(|session| *session > 0)
}

#[cfg(test)]
mod tests {
    use super::session;

    #[test]
    fn a_session_whose_leader_is_outside_of_the_namespace_is_none() {
        assert_eq!(session("42 (a) b) S 1 40 39 0 -1"), Some(39));
        assert_eq!(session("3 (umbo) R 1 0 0 0 -1"), None);
        assert_eq!(session(""), None);
    }
}
