//! What somebody says about the sandbox of a command: the name of a profile, and what it allows besides.

use std::borrow::Cow;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use umbo_gate::RuleSandbox;

use crate::error::Error;

/// What somebody says about a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SandboxWords {
    /// The name of a profile; the usual one unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What may be written besides.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_write: Vec<PathBuf>,
    /// What is shown though it would be hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_read: Vec<PathBuf>,
    /// The hosts that may be reached; without any, what the profile says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_host: Vec<String>,
}

impl SandboxWords {
    /// A profile and nothing besides.
    pub fn profile(name: impl Into<String>) -> Self {
        Self { profile: Some(name.into()), ..Self::default() }
    }

    /// Whether nothing is said at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether more is allowed than the profile does.
    pub(super) fn grants(&self) -> bool {
        !(self.allow_write.is_empty() && self.allow_read.is_empty() && self.allow_host.is_empty())
    }

    /// With what somebody else allows, too.
    pub(super) fn join(&mut self, other: &Self) {
        self.allow_write.extend(other.allow_write.iter().cloned());
        self.allow_read.extend(other.allow_read.iter().cloned());
        self.allow_host.extend(other.allow_host.iter().cloned());
    }

    /// What it allows besides its profile, for a person to read.
    pub(super) fn describe_grants(&self) -> String {
        let paths = |verb: &str, paths: &[PathBuf]| {
            paths.iter().map(|path| format!("{verb} {}", path.display())).collect::<Vec<_>>()
        };
        let hosts = self.allow_host.iter().map(|host| format!("reach {host}"));
        let paths = [paths("write", &self.allow_write), paths("read", &self.allow_read)].concat();
        paths.into_iter().chain(hosts).collect::<Vec<_>>().join(", ")
    }
}

impl From<&RuleSandbox> for SandboxWords {
    fn from(rule: &RuleSandbox) -> Self {
        let paths = |texts: &[String]| texts.iter().map(PathBuf::from).collect();
        Self {
            profile: Some(rule.profile.clone()),
            allow_write: paths(&rule.allow_write),
            allow_read: paths(&rule.allow_read),
            allow_host: rule.allow_host.clone(),
        }
    }
}

/// The same as an argument: a name, or an object with the fields of [`SandboxWords`]. A schema that says more
/// is paid for by every model that reads it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct SandboxArgument(pub Value);

impl JsonSchema for SandboxArgument {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sandbox".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}

impl From<&SandboxWords> for SandboxArgument {
    fn from(words: &SandboxWords) -> Self {
        Self(serde_json::to_value(words).unwrap_or_default())
    }
}

const FIELDS: &str = "profile, allow_write, allow_read, allow_host";

impl SandboxArgument {
    /// What it says.
    pub fn words(&self) -> Result<SandboxWords, Error> {
        let mut words = SandboxWords::default();
        let fields = match &self.0 {
            Value::Null => return Ok(words),
            Value::String(name) => return Ok(SandboxWords::profile(name)),
            Value::Object(fields) => fields,
            other => {
                let accepted = format!("the name of a profile, or an object with {FIELDS}");
                let message = format!("{other} was given; accepted: {accepted}");
                return Err(Error::argument("sandbox", message));
            }
        };
        for (name, value) in fields {
            let field = format!("sandbox.{name}");
            let texts = || {
                let list = match value {
                    Value::String(text) => Some(vec![text.clone()]),
                    Value::Array(list) => {
                        list.iter().map(|one| one.as_str().map(str::to_owned)).collect()
                    }
                    _ => None,
                };
                list.ok_or_else(|| {
                    let message = format!("{value} was given; accepted: a list of texts");
                    Error::argument(&field, message)
                })
            };
            let paths = || Ok::<_, Error>(texts()?.into_iter().map(PathBuf::from).collect());
            match (name.as_str(), value) {
                ("profile", Value::Null) => {}
                ("profile", Value::String(profile)) => words.profile = Some(profile.clone()),
                ("profile", other) => {
                    let message = format!("{other} was given; accepted: the name of a profile");
                    return Err(Error::argument(&field, message));
                }
                ("allow_write", _) => words.allow_write = paths()?,
                ("allow_read", _) => words.allow_read = paths()?,
                ("allow_host", _) => words.allow_host = texts()?,
                _ => {
                    let message = format!("an unknown field was given; accepted: {FIELDS}");
                    return Err(Error::argument(&field, message));
                }
            }
        }
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_or_an_object_is_read_and_anything_else_is_told_by_its_field() {
        let words = |value: Value| SandboxArgument(value).words();
        assert_eq!(words(json!("workspace")).unwrap(), SandboxWords::profile("workspace"));
        let said = words(json!({"profile": "off", "allow_host": "a.example"})).unwrap();
        assert_eq!(said.allow_host, ["a.example"]);
        assert!(words(Value::Null).unwrap().is_empty());
        for (wrong, field) in [
            (json!(7), "sandbox"),
            (json!({"profile": 1}), "sandbox.profile"),
            (json!({"allow_write": [1]}), "sandbox.allow_write"),
            (json!({"hosts": []}), "sandbox.hosts"),
        ] {
            assert_eq!(words(wrong).unwrap_err().field.as_deref(), Some(field));
        }
    }

    #[test]
    fn what_is_said_survives_being_an_argument() {
        let words = SandboxWords {
            profile: Some("read-only".into()),
            allow_write: vec!["/a".into()],
            allow_read: vec!["b".into()],
            allow_host: vec!["*.example".into()],
        };
        assert_eq!(SandboxArgument::from(&words).words().unwrap(), words);
    }
}
