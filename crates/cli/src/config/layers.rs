//! Sources on top of each other: defaults, the user's file, the project's file, variables. What comes
//! later wins, but a project that nobody trusts may only tighten.

use serde::Serialize;
use umbo_engine::sandbox::Profile;
use umbo_gate::Trust;

use super::key::{KEYS, Key, Preset, Tightens};
use super::origin::Origin;
use super::statement::{Said, Statement};
use super::value::{Kind, Value};

/// A setting as it holds.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) key: &'static Key,
    /// `None` if nobody gave it one and there is no default.
    pub(crate) value: Option<Value>,
    pub(crate) origin: Origin,
    pub(crate) ignored: Vec<Ignored>,
}

/// What a project said and may not.
#[derive(Debug)]
pub(crate) struct Ignored {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    pub(crate) why: Why,
}

/// Why it does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// It would loosen.
    Loosens,
    /// Only somebody who is trusted may say it.
    NotForProjects,
}

impl Why {
    /// In words.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Loosens => "it would loosen, and it is not trusted",
            Self::NotForProjects => "only a trusted project may set it",
        }
    }
}

/// All settings.
#[derive(Debug)]
pub(crate) struct Layers(Vec<Setting>);

impl Default for Layers {
    fn default() -> Self {
        Self(KEYS.iter().map(Setting::preset).collect())
    }
}

impl Layers {
    /// With what a source says on top.
    pub(crate) fn add(&mut self, statement: Statement, trust: Trust) {
        for said in statement.said {
            // What another setting stands in for is compared with that.
            let stand_in = match said.key.preset {
                Preset::As(name) => self.value(name).cloned(),
                _ => None,
            };
            let setting = self.0.iter_mut().find(|setting| setting.key.name == said.key.name);
            if let Some(setting) = setting {
                setting.take(said, stand_in, trust);
            }
        }
    }

    /// All settings, in the order of [`KEYS`].
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter()
    }

    /// One of them.
    pub(crate) fn setting(&self, name: &str) -> Option<&Setting> {
        self.iter().find(|setting| setting.key.name == name)
    }

    /// The value that holds for a name.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        let setting = self.setting(name)?;
        match (&setting.value, setting.key.preset) {
            (Some(value), _) => Some(value),
            (None, Preset::As(other)) => self.value(other),
            (None, _) => None,
        }
    }
}

impl Setting {
    fn preset(key: &'static Key) -> Self {
        let (value, origin) = match key.preset {
            Preset::Nothing => (None, Origin::Default),
            Preset::Text(text) => (key.kind.read_text(text), Origin::Default),
            Preset::As(name) => (None, Origin::As(name)),
        };
        Self { key, value, origin, ignored: Vec::new() }
    }

    fn take(&mut self, said: Said, stand_in: Option<Value>, trust: Trust) {
        let Said { key, value, origin } = said;
        let current = self.value.clone().or(stand_in);
        let accepted = match trust {
            Trust::Trusted => Some(value.clone()),
            Trust::Untrusted => tightened(key, current.as_ref(), &value),
        };
        if accepted.is_some() {
            let is_added = trust == Trust::Untrusted && key.tightens == Tightens::More;
            self.value = accepted;
            self.origin = match (is_added, &self.origin) {
                (true, before) if before.is_said() => {
                    Origin::Joined(Box::new(before.clone()), Box::new(origin))
                }
                _ => origin,
            };
            return;
        }
        let why = match key.tightens {
            Tightens::Nothing => Why::NotForProjects,
            _ => Why::Loosens,
        };
        self.ignored.push(Ignored { value, origin, why });
    }
}

/// What a value makes of the current one if it may only tighten; `None` if it would loosen.
fn tightened(key: &Key, current: Option<&Value>, given: &Value) -> Option<Value> {
    let fits = match (key.tightens, current, given) {
        (Tightens::Only(strict), _, Value::Flag(given)) => *given == strict,
        (Tightens::Lower, None, _) => true,
        (Tightens::Lower, Some(Value::Number(current)), Value::Number(given)) => given <= current,
        // How strict an own profile is, its name does not say.
        (Tightens::Stricter, Some(current), Value::Text(name))
            if key.kind == Kind::Profile && name.parse::<Profile>().is_err() =>
        {
            current == given
        }
        (Tightens::Stricter, Some(current), given) => {
            key.kind.strictness(given) >= key.kind.strictness(current)
        }
        (Tightens::More, Some(Value::List(current)), Value::List(given)) => {
            let fresh = given.iter().filter(|each| !current.contains(each));
            return Some(Value::List(current.iter().chain(fresh).cloned().collect()));
        }
        _ => false,
    };
    fits.then(|| given.clone())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use umbo_gate::Layer;

    use super::*;

    /// What holds for a setting after some texts, each of the user or of an untrusted project.
    fn layered(texts: &[(Layer, &str)], name: &str) -> (String, usize) {
        let mut layers = Layers::default();
        for (layer, text) in texts {
            let statement = Statement::of_file(*layer, Path::new("/c"), text);
            assert!(statement.problems.is_empty(), "{:?}", statement.problems);
            let trust = if *layer == Layer::Project { Trust::Untrusted } else { Trust::Trusted };
            layers.add(statement, trust);
        }
        let setting = layers.setting(name).unwrap();
        let value = layers.value(name).map_or(String::new(), |value| value.to_json().to_string());
        (value, setting.ignored.len())
    }

    #[test]
    fn an_untrusted_project_only_tightens() {
        for (name, user, project, holds, ignored) in [
            ("max_running", "", "max_running = 3", "3", 0),
            ("max_running", "", "max_running = 30", "10", 1),
            ("exec.mode", "", "exec.mode = 'guard'", "\"guard\"", 0),
            ("exec.mode", "exec.mode = 'auto'", "exec.mode = 'default'", "\"default\"", 0),
            ("tools.mode", "", "tools.mode = 'open'", "\"guard\"", 1),
            ("tools.mode", "", "tools.mode = 'accept_edits'", "\"accept_edits\"", 0),
            ("exec.sandbox", "", "exec.sandbox = 'workspace'", "\"workspace\"", 0),
            ("tools.sandbox", "", "tools.sandbox = 'off'", "\"workspace+net\"", 1),
            ("tools.sandbox", "", "tools.sandbox = 'read-only'", "\"read-only\"", 0),
            ("tools.sandbox", "", "tools.sandbox = 'own'", "\"workspace+net\"", 1),
            ("tools.sandbox", "tools.sandbox = 'own'", "tools.sandbox = 'workspace'", "\"own\"", 1),
            ("sandbox.allow_host", "", "sandbox.allow_host = ['a.example']", "[]", 1),
            ("exec.timeout_secs", "", "exec.timeout_secs = 5", "5", 0),
            ("exec.timeout_secs", "exec.timeout_secs = 4", "exec.timeout_secs = 5", "4", 1),
            ("tools.shell.enabled", "", "tools.shell.enabled = true", "false", 1),
            (
                "tools.shell.enabled",
                "tools.shell.enabled = true",
                "tools.shell.enabled = false",
                "false",
                0,
            ),
            (
                "tools.shell.restrict_to_project",
                "",
                "tools.shell.restrict_to_project = false",
                "true",
                1,
            ),
            ("tools.dialect", "", "tools.dialect = 'lash'", "\"umbo\"", 1),
            ("retention.jobs", "", "retention.jobs = 1", "2000", 1),
            ("environment.inherit", "", "environment.inherit = 'core'", "\"core\"", 0),
            (
                "environment.exclude",
                "environment.exclude = ['A', 'B']",
                "environment.exclude = ['B', 'C']",
                "[\"A\",\"B\",\"C\"]",
                0,
            ),
            ("environment.include", "", "environment.include = ['A']", "[]", 1),
            ("environment.set", "", "environment.set.PATH = '/evil'", "{}", 1),
        ] {
            let texts = [(Layer::User, user), (Layer::Project, project)];
            assert_eq!(layered(&texts, name), (holds.to_owned(), ignored), "{user} | {project}");
            let trusted = layered(&[(Layer::User, user), (Layer::User, project)], name);
            assert_eq!(trusted.1, 0, "{project}");
        }
    }

    #[test]
    fn a_setting_that_another_stands_in_for_is_compared_with_that() {
        let name = "tools.shell.max_concurrent_processes";
        assert_eq!(layered(&[(Layer::User, "max_running = 4")], name).0, "4");
        for (number, held, ignored) in [("5", "4", 1), ("3", "3", 0)] {
            let project = format!("{name} = {number}");
            let texts = [(Layer::User, "max_running = 4"), (Layer::Project, &project)];
            assert_eq!(layered(&texts, name), (held.to_owned(), ignored));
        }
    }
}
